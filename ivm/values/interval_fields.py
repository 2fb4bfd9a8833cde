"""Interval fields: `extract` reads one of them, and `date_trunc` keeps the larger ones.

>>> INTERVAL_FIELDS["epoch"](Interval(months=0, days=1, micros=500_000))
Decimal('86400.500000')
"""

from collections.abc import Callable
from decimal import Decimal

from ivm.values.calendar import HOUR, MINUTE, SECOND
from ivm.values.intervals import MONTH_DAYS, trunc_division
from ivm.values.types import Interval


def _whole(value: int, unit: int) -> int:
    return trunc_division(value, unit)[0]


def _rest(value: int, unit: int) -> int:
    return trunc_division(value, unit)[1]


def _epoch(value: Interval) -> Decimal:
    """Count seconds, where a year has 365.25 days and a month beside whole years 30 days."""
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


def truncation(unit: str) -> Callable[[Interval], Interval]:
    """Make the function that sets the parts of an interval below `unit` to zero (raises KeyError).

    >>> truncation("hour")(Interval(1, 2, 3 * HOUR + 4 * MINUTE))
    Interval(months=1, days=2, micros=10800000000)
    """
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
