"""The SQL/JSON path language of PostgreSQL, evaluated on documents.

A lax path takes the elements of an array where a single item is wanted, and the item itself where
an array is wanted; what is not there is no item. In a strict path each of these is an error.
"""

import math
import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from functools import lru_cache
from typing import Any

from ivm.values.documents import Document, key_order, type_of
from ivm.values.json_path_members import members, place_of
from ivm.values.json_path_moments import Moment, compared, moment, text
from ivm.values.json_path_syntax import (
    Arithmetic,
    Comparison,
    Connective,
    Constant,
    Descent,
    Elements,
    Exists,
    Filter,
    Matches,
    Member,
    Method,
    Node,
    Not,
    Path,
    Place,
    Sign,
    Unknown,
    Variable,
    parse_path,
)
from ivm.values.numeric_scales import quotient_scale
from ivm.values.patterns import has_match

_CACHED_PATHS = 1024
_EXACT = Context(prec=400)
_DEEPEST = math.inf
parse_cached = lru_cache(_CACHED_PATHS)(parse_path)


class PathError(ValueError):
    """A path does not fit its document; `silent` functions take it for the end of the items."""


Variables = dict[str, Document]


def items(
    path: Path, document: Document, variables: Variables | None, zoned: bool = False
) -> Iterator[Document]:
    """Yield the items of a path (raises PathError; ValueError for an unknown variable).

    Without variables, as None, each is null. `zoned`: moments with and without a zone may be
    compared.

    >>> list(items(parse_path("$[*] ? (@ > $x)"), [1, 2, 3], {"x": 1}))
    [2, 3]
    """
    for item in _Evaluation(path.strict, document, variables, zoned).items(path.tree):
        yield text(item) if isinstance(item, Moment) else item


@dataclass(frozen=True, slots=True)
class _Evaluation:
    """The values of `$` and of variables, and inside filters and subscripts of `@` and `last`.

    After `.**` even a strict path has no item where there is none, instead of an error.
    """

    strict: bool
    document: Document
    variables: Variables | None
    zoned: bool
    current: Document = None
    last: int = 0
    forgiving: bool = False

    def items(self, node: Node) -> Iterator[Document]:
        if self.strict and not self.forgiving and _descends(node):
            yield from replace(self, forgiving=True).items(node)
            return
        match node:
            case Constant(value):
                yield value
            case Variable(name):
                if self.variables is not None and name not in self.variables:
                    raise ValueError(f"no variable ${name}")
                yield self.variables[name] if self.variables else None
            case Place("$"):
                yield self.document
            case Place("@"):
                yield self.current
            case Place():
                yield self.last
            case Member(of, key):
                for item in self._unwrapped(of):
                    yield from self._members(item, key)
            case Elements(of, ranges):
                for item in self.items(of):
                    yield from self._elements(item, ranges)
            case Descent(of, first, last):
                for item in replace(self, forgiving=False).items(of):
                    yield from _descended(item, first, last, 0)
            case Filter(of, predicate):
                for item in self._unwrapped(of):
                    if replace(self, current=item).holds(predicate):
                        yield item
            case Method(of, "keyvalue"):
                for item in self._unwrapped(of):
                    if not isinstance(item, dict):
                        raise PathError("keyvalue() of what is no object")
                    yield from members(item, place_of(item, self.document))
            case Method(of, name, argument):
                wrapped = self.items(of) if name in ("size", "type") else self._unwrapped(of)
                yield from (self._method(name, argument, item) for item in wrapped)
            case Sign(sign, of):
                for item in self._unwrapped(of):
                    number = _number(item)
                    yield -number if sign == "-" else number
            case Arithmetic(sign, left, right):
                yield _computed(sign, self._single(left), self._single(right))
            case _:
                yield self.holds(node)

    def _unwrapped(self, node: Node) -> Iterator[Document]:
        """Yield items, in a lax path the elements of those that are arrays."""
        for item in self.items(node):
            if isinstance(item, list) and not self.strict:
                yield from item
            else:
                yield item

    def _missing(self, reason: str) -> Iterator[Document]:
        if self.strict and not self.forgiving:
            raise PathError(reason)
        return iter(())

    def _members(self, item: Document, key: str | None) -> Iterable[Document]:
        if not isinstance(item, dict):
            return self._missing("a member of what is no object")
        if key is None:
            return _inside(item)
        return [item[key]] if key in item else self._missing(f"no member {key!r}")

    def _elements(
        self, item: Document, ranges: tuple[tuple[Node, Node], ...]
    ) -> Iterable[Document]:
        if not isinstance(item, list):
            if self.strict:
                return self._missing("an element of what is no array")
            item = [item]
        return item if not ranges else self._chosen(item, ranges)

    def _chosen(
        self, array: list[Document], ranges: tuple[tuple[Node, Node], ...]
    ) -> Iterator[Document]:
        end = len(array) - 1
        inside = replace(self, last=end)
        for low, high in ranges:
            first = inside.position(low)
            last = first if high is low else inside.position(high)
            if self.strict and (first < 0 or first > last or last > end):
                yield from self._missing("a subscript beyond the array")
            yield from array[max(first, 0) : max(last, -1) + 1]

    def position(self, node: Node) -> int:
        found = list(self.items(node))
        if len(found) != 1 or not _is_number(found[0]):
            raise PathError("a subscript is one number")
        position = int(found[0])
        if not -(2**31) <= position < 2**31:
            raise PathError("a subscript out of range")
        return position

    def _single(self, node: Node) -> Decimal:
        found = list(self._unwrapped(node))
        if len(found) != 1 or not _is_number(found[0]):
            raise PathError("an operand is one number")
        return Decimal(found[0])

    def _method(self, name: str, argument: str | None, item: Document) -> Document:
        if name == "datetime":
            return _moment(item, argument)
        if name == "type":
            return item.type if isinstance(item, Moment) else type_of(item)
        if name == "size":
            if not isinstance(item, list) and self.strict:
                raise PathError("the size of what is no array")
            return len(item) if isinstance(item, list) else 1
        return _double(item) if name == "double" else _ROUNDINGS[name](Decimal(_number(item)))

    def holds(self, node: Node) -> bool | None:
        """Decide a predicate; None is unknown."""
        match node:
            case Comparison("starts", left, right):
                return self._paired(_starts, left, right)
            case Comparison(sign, left, right):
                return self._paired(_comparing(sign, self.zoned), left, right)
            case Matches(of, pattern):
                return self._paired(
                    lambda item, _: has_match(pattern, item) if isinstance(item, str) else None,
                    of,
                    Constant(None),
                )
            case Exists(of):
                return self._exists(of)
            case Unknown(predicate):
                return self.holds(predicate) is None
            case Not(predicate):
                inner = self.holds(predicate)
                return None if inner is None else not inner
            case Connective(sign, left, right):
                return self._connected(sign == "||", left, right)
        raise AssertionError(node)

    def _connected(self, decides: bool, left: Node, right: Node) -> bool | None:
        one = self.holds(left)
        if one is decides:
            return decides
        other = self.holds(right)
        return decides if other is decides else None if None in (one, other) else not decides

    def _exists(self, of: Node) -> bool | None:
        try:
            if self.strict:
                return bool(list(self.items(of)))
            return any(True for _ in self.items(of))
        except PathError:
            return None

    def _paired(
        self, decide: Callable[[Document, Document], bool | None], left: Node, right: Node
    ) -> bool | None:
        """Whether `decide` holds for a pair of items of both sides."""
        try:
            pairs = [(a, b) for a in self._unwrapped(left) for b in self._unwrapped(right)]
        except PathError:
            return None
        found = unknown = False
        for pair in pairs:
            answer = decide(*pair)
            if answer is None and self.strict:
                return None
            if answer and not self.strict:
                return True
            found, unknown = found or bool(answer), unknown or answer is None
        return True if found else None if unknown else False


def _descends(node: Node) -> bool:
    """Tell whether there is a `.**` among the accessors of a node, before the last."""
    while isinstance(node, Member | Elements | Filter | Method):
        node = node.of
        if isinstance(node, Descent):
            return True
    return False


def _descended(
    item: Document, first: int | None, last: int | None, level: int
) -> Iterator[Document]:
    """Yield what is within an item at levels `first` to `last`, itself being at `level`."""
    inner = _inside(item)
    least = _DEEPEST if first is None else first
    if level >= least or (first is None and not isinstance(item, dict | list)):
        yield item
    if last is None or level < last:
        for each in inner:
            yield from _descended(each, first, last, level + 1)


def _inside(item: Document) -> list[Document]:
    """List the elements of an array, or the values of an object in the order of their keys."""
    if isinstance(item, dict):
        return [item[k] for k in sorted(item, key=key_order)]
    return item if isinstance(item, list) else []


def _is_number(item: Document) -> bool:
    return isinstance(item, int | Decimal) and not isinstance(item, bool)


def _number(item: Document) -> int | Decimal:
    if not _is_number(item):
        raise PathError("arithmetic of what is no number")
    number: int | Decimal = item
    return number


def _moment(item: Document, template: str | None) -> Moment:
    if not isinstance(item, str):
        raise PathError("datetime() of what is no text")
    try:
        return moment(item, template)
    except ValueError as error:
        raise PathError("datetime() of what is no moment") from error


def _double(item: Document) -> Document:
    if not isinstance(item, str):
        return _number(item)
    try:
        number = float(item)
    except ValueError as error:
        raise PathError("double() of what is no number") from error
    if not math.isfinite(number) or "_" in item:
        raise PathError("double() of what is no number")
    return Decimal(f"{number:.15g}")


_ROUNDINGS: dict[str, Callable[[Decimal], Decimal]] = {
    "abs": abs,
    "ceiling": lambda x: x.to_integral_value(ROUND_CEILING, _EXACT),
    "floor": lambda x: x.to_integral_value(ROUND_FLOOR, _EXACT),
}


def _computed(sign: str, a: Decimal, b: Decimal) -> Decimal:
    if sign in "/%" and b == 0:
        raise PathError("division by zero")
    match sign:
        case "+":
            return _EXACT.add(a, b)
        case "-":
            return _EXACT.subtract(a, b)
        case "*":
            return _EXACT.multiply(a, b)
        case "/":
            digits = Decimal(1).scaleb(-quotient_scale(a, b))
            return _EXACT.divide(a, b).quantize(digits, context=_EXACT)
        case _:
            return _EXACT.remainder(a, b)


_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _comparing(sign: str, zoned: bool) -> Callable[[Document, Document], bool | None]:
    holds = _ORDERS[sign]

    def compare(a: Document, b: Document) -> bool | None:
        if isinstance(a, Moment) and isinstance(b, Moment):
            order = compared(a, b, zoned)
            return None if order is None else holds(order, 0)
        kind = _kind(a)
        if kind != _kind(b):
            return sign in ("!=", "<>") if None in (a, b) else None
        if kind in ("array", "object"):
            return None
        return holds(0, 0) if kind == "null" else holds(a, b)

    return compare


def _starts(whole: Document, start: Document) -> bool | None:
    if not isinstance(whole, str) or not isinstance(start, str):
        return None
    return whole.startswith(start)


def _kind(item: Document) -> str:
    return "datetime" if isinstance(item, Moment) else type_of(item)
