"""Functions of dates, timestamps and times of day that are rarely on a hot path."""

from collections.abc import Callable
from decimal import Decimal

import pyarrow as pa

from ivm.dataflow.expressions import Call
from ivm.expressions.python.script import Script, constant
from ivm.values.calendar import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    checked_days,
    rounded,
    rounded_timestamp,
)
from ivm.values.interval_fields import INTERVAL_FIELDS, truncation
from ivm.values.interval_text import parse_interval
from ivm.values.types import Interval
from ivm.values.zones import find


def make_date(year: int, month: int, day: int) -> int:
    """Give the days to a date; a negative year is before Christ, and there is no year 0."""
    if year == 0:
        raise ValueError(year)
    return checked_days(year + 1 if year < 0 else year, month, day)


def make_time(hour: int, minute: int, second: float) -> int:
    if not (0 <= hour <= 24 and 0 <= minute <= 59 and 0 <= second <= 60):
        raise ValueError((hour, minute, second))
    micros = hour * HOUR + minute * MINUTE + round(second * SECOND)
    if micros > DAY:
        raise ValueError((hour, minute, second))
    return micros


def interval_field(call: Call) -> Callable[[Interval], Decimal]:
    """`extract(field from interval)`, `field` being constant."""
    part = INTERVAL_FIELDS[str(constant(call, 0))]
    return lambda value: Decimal(part(value))


def clock_field(call: Call) -> Callable[[int], Decimal]:
    """`extract(field from time)`."""
    part = INTERVAL_FIELDS[str(constant(call, 0))]
    return lambda micros: Decimal(part(Interval(0, 0, micros)))


def truncated(call: Call) -> Callable[[Interval], Interval]:
    """`date_trunc(unit, interval)`, `unit` being constant."""
    return truncation(str(constant(call, 0)))


def binned(stride: Interval, micros: int, origin: int) -> int:
    """`date_bin`: the last multiple of `stride` from `origin` on."""
    width = stride.days * DAY + stride.micros
    if stride.months or width <= 0:
        raise ValueError(stride)
    return micros - (micros - origin) % width


def to_local(micros: int, zone: str) -> int:
    """`timestamptz AT TIME ZONE zone`: the time on the zone's clock."""
    return find(zone).local(micros)


def from_local(micros: int, zone: str) -> int:
    """`timestamp AT TIME ZONE zone`: the instant at which the zone's clock shows that time."""
    return find(zone).instant(micros)


def from_clock_of(micros: int, zone: str) -> int:
    """`make_timestamptz(…, zone)`: as `from_local`, but `+3` lies east of UTC."""
    signs = {"+": "-", "-": "+"}
    return find(signs.get(zone[:1], zone[:1]) + zone[1:]).instant(micros)


def to_digits(call: Call) -> Callable[[int], int]:
    """Make the function that rounds a moment to digits of seconds, ties away from 2000-01-01."""
    digits = int(str(constant(call, 1)))
    round_ = rounded_timestamp if pa.types.is_timestamp(call.type) else rounded
    return lambda micros: round_(micros, digits)


CASTS: dict[tuple[str, str], Script] = {
    ("text", "interval"): Script(parse_interval, ("text",)),
    ("time", "interval"): Script(lambda micros: Interval(0, 0, micros), ("time",)),
    ("interval", "time"): Script(lambda value: value.micros % DAY, ("interval",)),
}
SCRIPTS: dict[str, Script] = {
    "to_digits": Script(to_digits, ("any", "signed"), made=True, constants=(1,)),
    "make_date": Script(make_date, ("signed", "signed", "signed")),
    "make_time": Script(make_time, ("signed", "signed", "float")),
    "combine": Script(lambda days, micros: days * DAY + micros, ("date", "time")),
    "from_epoch": Script(lambda seconds: round(seconds * SECOND), ("float",)),
    "interval_field": Script(interval_field, ("text", "interval"), made=True, constants=(0,)),
    "clock_field": Script(clock_field, ("text", "time"), made=True, constants=(0,)),
    "interval_trunc": Script(truncated, ("text", "interval"), made=True, constants=(0,)),
    "date_bin": Script(binned, ("interval", "timestamp", "timestamp")),
    "to_local": Script(to_local, ("timestamp", "text")),
    "from_clock_of": Script(from_clock_of, ("timestamp", "text")),
    "from_local": Script(from_local, ("timestamp", "text")),
}
