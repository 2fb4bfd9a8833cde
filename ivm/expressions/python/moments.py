"""Functions of dates, timestamps and times of day that are rarely on a hot path."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pyarrow as pa

from ivm.dataflow.expressions import Call
from ivm.expressions.families import family
from ivm.expressions.python.intervals import MONTH_DAYS, parse_interval, trunc_division
from ivm.expressions.python.script import Script, constant
from ivm.values.calendar import DAY, HOUR, MINUTE, SECOND, checked_days
from ivm.values.templates import formatter, parser
from ivm.values.types import Interval
from ivm.values.zones import ABBREVIATIONS, place

_EPOCH = datetime(1970, 1, 1)
_FIXED = {"utc": 0, "gmt": 0, "z": 0, "zulu": 0, "etc/utc": 0, "etc/gmt": 0, "uct": 0}


def make_date(year: int, month: int, day: int) -> int:
    """A negative year is before Christ; there is no year 0."""
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


def _whole(value: int, unit: int) -> int:
    return trunc_division(value, unit)[0]


def _rest(value: int, unit: int) -> int:
    return trunc_division(value, unit)[1]


def _epoch(value: Interval) -> Decimal:
    """A year has 365.25 days here, and a month beside years 30."""
    years, months = trunc_division(value.months, 12)
    seconds = years * 31_557_600 + (months * MONTH_DAYS + value.days) * 86_400
    return seconds + Decimal(value.micros).scaleb(-6)


INTERVAL_FIELDS: dict[str, Callable[[Interval], int | Decimal]] = {
    "millennium": lambda v: _whole(v.months, 12_000),
    "century": lambda v: _whole(v.months, 1200),
    "decade": lambda v: _whole(v.months, 120),
    "year": lambda v: _whole(v.months, 12),
    "quarter": lambda v: _whole(_rest(v.months, 12), 3) + 1,
    "month": lambda v: _rest(v.months, 12),
    "day": lambda v: v.days,
    "hour": lambda v: _whole(v.micros, HOUR),
    "minute": lambda v: _whole(_rest(v.micros, HOUR), MINUTE),
    "second": lambda v: Decimal(_rest(v.micros, MINUTE)).scaleb(-6),
    "milliseconds": lambda v: Decimal(_rest(v.micros, MINUTE)).scaleb(-3),
    "microseconds": lambda v: _rest(v.micros, MINUTE),
    "epoch": _epoch,
}
CLOCK_FIELDS = frozenset({"hour", "minute", "second", "milliseconds", "microseconds", "epoch"})


def clock_field(call: Call) -> Callable[[int], Decimal]:
    """`extract(field from time)`."""
    part = INTERVAL_FIELDS[str(constant(call, 0))]
    return lambda micros: Decimal(part(Interval(0, 0, micros)))


def truncated(call: Call) -> Callable[[Interval], Interval]:
    """`date_trunc(unit, interval)`."""
    unit = str(constant(call, 0))
    if unit in _MONTHS:
        months = _MONTHS[unit]
        return lambda v: Interval(v.months - _rest(v.months, months), 0, 0)
    if unit == "day":
        return lambda v: Interval(v.months, v.days, 0)
    micros = _MICROS[unit]
    return lambda v: Interval(v.months, v.days, v.micros - _rest(v.micros, micros))


_MONTHS = {
    "millennium": 12_000, "century": 1200, "decade": 120, "year": 12, "quarter": 3, "month": 1,
}  # fmt: skip
_MICROS = {
    "hour": HOUR, "minute": MINUTE, "second": SECOND, "milliseconds": 1000, "microseconds": 1,
}  # fmt: skip
INTERVAL_UNITS = frozenset({*_MONTHS, "day", *_MICROS})


def binned(stride: Interval, micros: int, origin: int) -> int:
    """`date_bin`: the last multiple of `stride` from `origin` on."""
    width = stride.days * DAY + stride.micros
    if stride.months or width <= 0:
        raise ValueError(stride)
    return micros - (micros - origin) % width


def fixed_offset(zone: str) -> int | None:
    """Microseconds east of UTC of an abbreviation or an offset; as POSIX has it, +3 is west."""
    name = zone.strip().lower()
    if name in _FIXED:
        return 0
    if name in ABBREVIATIONS:
        return ABBREVIATIONS[name] * MINUTE
    for prefix in ("utc", "gmt"):
        if name.startswith(prefix) and name[len(prefix) : len(prefix) + 1] in ("+", "-"):
            name = name[len(prefix) :]
    if name[:1] not in ("+", "-"):
        return None
    hours, _, minutes = name[1:].partition(":")
    if not hours.isdigit() or (minutes and not minutes.isdigit()):
        return None
    offset = int(hours) * HOUR + int(minutes or 0) * MINUTE
    return offset if name[0] == "-" else -offset


def known_zone(zone: str) -> bool:
    """Whether a zone is known here."""
    if fixed_offset(zone) is not None:
        return True
    try:
        place(zone)
    except (KeyError, OSError, ValueError):
        return False
    return True


def to_local(call: Call) -> Callable[[int], int]:
    """A timestamp with zone, as the clock shows it in a zone."""
    zone = str(constant(call, 1))
    fixed = fixed_offset(zone)
    if fixed is not None:
        return lambda micros: micros + fixed
    there = place(zone)

    def local(micros: int) -> int:
        moment = (_EPOCH + timedelta(microseconds=micros)).replace(tzinfo=UTC)
        return (moment.astimezone(there).replace(tzinfo=None) - _EPOCH) // timedelta(microseconds=1)

    return local


def from_local(call: Call) -> Callable[[int], int]:
    """What a zone's clock shows, as a timestamp with zone.

    What the clock shows twice is the later; what it skips is counted on from before.
    """
    zone = str(constant(call, 1))
    fixed = fixed_offset(zone)
    if fixed is not None:
        return lambda micros: micros - fixed
    there = place(zone)

    def instant(micros: int) -> int:
        clock = (_EPOCH + timedelta(microseconds=micros)).replace(tzinfo=there)
        first, second = clock.utcoffset(), clock.replace(fold=1).utcoffset()
        assert first is not None
        assert second is not None
        offset = second if first > second else first
        return micros - offset // timedelta(microseconds=1)

    return instant


def _days_first(call: Call, position: int) -> Callable[[int], int]:
    """From the argument's own unit to microseconds."""
    factor = DAY if family(call.arguments[position].type) == "date" else 1
    return lambda value: value * factor


def to_char(call: Call) -> Callable[[int], str]:
    """`to_char(moment, template)`, the template being constant."""
    write = formatter(str(constant(call, 1)))
    unit = _days_first(call, 0)
    return lambda value: write(unit(value))


def to_moment(call: Call) -> Callable[[str], int]:
    """`to_date` or `to_timestamp(text, template)`, the template being constant."""
    read = parser(str(constant(call, 1)))
    if pa.types.is_date32(call.type):
        return lambda text: read(text) // DAY
    return read


CASTS: dict[tuple[str, str], Script] = {
    ("text", "interval"): Script(parse_interval, ("text",)),
    ("time", "interval"): Script(lambda micros: Interval(0, 0, micros), ("time",)),
    ("interval", "time"): Script(lambda value: value.micros % DAY, ("interval",)),
}
SCRIPTS: dict[str, Script] = {
    "make_date": Script(make_date, ("signed", "signed", "signed")),
    "make_time": Script(make_time, ("signed", "signed", "float")),
    "combine": Script(lambda days, micros: days * DAY + micros, ("date", "time")),
    "from_epoch": Script(lambda seconds: round(seconds * SECOND), ("float",)),
    "interval_field": Script(interval_field, ("text", "interval"), made=True, constants=(0,)),
    "clock_field": Script(clock_field, ("text", "time"), made=True, constants=(0,)),
    "interval_trunc": Script(truncated, ("text", "interval"), made=True, constants=(0,)),
    "date_bin": Script(binned, ("interval", "timestamp", "timestamp")),
    "to_local": Script(to_local, ("timestamp", "text"), made=True, constants=(1,)),
    "from_local": Script(from_local, ("timestamp", "text"), made=True, constants=(1,)),
    "to_char": Script(to_char, ("any", "text"), made=True, constants=(1,)),
    "to_moment": Script(to_moment, ("text", "text"), made=True, constants=(1,)),
}
