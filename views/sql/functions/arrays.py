"""Binds arrays: constructors, subscripts, operators and functions. Elements count from 1."""

import re

import pyarrow as pa
from sqlglot import exp

from ivm.dataflow.expressions import Call, Expression, Literal
from ivm.values.types import JSON
from views.plan.scalars import call, predicate
from views.sql.base.arrays import array_of
from views.sql.base.binder import Binder, Handler, name
from views.sql.base.coercion import (
    BIGINT,
    BOOL,
    INT,
    TEXT,
    Bound,
    Untyped,
    cast,
    common_type,
    is_integer,
)
from views.sql.base.signatures import Build, Signature, Signatures, same_as
from views.sql.functions.documents import TEXTS
from views.sql.source.text import QUERIES

_NULL = Literal(None, TEXT)
_INTS: pa.DataType = pa.list_(INT)


def query_of(node: exp.Expr) -> exp.Expr | None:
    """Gives the query of `ARRAY (query)`; None for `ARRAY[…]`, and all else."""
    if not isinstance(node, exp.Array) or node.args.get("value_constructor") is not None:
        return None
    only = node.expressions[0] if len(node.expressions) == 1 else None
    return only if isinstance(only, QUERIES) else None


def array(b: Binder, node: exp.Array) -> Bound:
    """Binds `ARRAY[…]`, whose elements have one type."""
    values = b.same_type(node.expressions, "ARRAY") if node.expressions else []
    if not values:
        return Untyped("{}")
    return array_of(values, values[0].type)


def innermost(kind: pa.DataType) -> pa.DataType:
    """Gives the type of an array's elements, of any number of dimensions."""
    while isinstance(kind, pa.ListType):
        kind = kind.value_type
    return kind


def flat(values: Expression) -> Expression:
    """Flattens an array to one without inner arrays, in order."""
    kind = pa.list_(innermost(values.type))
    return values if kind == values.type else call("array_flat", values, result=kind)


def subscript(b: Binder, node: exp.Bracket) -> Bound:
    """Binds `array[i]`, `array[i:j]` and those of several dimensions; of a document, its member."""
    whole, steps = _chain(node)
    value = b.value(whole)
    if value.type == JSON:
        return _member(b, value, steps)
    if not isinstance(value.type, pa.ListType):
        raise b.mismatch(f"{name(value)} has no elements", node)
    if any(isinstance(step, exp.Slice) for step in steps):
        return _slice(b, value, steps)
    kind, out = innermost(value.type), value
    if len(steps) != dimensions(value.type):
        return Literal(None, kind)
    for step in steps:
        assert isinstance(out.type, pa.ListType)
        position = b.as_type(step, BIGINT, "a subscript")
        out = Call("array_element", (out, position), out.type.value_type, True)
    return out


def _chain(node: exp.Bracket) -> tuple[exp.Expr, list[exp.Expr]]:
    """Finds what subscripts that follow one another are of, and lists them."""
    whole: exp.Expr = node
    steps: list[exp.Expr] = []
    while isinstance(whole, exp.Bracket):
        steps = [*whole.expressions, *steps]
        whole = whole.this
    return whole, steps


def _member(b: Binder, value: Expression, steps: list[exp.Expr]) -> Expression:
    path: Expression = Literal((), TEXTS)
    for node in steps:
        step = b.value(node)
        if step.type != TEXT and not is_integer(step.type):
            raise b.mismatch("a subscript of jsonb is text or an integer", node)
        path = Call("array_append", (path, cast(step, TEXT)), TEXTS, True)
    return Call("json_path", (value, path), JSON, True)


def _slice(b: Binder, value: Expression, steps: list[exp.Expr]) -> Expression:
    """Binds a slice; among slices `i` is `1:i`."""
    if len(steps) > dimensions(value.type):
        return Literal((), value.type)
    bounds: list[Expression] = []
    for step in steps:
        if isinstance(step, exp.Slice):
            bounds += [_bound(b, step.this, 1), _bound(b, step.expression, 2**31 - 1)]
        else:
            bounds += [Literal(1, BIGINT), _bound(b, step, 1)]
    return Call("array_part", (value, array_of(bounds, BIGINT)), value.type, True)


def dimensions(kind: pa.DataType) -> int:
    """Counts the dimensions of an array's type; 0 for other types."""
    return 1 + dimensions(kind.value_type) if isinstance(kind, pa.ListType) else 0


def nested_as(text: str, kind: pa.DataType) -> pa.DataType:
    """Gives an array's type as many dimensions as the braces of a constant open."""
    opened = re.match(r"\s*\{[\s{]*", text)
    if not isinstance(kind, pa.ListType) or opened is None:
        return kind
    made = innermost(kind)
    for _ in range(opened[0].count("{")):
        made = pa.list_(made)
    return made


def any_of(b: Binder, function: str, left: exp.Expr, operand: exp.Expr) -> Expression:
    """Binds `left function ANY (array)`."""
    bound = b.bind(left)
    wanted = TEXT if isinstance(bound, Untyped) else bound.type
    values = b.value(operand, pa.list_(wanted))
    if not isinstance(values.type, pa.ListType):
        raise b.mismatch(f"ANY and ALL take an array or a query, not {name(values)}", operand)
    values = flat(values)
    kind = innermost(values.type)
    value = b.typed(bound, kind, left)
    element = common_type(value.type, kind)
    if element is None:
        raise b.mismatch(f"{name(value)} is compared with elements of {name(values)}", left)
    value, values = cast(value, element), cast(values, pa.list_(element))
    return Call("any_of", (value, values, Literal(function, TEXT)), BOOL, True)


def _bound(b: Binder, node: exp.Expr | None, default: int) -> Expression:
    return Literal(default, BIGINT) if node is None else b.as_type(node, BIGINT, "a subscript")


def containment(b: Binder, node: exp.Binary) -> Bound:
    """Binds `@>`, `<@` and `&&` of arrays, and the first two of documents."""
    left, right = _pair(b, node)
    if left.type == JSON and not isinstance(node, exp.ArrayOverlaps):
        function = "json_contains"
    elif isinstance(left.type, pa.ListType):
        function = "array_overlaps" if isinstance(node, exp.ArrayOverlaps) else "array_contains"
    else:
        raise b.mismatch(f"no such operator of {name(left)}", node)
    if isinstance(node, exp.ArrayContainedBy):
        left, right = right, left
    return predicate(function, left, right)


def _pair(b: Binder, node: exp.Binary) -> list[Expression]:
    return b.same_type([node.left, node.right], "this operator")


def concatenated(b: Binder, left: Bound, right: Bound, node: exp.DPipe) -> Expression | None:
    """Binds `||` of arrays, of an array and an element, or of documents; None for other types."""
    kinds = [None if isinstance(x, Untyped) else x.type for x in (left, right)]
    if JSON in kinds:
        pair = [b.typed(x, JSON, n) for x, n in ((left, node.left), (right, node.right))]
        return call("json_concat", *pair, result=JSON) if pair[0].type == pair[1].type else None
    if isinstance(kinds[0], pa.ListType):
        kind = kinds[0]
        return _joined(b.typed(left, kind, node.left), b.typed(right, kind, node.right))
    if isinstance(kinds[1], pa.ListType):
        kind = kinds[1]
        return _joined(b.typed(left, kind, node.left), b.typed(right, kind, node.right))
    return None


def _joined(left: Expression, right: Expression) -> Expression | None:
    """Two arrays of as many dimensions; or an array, and a part of it at one of its ends."""
    depths = dimensions(left.type), dimensions(right.type)
    both = common_type(innermost(left.type), innermost(right.type))
    if both is None or abs(depths[0] - depths[1]) > 1:
        return None
    pair = [cast(x, _nested(both, d)) for x, d in zip((left, right), depths, strict=True)]
    kind = _nested(both, max(depths))
    if depths[0] == depths[1]:
        nullable = left.nullable and right.nullable
        made = Call("array_concat", tuple(pair), kind, nullable)
    else:
        end = "array_append" if depths[0] > depths[1] else "array_prepend"
        made = Call(end, tuple(pair), kind, True)
    return made if max(depths) == 1 else Call("array_matched", (made,), kind, made.nullable)


def _nested(kind: pa.DataType, depth: int) -> pa.DataType:
    return _nested(pa.list_(kind), depth - 1) if depth else kind


def _with_element(function: str, result: pa.DataType | None, *, first: bool = False) -> Signature:
    """A function of an array and one or more values of its elements' type."""

    def build(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
        values, *others = arguments[::-1] if first else arguments
        kind = values.type
        if not isinstance(kind, pa.ListType):
            raise b.mismatch(f"{function}() takes an array, not {name(values)}", node)
        element = kind.value_type
        given = []
        for other in others:
            literal = isinstance(other, Literal) and other.type == TEXT and element != TEXT
            value = b.typed(Untyped(_text(other)), element, node) if literal else other
            if common_type(value.type, element) != element:
                raise b.mismatch(f"{function}() of {name(values)} and {name(other)}", node)
            given.append(cast(value, element))
        pair = (*given, values) if first else (values, *given)
        return Call(function, pair, result or kind, True)

    count = 3 if function == "array_replace" else 2
    takes = ("any", "array") if first else ("array", *["any"] * (count - 1))
    return Signature(takes, build=build)


def _position_from(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
    """`array_position(array, value, start)`."""
    build = _with_element("array_position", INT).build
    assert build is not None
    found = build(b, node, arguments[:2])
    assert isinstance(found, Call)
    return Call("array_position_from", (*found.arguments, arguments[2]), INT, True)


def _fill(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
    """`array_fill(value, lengths)`; the number of dimensions must be known from the query."""
    value, lengths = arguments[:2]
    if arguments[2:] and not _is_ones(arguments[2]):
        raise b.session.source.unsupported("an array whose positions begin not at 1", node)
    count = _count(lengths)
    if count is None:
        raise b.session.source.unsupported(
            "array_fill() of lengths that are a column", node, "write ARRAY[a, b]"
        )
    return Call("array_fill", (value, lengths), _nested(value.type, max(count, 1)), True)


def _is_ones(bounds: Expression) -> bool:
    return isinstance(bounds, Literal) and bounds.value == (1,) * (_count(bounds) or 0)


def _count(values: Expression) -> int | None:
    """Counts the elements of an array that is written out."""
    if isinstance(values, Literal):
        return len(values.value) if isinstance(values.value, tuple) else 0
    if isinstance(values, Call) and values.function == "array_append":
        before = _count(values.arguments[0])
        return None if before is None else before + 1
    return None


def _text(literal: Expression) -> str | None:
    assert isinstance(literal, Literal)
    return None if literal.value is None else str(literal.value)


def _concat(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
    left, right = arguments
    made = _joined(left, right)
    if made is None:
        raise b.mismatch(f"array_cat() of {name(left)} and {name(right)}", node)
    return made


def _end(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
    """`array_upper` is the length."""
    return Call("array_length", tuple(arguments), INT, True)


def _start(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
    """`array_lower`: 1, or NULL of an empty array."""
    length = _end(b, node, arguments)
    return Call(
        "case",
        (call("gt", length, Literal(0, INT), result=BOOL), Literal(1, INT), Literal(None, INT)),
        INT,
        True,
    )


def _split(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
    return Call("string_to_array", tuple(arguments), TEXTS, True)


def _of_elements(function: str, result: pa.DataType, nullable: bool = False) -> Build:
    """Binds a function of all elements of an array, of any number of dimensions."""

    def build(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
        given = (flat(arguments[0]), *arguments[1:])
        return Call(function, given, result, nullable or any(a.nullable for a in given))

    return build


FUNCTIONS: Signatures = {
    "array_append": (_with_element("array_append", None),),
    "array_cat": (Signature(("array", "array"), build=_concat),),
    "array_dims": (Signature(("array",), TEXT, nullable=True),),
    "array_fill": (
        Signature(("any", _INTS), build=_fill),
        Signature(("any", _INTS, _INTS), build=_fill),
    ),
    "array_length": (Signature(("array", BIGINT), INT, nullable=True),),
    "array_lower": (Signature(("array", BIGINT), build=_start),),
    "array_ndims": (Signature(("array",), INT, nullable=True),),
    "array_position": (
        _with_element("array_position", INT),
        Signature(("array", "any", INT), build=_position_from),
    ),
    "array_positions": (_with_element("array_positions", pa.list_(INT)),),
    "array_prepend": (_with_element("array_prepend", None, first=True),),
    "array_remove": (_with_element("array_remove", None),),
    "array_replace": (_with_element("array_replace", None),),
    "array_to_string": (
        Signature(("array", TEXT), build=_of_elements("array_to_string", TEXT)),
        Signature(("array", TEXT, TEXT), build=_of_elements("array_to_string_all", TEXT, True)),
    ),
    "array_upper": (Signature(("array", BIGINT), build=_end),),
    "cardinality": (Signature(("array",), build=_of_elements("cardinality", INT)),),
    "trim_array": (Signature(("array", INT), same_as(0)),),
    "string_to_array": (Signature((TEXT, TEXT, TEXT), build=_split, defaults=(_NULL,)),),
}
_BINARY = ("this", "expression")
HANDLERS: dict[type[exp.Expr] | str, Handler] = {
    exp.ArrayContainedBy: Handler(containment, _BINARY),
    exp.ArrayContainsAll: Handler(containment, _BINARY),
    exp.ArrayOverlaps: Handler(containment, _BINARY),
    exp.Bracket: Handler(subscript, ("this", "expressions")),
}
