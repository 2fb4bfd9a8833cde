"""Dates, timestamps and intervals."""

import re
from decimal import Decimal

import pyarrow as pa
from sqlglot import exp

from ivm.expressions import Expression, Literal
from views.errors import InvalidLiteral
from views.plan.scalars import call
from views.sql.binder import Binder, Handler
from views.sql.coercion import (
    BIGINT,
    DATE,
    TEXT,
    TIMESTAMP,
    Bound,
    Elapsed,
    Interval,
    Untyped,
    cast,
    is_integer,
    is_temporal,
)

_MICROS = {
    "microsecond": 1,
    "millisecond": 1_000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
}
_DAYS = {"day": 1, "week": 7}
_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_SYNONYMS = {"sec": "second", "min": "minute", "mon": "month", "hr": "hour", "yr": "year"}
_EXTRACTED = {
    "year", "month", "day", "hour", "minute", "quarter",
    "dow", "isodow", "doy", "week", "isoyear",
}  # fmt: skip
_FRACTIONAL = pa.decimal128(38, 6)
_TRUNCATED = {
    "microseconds", "milliseconds", "second", "minute", "hour",
    "day", "week", "month", "quarter", "year",
}  # fmt: skip
_TERM = re.compile(r"([+-]?\d+(?:\.\d+)?)\s*([a-zA-Z]+)\s*")


def arithmetic(
    b: Binder, function: str, left: Bound, right: Bound, node: exp.Binary
) -> Bound | None:
    """`left` plus or minus `right` if one of them is a date, a timestamp or an interval."""
    if function == "add" and (isinstance(left, Interval) or _is_moment(right)):
        left, right = right, left
    if function not in ("add", "subtract") or not _is_moment(left):
        return None
    assert not isinstance(left, Untyped | Interval | Elapsed)
    sign = 1 if function == "add" else -1
    if isinstance(right, Interval):
        return shifted(left, right, sign)
    if isinstance(right, Untyped) and function == "subtract":
        right = b.typed(right, left.type, node.right)
    if isinstance(right, Untyped | Elapsed):
        return None
    if left.type == DATE and is_integer(right.type):
        days = cast(right, BIGINT)
        return call("add_days", left, days if sign == 1 else _negated(days), result=DATE)
    if function == "subtract" and left.type == right.type == DATE:
        return call("days_between", left, right, result=BIGINT)
    if function == "subtract" and is_temporal(right.type):
        pair = b.same_type([node.left, node.right], "operator -", [left, right])
        return Elapsed(call("micros_between", *pair, result=BIGINT))
    return None


def shifted(moment: Expression, by: Interval, sign: int) -> Expression:
    """`moment` moved by an interval: months first, then days, then the rest. It is a timestamp."""
    value = cast(moment, TIMESTAMP) if moment.type == DATE else moment
    if by.months:
        value = call("add_months", value, Literal(sign * by.months, BIGINT), result=value.type)
    micros = by.days * 24 * _MICROS["hour"] + by.micros
    if micros:
        value = call("add_micros", value, Literal(sign * micros, BIGINT), result=value.type)
    return value


def _is_moment(bound: Bound) -> bool:
    return not isinstance(bound, Untyped | Interval | Elapsed) and is_temporal(bound.type)


def _negated(days: Expression) -> Expression:
    if isinstance(days, Literal) and isinstance(days.value, int):
        return Literal(-days.value, BIGINT)
    return call("negate", days, result=BIGINT)


def interval(b: Binder, node: exp.Interval) -> Bound:
    """`interval '1 day 2 hours'` or `interval '3' month`."""
    amount, unit = node.this, node.args.get("unit")
    if not isinstance(amount, exp.Literal) or not (unit is None or isinstance(unit, exp.Var)):
        raise b.session.source.unsupported("an interval that is not constant", node)
    text = amount.this if unit is None else f"{amount.this} {unit.name}"
    return parse_interval(b, text, amount)


def parse_interval(b: Binder, text: str, node: exp.Expr) -> Interval:
    """The interval that `text` spells in terms of a number and a unit."""
    months = days = micros = Decimal(0)
    rest = text.strip()
    fault = b.fault(InvalidLiteral, f"{text!r} is not an interval like '1 day 2 hours'", node)
    if not rest:
        raise fault
    while rest:
        term = _TERM.match(rest)
        if term is None:
            raise fault
        amount, unit = Decimal(term[1]), _unit(term[2])
        if unit in _MICROS:
            micros += amount * _MICROS[unit]
        elif unit in _DAYS:
            days += amount * _DAYS[unit]
        elif unit in _MONTHS:
            months += amount * _MONTHS[unit]
        else:
            raise fault
        rest = rest[term.end() :]
    if any(part != int(part) for part in (months, days, micros)):
        raise b.session.source.unsupported("a fraction of a day or month", node)
    return Interval(int(months), int(days), int(micros))


def _unit(text: str) -> str:
    unit = text.lower()
    unit = unit.removesuffix("s") if unit != "s" else "second"
    return _SYNONYMS.get(unit, unit)


def extract(b: Binder, node: exp.Extract) -> Bound:
    """`extract(field from moment)`, and `extract(epoch from later - earlier)`."""
    field = node.this.name.lower()
    bound = b.bind(node.expression)
    if isinstance(bound, Elapsed):
        if field != "epoch":
            raise b.session.source.unsupported(f"extract({field}) of an interval", node)
        micros = cast(bound.micros, pa.decimal128(38, 0))
        seconds = Literal(Decimal("0.000001"), pa.decimal128(6, 6))
        return call("multiply", micros, seconds, result=_FRACTIONAL)
    moment = _moment(b, bound, node.expression)
    if field in ("epoch", "second"):
        result: pa.DataType = _FRACTIONAL
    elif field in _EXTRACTED:
        result = BIGINT
    else:
        raise b.session.source.unsupported(f"extract({field})", node)
    return call("extract", Literal(field, TEXT), moment, result=result)


def date_trunc(b: Binder, node: exp.TimestampTrunc | exp.DateTrunc) -> Bound:
    """`date_trunc(unit, moment)`; a date gives a timestamp without zone."""
    unit = node.args["unit"].name.lower()
    if unit not in _TRUNCATED:
        raise b.session.source.unsupported(f"date_trunc({unit!r})", node)
    moment = _moment(b, b.bind(node.this), node.this)
    result = TIMESTAMP if moment.type == DATE else moment.type
    return call("date_trunc", Literal(unit, TEXT), moment, result=result)


def _moment(b: Binder, bound: Bound, node: exp.Expr) -> Expression:
    moment = b.typed(bound, TIMESTAMP, node)
    if not is_temporal(moment.type):
        raise b.mismatch("a date or timestamp is needed here", node)
    return moment


HANDLERS: dict[type[exp.Expr] | str, Handler] = {
    exp.Interval: Handler(interval, ("this", "unit")),
    exp.Extract: Handler(extract, ("this", "expression")),
    exp.TimestampTrunc: Handler(date_trunc, ("this", "unit")),
    exp.DateTrunc: Handler(date_trunc, ("this", "unit")),
}
