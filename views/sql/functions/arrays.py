"""Binds arrays: constructors, subscripts, operators and functions. Elements count from 1."""

from collections.abc import Sequence

import pyarrow as pa
from sqlglot import exp

from ivm.dataflow.expressions import Call, Expression, Literal
from ivm.values.types import JSON
from views.plan.scalars import call, predicate
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
from views.sql.base.signatures import Build, Signature, Signatures
from views.sql.functions.documents import TEXTS
from views.sql.source.text import QUERIES

_NULL = Literal(None, TEXT)


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


def array_of(values: Sequence[Expression], element: pa.DataType) -> Expression:
    """Makes the array of some values; a constant if all of them are."""
    kind = pa.list_(element)
    whole: Expression = Literal((), kind)
    if all(isinstance(v, Literal) for v in values):
        whole = Literal(tuple(v.value for v in values if isinstance(v, Literal)), kind)
    else:
        for value in values:
            whole = Call("array_append", (whole, value), kind, True)
    return matched(whole)


def matched(values: Expression) -> Expression:
    """Checks that inner arrays are equally long: a row error where they are not."""
    kind = values.type
    assert isinstance(kind, pa.ListType)
    if not isinstance(kind.value_type, pa.ListType):
        return values
    return call("array_matched", values, result=values.type)


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
    """Binds `array[i]` and `array[i:j]`; of a document, its member."""
    value = b.value(node.this)
    (inner,) = node.expressions if len(node.expressions) == 1 else (None,)
    if inner is None:
        raise b.session.source.unsupported("subscripts of several dimensions", node)
    if value.type == JSON:
        step = b.value(inner)
        if step.type != TEXT and not is_integer(step.type):
            raise b.mismatch("a subscript of jsonb is text or an integer", inner)
        steps = Call("array_append", (Literal((), TEXTS), cast(step, TEXT)), TEXTS, True)
        return Call("json_path", (value, steps), JSON, True)
    if not isinstance(value.type, pa.ListType):
        raise b.mismatch(f"{name(value)} has no elements", node)
    if isinstance(inner, exp.Slice):
        first = _bound(b, inner.this, 1)
        last = _bound(b, inner.expression, 2**31 - 1)
        return call("array_part", value, first, last, result=value.type)
    position = b.as_type(inner, BIGINT, "a subscript")
    return Call("array_element", (value, position), value.type.value_type, True)


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
        second = b.typed(right, kind, node.right)
        return _appended("array_append", b.typed(left, kind, node.left), second)
    if isinstance(kinds[1], pa.ListType):
        kind = kinds[1]
        first = b.typed(left, kind, node.left)
        return _appended("array_prepend", b.typed(right, kind, node.right), first)
    return None


def _appended(function: str, values: Expression, other: Expression) -> Expression | None:
    """`other`, an array or an element, at one end of `values`."""
    kind = values.type
    assert isinstance(kind, pa.ListType)
    if isinstance(other.type, pa.ListType) and not isinstance(kind.value_type, pa.ListType):
        both = common_type(kind, other.type)
        if both is None:
            return None
        pair = (cast(values, both), cast(other, both))
        ordered = pair if function == "array_append" else pair[::-1]
        return Call("array_concat", ordered, both, pair[0].nullable and pair[1].nullable)
    element = common_type(kind.value_type, other.type)
    if element is None:
        return None
    whole, one = cast(values, pa.list_(element)), cast(other, element)
    pair = (whole, one) if function == "array_append" else (one, whole)
    return Call(function, pair, pa.list_(element), True)


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


def _text(literal: Expression) -> str | None:
    assert isinstance(literal, Literal)
    return None if literal.value is None else str(literal.value)


def _concat(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
    left, right = arguments
    made = _appended("array_append", left, right)
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
    "array_length": (Signature(("array", BIGINT), INT, nullable=True),),
    "array_lower": (Signature(("array", BIGINT), build=_start),),
    "array_position": (_with_element("array_position", INT),),
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
    "string_to_array": (Signature((TEXT, TEXT, TEXT), build=_split, defaults=(_NULL,)),),
}
_BINARY = ("this", "expression")
HANDLERS: dict[type[exp.Expr] | str, Handler] = {
    exp.ArrayContainedBy: Handler(containment, _BINARY),
    exp.ArrayContainsAll: Handler(containment, _BINARY),
    exp.ArrayOverlaps: Handler(containment, _BINARY),
    exp.Bracket: Handler(subscript, ("this", "expressions")),
}
