"""Binds functions of dates, times, timestamps and intervals by name."""

from sqlglot import exp

from ivm.dataflow.expressions import Expression, Literal
from ivm.values.types import INTERVAL
from views.errors import UnknownFunction
from views.plan.scalars import call
from views.sql.base.binder import Binder
from views.sql.base.coercion import (
    BIGINT,
    BOOL,
    DATE,
    DOUBLE,
    INT,
    TEXT,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    Bound,
    cast,
)
from views.sql.base.parameters import PARAMETERS, by_place
from views.sql.base.signatures import Signature, Signatures, same_as

_NONE = Literal(0, INT)
_PARTS = PARAMETERS["make_interval"]


def _timestamp(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
    """`make_timestamp(year, month, day, hour, minute, seconds)`."""
    day = call("make_date", *arguments[:3], result=DATE)
    return call("combine", day, call("make_time", *arguments[3:], result=TIME), result=TIMESTAMP)


def _timestamptz(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
    return cast(_timestamp(b, node, arguments), TIMESTAMPTZ)


def _timestamptz_there(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
    """`make_timestamptz(…, zone)`."""
    clock = _timestamp(b, node, arguments[:6])
    return call("from_clock_of", clock, arguments[6], result=TIMESTAMPTZ)


def _interval(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
    """`make_interval(years, months, weeks, days, hours, mins, secs)`."""
    wide = [cast(a, BIGINT) for a in arguments[:6]]

    def times(value: Expression, factor: int) -> Expression:
        return call("multiply", value, Literal(factor, BIGINT), result=BIGINT)

    def plus(x: Expression, y: Expression) -> Expression:
        return call("add", x, y, result=BIGINT)

    years, months, weeks, days, hours, minutes = wide
    micros = plus(times(hours, 3_600_000_000), times(minutes, 60_000_000))
    seconds = call("multiply", arguments[6], Literal(1e6, DOUBLE), result=DOUBLE)
    micros = plus(micros, cast(seconds, BIGINT))
    parts = (plus(times(years, 12), months), plus(times(weeks, 7), days), micros)
    return call("make_interval", *parts, result=INTERVAL)


def make_interval(b: Binder, node: exp.Anonymous) -> Bound:
    """Binds `make_interval` with named arguments, or in order."""
    try:
        placed = by_place("make_interval", node.expressions)
    except ValueError as error:
        raise b.fault(UnknownFunction, str(error), node) from error
    given = {part: argument for part, argument in zip(_PARTS, placed, strict=False) if argument}
    values = [
        b.as_type(given[part], DOUBLE if part == "secs" else INT, part)
        if part in given
        else Literal(0.0, DOUBLE)
        if part == "secs"
        else _NONE
        for part in _PARTS
    ]
    return _interval(b, node, values)


_AGE = (
    Signature((TIMESTAMP, TIMESTAMP), INTERVAL),
    Signature((TIMESTAMPTZ, TIMESTAMPTZ), INTERVAL),
)
_JUSTIFIED = (Signature((INTERVAL,), INTERVAL),)
_CLOCK = (INT, INT, INT, INT, INT, DOUBLE)
FUNCTIONS: Signatures = {
    "age": _AGE,
    "date_bin": (
        Signature((INTERVAL, TIMESTAMP, TIMESTAMP), same_as(1)),
        Signature((INTERVAL, TIMESTAMPTZ, TIMESTAMPTZ), same_as(1)),
    ),
    "isfinite": tuple(
        Signature((kind,), build=lambda b, n, a: call("eq", a[0], a[0], result=BOOL))
        for kind in (DATE, TIMESTAMP, TIMESTAMPTZ, INTERVAL)
    ),
    "justify_days": _JUSTIFIED,
    "justify_hours": _JUSTIFIED,
    "justify_interval": _JUSTIFIED,
    "make_date": (Signature((INT, INT, INT), DATE),),
    "make_time": (Signature((INT, INT, DOUBLE), TIME),),
    "make_timestamp": (Signature(_CLOCK, build=_timestamp),),
    "make_timestamptz": (
        Signature(_CLOCK, build=_timestamptz),
        Signature((*_CLOCK, TEXT), build=_timestamptz_there),
    ),
}
