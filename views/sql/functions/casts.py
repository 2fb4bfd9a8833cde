"""Binds casts, and the types that they name, with lengths, digits and fields as PostgreSQL's."""

import pyarrow as pa
from sqlglot import exp

from ivm.constants import computed
from ivm.dataflow.expressions import Expression, Literal
from ivm.values.types import NUMERIC
from views.errors import BadDefinition, InvalidLiteral, SqlError
from views.plan.scalars import call
from views.sql.base import literals
from views.sql.base.binder import Binder
from views.sql.base.coercion import (
    BIGINT,
    DIGITS,
    DOUBLE,
    INT,
    TEXT,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    Bound,
    Untyped,
    is_integer,
    scale_of,
)
from views.sql.functions import arrays, intervals, json_paths
from views.types import parse_type

_CHARACTERS = {exp.DType.CHAR, exp.DType.NCHAR, exp.DType.BPCHAR}
_TEXTS = {exp.DType.VARCHAR, exp.DType.NVARCHAR}
_MOMENTS: dict[exp.DType, pa.DataType] = {
    exp.DType.TIME: TIME,
    exp.DType.TIMESTAMP: TIMESTAMP,
    exp.DType.TIMESTAMPTZ: TIMESTAMPTZ,
}
_LONGEST = 10_485_760  # characters of a text type with a length
_SINGLE_BITS = 24  # of the mantissa of a real; a double has 53
# Types that are refused, and what serves in their place.
_ADVICE = {
    "bit": "use an integer, with & | # ~ << >>",
    "varbit": "use an integer, with & | # ~ << >>",
    "money": "use numeric(38, 2)",
    "timetz": "use time, or timestamptz",
    "name": "use text, or left(…, 63)",
    '"char"': "use text, or left(…, 1)",
    "xml": "use text",
    "inet": "use text",
    "cidr": "use text",
    "macaddr": "use text",
    "citext": "use text, and lower(…) where it is compared",
    "hstore": "use jsonb",
    "tsvector": "use text and regular expressions",
}


def cast(b: Binder, node: exp.Cast) -> Bound:
    """Binds `CAST(value AS type)` and `value::type`."""
    if json_paths.is_path(node):
        return json_paths.path(b, node)
    bound, to = b.bind(node.this), node.args["to"]
    if isinstance(to.this, exp.Interval):
        return intervals.kept(b, bound, to.this.args.get("unit"), node.this)
    if to.this in _CHARACTERS:
        return _characters(b, bound, node)
    if to.this in _TEXTS and to.expressions:
        return _cut(b, b.explicit_cast(bound, TEXT, node.this), _size(b, to, 1, _LONGEST))
    if to.this in _MOMENTS and to.expressions:
        return _rounded(b, bound, node)
    if to.this == exp.DType.DECIMAL and _is_negative(to.expressions[-1:]):
        return _hundreds(b, bound, node)
    target = _type_of(b, to, bound)
    if isinstance(bound, Untyped) and bound.text is not None:
        target = arrays.nested_as(bound.text, target)
    return b.explicit_cast(bound, target, node.this)


def _is_negative(sizes: list[exp.DataTypeParam]) -> bool:
    return bool(sizes) and isinstance(sizes[0].this, exp.Neg)


def _hundreds(b: Binder, bound: Bound, node: exp.Cast) -> Expression:
    """A cast to `numeric(3, -2)`: three digits of hundreds."""
    given = [size.this for size in node.args["to"].expressions]
    digits, places = int(given[0].name), int(given[1].this.name)
    if not 1 <= digits <= DIGITS - places:
        raise b.fault(
            InvalidLiteral, f"{digits} digits and {places} places are at most {DIGITS}", node
        )
    value = b.explicit_cast(bound, NUMERIC, node.this)
    rounded = _folded("round_to", value, Literal(-places, INT), result=NUMERIC)
    target = pa.decimal128(digits + places, 0)
    return b.explicit_cast(rounded, target, node.this)


def _size(b: Binder, to: exp.DataType, least: int, most: int) -> int:
    """Reads the one number behind the name of a type."""
    given = to.expressions[0].this
    whole = isinstance(given, exp.Literal) and not given.is_string and given.this.isdigit()
    if len(to.expressions) != 1 or not whole or not least <= int(given.this) <= most:
        raise b.fault(InvalidLiteral, f"{_spelled(to)} takes a number from {least} to {most}", to)
    return int(given.this)


def _cut(b: Binder, text: Expression, length: int) -> Expression:
    """The first characters of a text, as an explicit cast to `varchar(length)`."""
    return _folded("substring", text, Literal(1, BIGINT), Literal(length, BIGINT), result=TEXT)


def _folded(function: str, value: Expression, *more: Literal, result: pa.DataType) -> Expression:
    made = call(function, value, *more, result=result)
    return computed(made) if isinstance(value, Literal) else made


def _characters(b: Binder, bound: Bound, node: exp.Cast) -> Expression:
    """A cast to `char(length)`, of which the blanks at the end do not count."""
    to = node.args["to"]
    if _is_put_out(node):
        raise b.session.source.unsupported(
            "char whose blanks would show; write varchar, text, or rpad(…): it", node
        )
    text = b.explicit_cast(bound, TEXT, node.this)
    if to.expressions:
        text = _cut(b, text, _size(b, to, 1, _LONGEST))
    elif to.this != exp.DType.BPCHAR:
        text = _cut(b, text, 1)
    return _folded("rtrim", text, result=TEXT)


# Syntax whose value is that of a part, so that it is padded if the part is.
_THROUGH = (
    exp.Alias, exp.Paren, exp.Case, exp.If, exp.Coalesce, exp.Nullif, exp.Greatest, exp.Least,
    exp.Min, exp.Max, exp.AnyValue, exp.Window, exp.Filter, exp.Tuple,
    exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue, exp.Distinct, exp.Order,
    exp.Ordered, exp.Bracket,
)  # fmt: skip


# And functions that write or match a value with its blanks.
_WRITING = (
    exp.Array, exp.ArrayAgg, exp.Concat, exp.ConcatWs, exp.Like, exp.ILike, exp.SimilarTo,
    exp.RegexpLike, exp.RegexpILike,
)  # fmt: skip


def _writes(node: exp.Expr | None) -> bool:
    name = node.name.lower() if isinstance(node, exp.Anonymous) else ""
    name = name or (node.key if isinstance(node, exp.Func) else "")
    return "json" in name or name in ("concat_ws", "format") or name.startswith("array")


def _is_put_out(node: exp.Expr) -> bool:
    """Tells whether the value of `node` may be a column of its query, or be written as one."""
    at = node
    while isinstance(at.parent, _THROUGH):
        if isinstance(at.parent, exp.Case | exp.If) and at.arg_key == "this":
            return False  # it is compared, or a condition
        at = at.parent
    if isinstance(at.parent, _WRITING) or _writes(at.parent):
        return True
    return isinstance(at.parent, exp.Query | exp.Values) and at.arg_key == "expressions"


def _rounded(b: Binder, bound: Bound, node: exp.Cast) -> Expression:
    """A cast to `timestamp(digits)` and its like."""
    to = node.args["to"]
    kind = _MOMENTS[to.this]
    digits = _size(b, to, 0, 10)
    value = b.explicit_cast(bound, kind, node.this)
    return _folded("to_digits", value, Literal(min(digits, 6), INT), result=kind)


def _type_of(b: Binder, node: exp.DataType, bound: Bound) -> pa.DataType:
    """The type that a cast names; a bare `numeric` keeps the scale of the constant or number."""
    if node.this == exp.DType.DECIMAL and not node.expressions:
        given = _constant_type(bound) if isinstance(bound, Untyped) else bound.type
        if is_integer(given) or pa.types.is_decimal(given):
            return pa.decimal128(DIGITS, scale_of(given))
    if node.this == exp.DType.DOUBLE and node.expressions:
        return pa.float32() if _size(b, node, 1, 53) <= _SINGLE_BITS else DOUBLE
    try:
        return parse_type(_spelled(node))
    except BadDefinition as error:
        raise _refusal(b, node, error) from error


def _spelled(node: exp.DataType) -> str:
    return node.sql(dialect="postgres").lower()


def _refusal(b: Binder, node: exp.DataType, error: BadDefinition) -> SqlError:
    spelled = _spelled(node)
    if node.this == exp.DType.DECIMAL:
        return b.session.source.unsupported(f"the type {error}", node.parent)
    advice = _ADVICE.get(spelled.partition("(")[0].removesuffix("[]"))
    return b.session.source.unsupported(
        f"the type {spelled}" + (f", {advice}," if advice else ""), node.parent
    )


def _constant_type(constant: Untyped) -> pa.DataType:
    """The type that a quoted number has without its quotes."""
    try:
        return literals.number((constant.text or "").strip()).type
    except (ValueError, ArithmeticError):
        return NUMERIC
