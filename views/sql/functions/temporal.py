"""Binds dates, times, timestamps and intervals: operators and the syntax of their own."""

from datetime import date
from decimal import Decimal

import pyarrow as pa
from sqlglot import exp

from ivm.constants import computed
from ivm.dataflow.expressions import Call, Expression, Literal
from ivm.values.interval_fields import CLOCK_FIELDS, INTERVAL_FIELDS, INTERVAL_UNITS
from ivm.values.types import INTERVAL
from views.plan.scalars import call, conjunction, disjunction, predicate, test
from views.sql.base.binder import Binder, Handler, name
from views.sql.base.coercion import (
    BIGINT,
    DATE,
    DOUBLE,
    INT,
    TEXT,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    Bound,
    Untyped,
    cast,
    common_of,
    is_integer,
    is_number,
    is_temporal,
)
from views.sql.functions import intervals, time_zones
from views.sql.functions.moving import negated, shifted

_SPAN = pa.decimal128(38, 0)
_FRACTIONAL = pa.decimal128(38, 6)
_WHOLE = pa.decimal128(19, 0)
_DAYS = pa.decimal128(38, 20)
_DAY_MICROS = Decimal(86_400_000_000)
_EPOCH = date(1970, 1, 1)
_MICROSECOND = Literal(Decimal("0.000001"), pa.decimal128(6, 6))
_FRACTIONS = {"epoch", "second", "milliseconds"}
_FIELDS = {
    "century", "day", "decade", "dow", "doy", "hour", "isodow", "isoyear", "microseconds",
    "millennium", "minute", "month", "quarter", "week", "year",
}  # fmt: skip
_UNITS = {
    "microseconds", "milliseconds", "second", "minute", "hour", "day", "week", "month", "quarter",
    "year", "decade", "century", "millennium",
}  # fmt: skip
_UNITS_OF_DAY = {"microseconds", "milliseconds", "second", "minute", "hour"}
# PostgreSQL's other names of fields and units.
_SYNONYMS = {
    synonym: unit
    for unit, synonyms in {
        "microseconds": "microsecond us usec usecs useconds",
        "milliseconds": "millisecond ms msec msecs mseconds",
        "second": "s sec secs seconds",
        "minute": "m min mins minutes",
        "hour": "h hr hrs hours",
        "day": "d days",
        "week": "w weeks",
        "month": "mon mons months",
        "quarter": "qtr",
        "year": "y yr yrs years",
        "decade": "dec decs decades",
        "century": "c cent centuries",
        "millennium": "mil mils millennia millenniums",
    }.items()
    for synonym in synonyms.split()
}
_OF_ZONES = {"timezone", "timezone_hour", "timezone_minute"}
_JULIAN = 2_440_588  # of 1970-01-01


def arithmetic(
    b: Binder, function: str, left: Bound, right: Bound, node: exp.Binary
) -> Bound | None:
    """Binds an operator of `left` and `right`, if one of them is a date, a time or an interval."""
    kinds = [None if isinstance(x, Untyped) else x.type for x in (left, right)]
    if not any(k is not None and (is_temporal(k) or k in (TIME, INTERVAL)) for k in kinds):
        return None
    if function == "add" and (kinds[0] in (None, INTERVAL) or kinds == [TIME, DATE]):
        left, right = right, left
    if isinstance(left, Untyped):
        assert not isinstance(right, Untyped)
        left = b.typed(left, right.type, node.left)
    if isinstance(right, Untyped) and function == "add" and left.type == DATE:
        raise b.mismatch("date + unknown is not unique; cast the constant", node)
    if isinstance(right, Untyped):
        wanted = left.type if function == "subtract" or left.type == INTERVAL else INTERVAL
        right = b.typed(right, DOUBLE if function in ("multiply", "divide") else wanted, node.right)
    match function:
        case "add":
            return _sum(left, right)
        case "subtract":
            return _difference(b, left, right, node)
        case "multiply" if right.type == INTERVAL:
            return _scaled("interval_multiply", right, left)
        case "multiply" | "divide":
            return _scaled(f"interval_{function}", left, right)
    return None


def _sum(left: Expression, right: Expression) -> Expression | None:
    kinds = (left.type, right.type)
    if is_temporal(left.type) and right.type == INTERVAL:
        return shifted(left, right)
    if left.type == DATE and is_integer(right.type):
        return call("add_days", left, cast(right, BIGINT), result=DATE)
    if is_integer(left.type) and right.type == DATE:
        return call("add_days", right, cast(left, BIGINT), result=DATE)
    if kinds == (DATE, TIME):
        return call("combine", left, right, result=TIMESTAMP)
    if kinds == (TIME, INTERVAL):
        return call("add_interval_to_time", left, right, result=TIME)
    if kinds == (INTERVAL, INTERVAL):
        return call("interval_add", left, right, result=INTERVAL)
    return None


def _difference(
    b: Binder, left: Expression, right: Expression, node: exp.Binary
) -> Expression | None:
    kinds = (left.type, right.type)
    if right.type == INTERVAL:
        return _sum(left, negated(right))
    if left.type == DATE and is_integer(right.type):
        return call("add_days", left, _negated_days(cast(right, BIGINT)), result=DATE)
    if kinds == (DATE, DATE):
        return call("days_between", left, right, result=INT)
    if kinds == (DATE, TIME):
        return _sum(cast(left, TIMESTAMP), negated(cast(right, INTERVAL)))
    if kinds == (TIME, TIME):
        return call("clock_difference", left, right, result=INTERVAL)
    if is_temporal(left.type) and is_temporal(right.type):
        pair = b.same_type([node.left, node.right], "operator -", [left, right])
        return call("elapsed", *pair, result=INTERVAL)
    return None


def _scaled(function: str, value: Expression, factor: Expression) -> Expression | None:
    if value.type != INTERVAL or not is_number(factor.type):
        return None
    return call(function, value, cast(factor, DOUBLE), result=INTERVAL)


def span(value: Expression) -> Expression:
    """Measures an interval in microseconds, where a month has 30 days and a day 24 hours."""
    if isinstance(value, Call) and value.function == "elapsed":
        return cast(call("micros_between", *value.arguments, result=BIGINT), _SPAN)
    micros = call("interval_span", value, result=_SPAN)
    return computed(micros) if isinstance(value, Literal) else micros


def _negated_days(days: Expression) -> Expression:
    negative = call("negate", days, result=BIGINT)
    return computed(negative) if isinstance(days, Literal) else negative


def extract(b: Binder, node: exp.Extract) -> Bound:
    """Binds `extract(field from …)` of a date, a timestamp, a time or an interval: numeric."""
    value = b.typed(b.bind(node.expression), TIMESTAMP, node.expression)
    field = node.this.name.lower()
    if value.type == DATE and _SYNONYMS.get(field, field) in CLOCK_FIELDS - {"epoch"}:
        raise b.mismatch(f"a date has no {field}", node)
    return _field(b, node, field, value)


def date_part(b: Binder, node: exp.Anonymous) -> Bound:
    """Binds `date_part('field', …)`: as `extract`, but double precision."""
    if len(node.expressions) != 2 or not node.expressions[0].is_string:
        raise b.session.source.unsupported("date_part() of other than a constant field", node)
    field, moment = node.expressions
    value = b.typed(b.bind(moment), TIMESTAMP, moment)
    return cast(_field(b, node, field.name, value), DOUBLE)


def _field(b: Binder, node: exp.Expr, spelled: str, value: Expression) -> Expression:
    """A field of a moment or an interval, an exact number."""
    field = spelled.lower()
    field = _SYNONYMS.get(field, field)
    result = _FRACTIONAL if field in _FRACTIONS else _WHOLE
    if isinstance(value, Call) and value.function == "elapsed" and field == "epoch":
        micros = cast(call("micros_between", *value.arguments, result=BIGINT), _SPAN)
        return call("multiply", micros, _MICROSECOND, result=_FRACTIONAL)
    if value.type == INTERVAL and field in INTERVAL_FIELDS:
        return _extracted("interval_field", field, value, result)
    if value.type == TIME and field in CLOCK_FIELDS:
        return _extracted("clock_field", field, value, result)
    if is_temporal(value.type) and field == "julian":
        return _julian(value)
    if value.type == TIMESTAMPTZ and field in _OF_ZONES:
        there = test("is_not_null", value)
        return Call("case", (there, Literal(0, INT), Literal(None, INT)), INT, value.nullable)
    if not is_temporal(value.type) or field not in _FIELDS | _FRACTIONS:
        raise b.session.source.unsupported(f"extract({field}) of {name(value)}", node)
    given = _FRACTIONAL if field in _FRACTIONS else BIGINT
    return cast(call("extract", Literal(field, TEXT), value, result=given), result)


def _julian(value: Expression) -> Expression:
    """Days since 4714-11-24 BC; of a timestamp with the part of the day that has passed."""
    if value.type == DATE:
        days = cast(call("days_between", value, Literal(_EPOCH, DATE), result=INT), _WHOLE)
        return call("add", days, Literal(Decimal(_JULIAN), _WHOLE), result=_WHOLE)
    day = cast(value, DATE)
    passed = call("micros_between", value, cast(day, value.type), result=BIGINT)
    share = call("divide", cast(passed, _SPAN), Literal(_DAY_MICROS, _SPAN), result=_DAYS)
    return call("add", cast(_julian(day), _DAYS), share, result=_DAYS)


def _extracted(function: str, field: str, value: Expression, result: pa.DataType) -> Expression:
    """A field that comes with six digits after the point."""
    exact = call(function, Literal(field, TEXT), value, result=_FRACTIONAL)
    return cast(exact, result)


def date_trunc(b: Binder, node: exp.TimestampTrunc | exp.DateTrunc) -> Bound:
    """Binds `date_trunc(unit, …)`; a date gives a timestamp with zone."""
    if not isinstance(node.args["unit"], exp.Var):
        raise b.session.source.unsupported("date_trunc() by what is not a constant text", node)
    unit = node.args["unit"].name.lower()
    unit = _SYNONYMS.get(unit, unit)
    moment = b.typed(b.bind(node.this), TIMESTAMP, node.this)
    if moment.type == TIME:
        moment = cast(moment, INTERVAL)
    if moment.type == INTERVAL and unit in INTERVAL_UNITS:
        return call("interval_trunc", Literal(unit, TEXT), moment, result=INTERVAL)
    if not is_temporal(moment.type) or unit not in _UNITS:
        raise b.session.source.unsupported(f"date_trunc({unit!r}) of {name(moment)}", node)
    zone = node.args.get("zone")
    if zone is not None:
        return _trunc_in_zone(b, unit, cast(moment, TIMESTAMPTZ), zone)
    result = TIMESTAMPTZ if moment.type == DATE else moment.type
    return call("date_trunc", Literal(unit, TEXT), moment, result=result)


def _trunc_in_zone(b: Binder, unit: str, moment: Expression, zone: exp.Expr) -> Expression:
    """`date_trunc(unit, moment, zone)`: on the zone's clock; within a day the offset is kept."""
    local = time_zones.shown(b, moment, zone)
    begun = call("date_trunc", Literal(unit, TEXT), local, result=TIMESTAMP)
    if unit in _UNITS_OF_DAY:
        back = call("micros_between", begun, local, result=BIGINT)
        return call("add_micros", moment, back, result=TIMESTAMPTZ)
    return time_zones.shown(b, begun, zone)


def overlaps(b: Binder, node: exp.Overlaps) -> Bound:
    """Binds `(start, end) OVERLAPS (start, end)`, where an end may be a length."""
    sides = [node.this, node.expression]
    if not all(isinstance(s, exp.Tuple) and len(s.expressions) == 2 for s in sides):
        raise b.mismatch("OVERLAPS takes two pairs", node)
    starts = b.same_type([s.expressions[0] for s in sides], "OVERLAPS")
    ends = [_end(b, start, side.expressions[1]) for start, side in zip(starts, sides, strict=True)]
    kind = common_of([x.type for x in (*starts, *ends)])
    if kind is None:
        raise b.mismatch("OVERLAPS takes pairs of one type", node)
    starts, ends = ([cast(x, kind) for x in side] for side in (starts, ends))
    if any(x.nullable for x in (*starts, *ends)):
        raise b.session.source.unsupported("OVERLAPS of what may be NULL; use COALESCE", node)
    low = [call("least", s, e, result=kind) for s, e in zip(starts, ends, strict=True)]
    high = [call("greatest", s, e, result=kind) for s, e in zip(starts, ends, strict=True)]
    return disjunction(
        [
            predicate("eq", low[0], low[1]),
            conjunction([predicate("gt", low[0], low[1]), predicate("lt", low[0], high[1])]),
            conjunction([predicate("lt", low[0], low[1]), predicate("lt", low[1], high[0])]),
        ]
    )


def _end(b: Binder, start: Expression, node: exp.Expr) -> Expression:
    end = b.value(node, start.type)
    return shifted(start, end) if end.type == INTERVAL else end


HANDLERS: dict[type[exp.Expr] | str, Handler] = {
    exp.AtTimeZone: Handler(time_zones.at_time_zone, ("this", "zone")),
    exp.DateTrunc: Handler(date_trunc, ("this", "unit", "zone")),
    exp.Extract: Handler(extract, ("this", "expression")),
    exp.Interval: Handler(intervals.constant, ("this", "unit")),
    exp.Overlaps: Handler(overlaps, ("this", "expression")),
    exp.TimestampTrunc: Handler(date_trunc, ("this", "unit", "zone")),
}
