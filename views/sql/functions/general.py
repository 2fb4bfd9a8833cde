"""Binds functions of numbers, text and NULLs."""

from collections.abc import Callable
from functools import reduce

import pyarrow as pa
from sqlglot import exp

from ivm.dataflow.expressions import Call, Expression, Literal
from views.errors import UnknownFunction
from views.plan.scalars import call, test
from views.sql.base.binder import Binder, Handler, name
from views.sql.base.coercion import (
    BIGINT,
    BYTEA,
    DIGITS,
    INT,
    TEXT,
    Bound,
    Untyped,
    cast,
    is_number,
    is_stored_in_order,
    promoted,
)
from views.sql.functions import arrays, numbers, patterns
from views.sql.functions.operators import compare
from views.sql.functions.variadic import variadic


def _text(b: Binder, node: exp.Expr, what: str) -> Expression:
    value = b.value(node)
    if value.type != TEXT:
        raise b.mismatch(f"{what} must be text, not {name(value)}; cast it", node)
    return value


def _text_or_bytes(b: Binder, node: exp.Expr, what: str) -> Expression:
    value = b.value(node)
    return value if value.type == BYTEA else _text(b, node, what)


def position(b: Binder, node: exp.StrPosition) -> Bound:
    """Binds `position(part in text)`, of bytes too."""
    text = _text_or_bytes(b, node.this, "an argument of position()")
    part = b.as_type(node.args["substr"], text.type, "an argument of position()")
    function = "bytes_position" if text.type == BYTEA else "position"
    return call(function, text, part, result=INT)


def _texts(function: str, *parts: str, result: pa.DataType = TEXT) -> Handler:
    """A function whose arguments are all text."""

    def bind(b: Binder, node: exp.Func) -> Bound:
        if any(node.args.get(p) is None for p in parts):
            raise b.fault(UnknownFunction, f"{function}() takes {len(parts)} arguments", node)
        arguments = [_text(b, node.args[p], f"an argument of {function}()") for p in parts]
        return call(function, *arguments, result=result)

    return Handler(bind, parts)


def _numeric(function: str) -> Callable[[Binder, exp.Func], Bound]:
    """A function of one number that keeps its type."""

    def bind(b: Binder, node: exp.Func) -> Bound:
        value = _number(b, node.this, function)
        return call(function, value, result=value.type)

    return bind


def _number(b: Binder, node: exp.Expr, function: str) -> Expression:
    value = b.value(node, pa.float64())
    if not is_number(value.type):
        raise b.mismatch(f"{function}() takes a number, not {name(value)}", node)
    return cast(value, promoted(value.type))


def _to_whole(function: str) -> Callable[[Binder, exp.Func], Bound]:
    """`floor` and `ceil`: of an integer it is itself, of a decimal one of scale 0."""

    def bind(b: Binder, node: exp.Func) -> Bound:
        value = _number(b, node.this, function)
        if pa.types.is_integer(value.type):
            return value
        return call(function, value, result=_whole(value.type))

    return bind


def _whole(kind: pa.DataType) -> pa.DataType:
    """Gives the type of a number without its fraction; a carry may add one digit."""
    return pa.decimal128(DIGITS, 0) if pa.types.is_decimal(kind) else kind


def round_(b: Binder, node: exp.Round) -> Bound:
    """Binds `round(x)` and, for exact numbers, `round(x, constant digits)`."""
    value = _number(b, node.this, "round")
    digits = node.args.get("decimals")
    if digits is None:
        if pa.types.is_integer(value.type):
            return value
        return call("round", value, result=_whole(value.type))
    places = b.as_type(digits, BIGINT, "the digits of round()")
    if not (pa.types.is_decimal(value.type) or pa.types.is_integer(value.type)):
        raise b.mismatch("round() to digits takes numeric; cast the number", node.this)
    if not isinstance(places, Literal) or not isinstance(places.value, int):
        exact = value if pa.types.is_decimal(value.type) else cast(value, pa.decimal128(38, 0))
        return numbers.round_varying(exact, places)
    exact = value if pa.types.is_decimal(value.type) else cast(value, pa.decimal128(38, 0))
    kept = numbers.kept(exact.type, places.value)
    return call("round", exact, Literal(places.value, BIGINT), result=kept)


def concat(b: Binder, node: exp.Concat) -> Bound:
    """Binds `concat(…)`: any types; NULL counts as empty."""
    spread = variadic(b, node, "concat", node.expressions)
    if spread is not None:
        return spread
    parts: list[Expression] = []
    for argument in node.expressions:
        value = b.put_out(b.bind(argument), argument)
        parts.append(_or_empty(value) if value.nullable else value)
    return parts[0] if len(parts) == 1 else call("concat", *parts, result=TEXT)


def _or_empty(value: Expression) -> Expression:
    return Call("coalesce", (value, Literal("", TEXT)), TEXT, False)


def pipes(b: Binder, node: exp.DPipe) -> Bound:
    """Binds `a || b` of texts, arrays, documents or bytes."""
    bounds = (b.bind(node.left), b.bind(node.right))
    joined = arrays.concatenated(b, *bounds, node)
    if joined is not None:
        return joined
    given = any(not isinstance(x, Untyped) and x.type == BYTEA for x in bounds)
    kind = BYTEA if given else TEXT
    values = [b.typed(x, kind, n) for x, n in zip(bounds, (node.left, node.right), strict=True)]
    if all(v.type == BYTEA for v in values):
        return call("concat_bytes", *values, result=BYTEA)
    if any(pa.types.is_list(v.type) for v in values) or all(v.type != TEXT for v in values):
        raise b.mismatch(f"no operator {name(values[0])} || {name(values[1])}", node)
    return call("concat", *(b.explicit_cast(v, TEXT, node) for v in values), result=TEXT)


def trim(b: Binder, node: exp.Trim) -> Bound:
    """Binds `trim([leading | trailing | both] [characters] from text)`, of bytes too."""
    text = _text_or_bytes(b, node.this, "an argument of trim()")
    side = str(node.args.get("position") or "BOTH").upper()
    spaces, others = {
        "LEADING": ("ltrim", "lstrip"),
        "TRAILING": ("rtrim", "rstrip"),
        "BOTH": ("trim", "strip"),
    }[side]
    characters = node.args.get("expression")
    if text.type == BYTEA and characters is not None:
        octets = b.as_type(characters, BYTEA, "the bytes of trim()")
        return call(f"{others}_bytes", text, octets, result=BYTEA)
    if text.type == BYTEA:
        raise b.mismatch("trim() of bytea takes the bytes to cut off", node)
    if characters is None:
        return call(spaces, text, result=TEXT)
    return call(others, text, _text(b, characters, "the characters of trim()"), result=TEXT)


def substring(b: Binder, node: exp.Substring) -> Bound:
    """Binds `substring(text from start for count)`, and of patterns."""
    text = _text_or_bytes(b, node.this, "an argument of substring()")
    start, length = node.args.get("start"), node.args.get("length")
    if start is None:
        raise b.session.source.unsupported("substring() without a position or pattern", node)
    from_ = b.bind(start)
    for_ = None if length is None else b.bind(length)
    if text.type != BYTEA and _is_pattern(from_, for_):
        escape = None if for_ is None or length is None else b.typed(for_, TEXT, length)
        return patterns.part(b, node, text, b.typed(from_, TEXT, start), escape)
    first = b.as_type(start, BIGINT, "a position")
    count = Literal(2**31 - 1, BIGINT) if length is None else b.as_type(length, BIGINT, "a length")
    function = "bytes_part" if text.type == BYTEA else "substring"
    return call(function, text, first, count, result=text.type)


def _is_pattern(start: Bound, length: Bound | None) -> bool:
    """Tells whether what is cut out is described by a text; constants alone are texts."""
    kinds = [x.type for x in (start, length) if x is not None and not isinstance(x, Untyped)]
    return TEXT in kinds or not kinds


def split_part(b: Binder, node: exp.SplitPart) -> Bound:
    if any(node.args.get(part) is None for part in ("delimiter", "part_index")):
        raise b.fault(UnknownFunction, "split_part() takes 3 arguments", node)
    text = _text(b, node.this, "an argument of split_part()")
    delimiter = _text(b, node.args["delimiter"], "the delimiter")
    part = b.as_type(node.args["part_index"], BIGINT, "the part's number")
    return call("split_part", text, delimiter, part, result=TEXT)


def coalesce(b: Binder, node: exp.Coalesce) -> Bound:
    b = b.of_one_row()
    nodes, bounds = [node.this, *node.expressions], list[Bound]()
    for each in nodes:
        missing = (test("is_null", v) for v in bounds if not isinstance(v, Untyped))
        bounds.append(b.under(each, missing).bind(each))
    values = b.same_type(nodes, "COALESCE", bounds)
    nullable = all(v.nullable for v in values)
    return (
        values[0] if len(values) == 1 else Call("coalesce", tuple(values), values[0].type, nullable)
    )


def nullif(b: Binder, node: exp.Nullif) -> Bound:
    value = b.value(node.this)
    equal = compare(b, "eq", "=", node.this, node.expression)
    return Call("case", (equal, Literal(None, value.type), value), value.type, True)


def extremum(b: Binder, node: exp.Greatest | exp.Least) -> Bound:
    function = "greatest" if isinstance(node, exp.Greatest) else "least"
    values = b.same_type([node.this, *node.expressions], function.upper())
    if not is_stored_in_order(values[0].type):
        return reduce(
            lambda a, v: Call(f"{function}_key", (a, v), v.type, a.nullable and v.nullable), values
        )
    return Call(function, tuple(values), values[0].type, all(v.nullable for v in values))


HANDLERS: dict[type[exp.Expr] | str, Handler] = {
    exp.Abs: Handler(_numeric("abs"), ("this",)),
    exp.Floor: Handler(_to_whole("floor"), ("this",)),
    exp.Ceil: Handler(_to_whole("ceil"), ("this",)),
    exp.Round: Handler(round_, ("this", "decimals")),
    exp.Lower: _texts("lower", "this"),
    exp.Upper: _texts("upper", "this"),
    exp.StrPosition: Handler(position, ("this", "substr")),
    exp.StartsWith: _texts("starts_with", "this", "expression", result=pa.bool_()),
    exp.Replace: _texts("replace", "this", "expression", "replacement"),
    exp.Concat: Handler(concat, ("expressions", "safe", "coalesce")),
    exp.DPipe: Handler(pipes, ("this", "expression", "safe")),
    exp.Trim: Handler(trim, ("this", "expression", "position")),
    exp.Substring: Handler(substring, ("this", "start", "length")),
    exp.SplitPart: Handler(split_part, ("this", "delimiter", "part_index")),
    exp.Coalesce: Handler(coalesce, ("this", "expressions")),
    exp.Nullif: Handler(nullif, ("this", "expression")),
    exp.Greatest: Handler(extremum, ("this", "expressions", "ignore_nulls")),
    exp.Least: Handler(extremum, ("this", "expressions", "ignore_nulls")),
}
