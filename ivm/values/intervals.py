"""Intervals have three parts, months, days and microseconds; functions add and scale them.

Parts are kept apart, since months differ in days, and days in hours where clocks change.
Intervals compare by their span, in which a month has 30 days and a day 24 hours.

>>> add(Interval(14, 0, 0), Interval(0, -3, 5 * DAY))
Interval(months=14, days=-3, micros=432000000000)
>>> span(Interval(1, 0, 0)) == span(Interval(0, 30, 0))
True
"""

from math import fabs, trunc

from ivm.values.calendar import DAY, SECOND, civil, month_days, shifted
from ivm.values.types import Interval

MONTH_DAYS = 30


def trunc_division(a: int, b: int) -> tuple[int, int]:
    """Divide towards zero: the quotient, and a remainder with the sign of `a`; `b` is positive.

    >>> trunc_division(-7, 2)
    (-3, -1)
    """
    quotient = abs(a) // b
    quotient = -quotient if a < 0 else quotient
    return quotient, a - quotient * b


def span(value: Interval) -> int:
    """Count microseconds, where a month has 30 days and a day 24 hours.

    >>> span(Interval(0, 1, 5)) - DAY
    5
    """
    return (value.months * MONTH_DAYS + value.days) * DAY + value.micros


def normal(value: Interval) -> Interval:
    """Give the interval of the same span whose larger parts are as large as they can be.

    Its parts have one sign: `span(normal(x)) == span(x)`, and 45 days become 1 month 15 days.

    >>> normal(Interval(0, 45, 0))
    Interval(months=1, days=15, micros=0)
    """
    days, micros = trunc_division(span(value), DAY)
    months, days = trunc_division(days, MONTH_DAYS)
    return Interval(months, days, micros)


def add(a: Interval, b: Interval) -> Interval:
    """Add part by part.

    >>> add(Interval(1, 2, 0), Interval(0, 3, 500))
    Interval(months=1, days=5, micros=500)
    """
    return Interval(a.months + b.months, a.days + b.days, a.micros + b.micros)


def negate(a: Interval) -> Interval:
    """Negate each part.

    >>> negate(Interval(1, -2, 3))
    Interval(months=-1, days=2, micros=-3)
    """
    return Interval(-a.months, -a.days, -a.micros)


def multiply(value: Interval, factor: float) -> Interval:
    """Multiply each part; fractions are carried into the smaller parts.

    >>> multiply(Interval(1, 0, 0), 1.5)
    Interval(months=1, days=15, micros=0)
    """
    return _of_parts(value.months * factor, value.days * factor, value.micros * factor)


def divide(value: Interval, divisor: float) -> Interval:
    """Divide each part; fractions are carried into the smaller parts (raises ZeroDivisionError).

    >>> divide(Interval(1, 1, 0), 2)
    Interval(months=0, days=15, micros=43200000000)
    """
    return _of_parts(value.months / divisor, value.days / divisor, value.micros / divisor)


def _of_parts(months: float, days: float, micros: float) -> Interval:
    """Carry fractions of a part into the next smaller ones, as PostgreSQL's `interval_mul`."""
    whole_months, whole_days = trunc(months), trunc(days)
    of_month = _rounded((months - whole_months) * MONTH_DAYS)
    seconds = _rounded((days - whole_days + of_month - trunc(of_month)) * 86_400)
    if fabs(seconds) >= 86_400:
        carried = trunc(seconds / 86_400)
        whole_days += carried
        seconds -= carried * 86_400
    whole_days += trunc(of_month)
    return Interval(whole_months, whole_days, round(micros + seconds * SECOND))


def _rounded(value: float) -> float:
    """Round to six digits after the point, those of a microsecond."""
    return round(value * 1e6) / 1e6


def justify_hours(value: Interval) -> Interval:
    """Turn each 24 hours into a day.

    >>> justify_hours(Interval(0, 0, 3 * DAY + 5))
    Interval(months=0, days=3, micros=5)
    """
    carried, micros = trunc_division(value.micros, DAY)
    days = value.days + carried
    if days > 0 and micros < 0:
        days, micros = days - 1, micros + DAY
    elif days < 0 and micros > 0:
        days, micros = days + 1, micros - DAY
    return Interval(value.months, days, micros)


def justify_days(value: Interval) -> Interval:
    """Turn each 30 days into a month.

    >>> justify_days(Interval(0, 65, 0))
    Interval(months=2, days=5, micros=0)
    """
    carried, days = trunc_division(value.days, MONTH_DAYS)
    months = value.months + carried
    if months > 0 and days < 0:
        months, days = months - 1, days + MONTH_DAYS
    elif months < 0 and days > 0:
        months, days = months + 1, days - MONTH_DAYS
    return Interval(months, days, value.micros)


def justify_interval(value: Interval) -> Interval:
    """Turn hours into days and days into months, so that all parts have one sign.

    >>> justify_interval(Interval(1, 0, -1))
    Interval(months=0, days=29, micros=86399999999)
    """
    carried, micros = trunc_division(value.micros, DAY)
    more, days = trunc_division(value.days + carried, MONTH_DAYS)
    months = value.months + more
    if months > 0 and (days < 0 or (days == 0 and micros < 0)):
        months, days = months - 1, days + MONTH_DAYS
    elif months < 0 and (days > 0 or (days == 0 and micros > 0)):
        months, days = months + 1, days - MONTH_DAYS
    if days > 0 and micros < 0:
        days, micros = days - 1, micros + DAY
    elif days < 0 and micros > 0:
        days, micros = days + 1, micros - DAY
    return Interval(months, days, micros)


def elapsed(later: int, earlier: int) -> Interval:
    """Subtract timestamps, in microseconds: whole days, and the rest.

    >>> elapsed(3 * DAY + 5, 0)
    Interval(months=0, days=3, micros=5)
    """
    days, micros = trunc_division(later - earlier, DAY)
    return Interval(0, days, micros)


def moved(micros: int, by: Interval) -> int:
    """Move a timestamp, in microseconds, by an interval: first its months, then days, and the rest.

    >>> moved(0, Interval(1, 1, 0)) // DAY
    32
    """
    at = shifted(micros, by.months) if by.months else micros
    return at + by.days * DAY + by.micros


def moved_clock(micros: int, by: Interval) -> int:
    """Move a time of day, in microseconds, by an interval's microseconds, modulo 24 hours.

    >>> moved_clock(23 * 3_600 * SECOND, Interval(0, 0, 2 * 3_600 * SECOND)) // SECOND
    3600
    """
    return (micros + by.micros) % DAY


def age(later: int, earlier: int) -> Interval:
    """Subtract timestamps, in microseconds, field by field, as PostgreSQL's `timestamp_age`.

    >>> age(35 * DAY, 0)
    Interval(months=1, days=4, micros=0)
    """
    if later < earlier:
        return negate(age(earlier, later))
    (days, micros), (other_days, other_micros) = divmod(later, DAY), divmod(earlier, DAY)
    (year, month, day), (y, m, d) = civil(days), civil(other_days)
    months, days, micros = (year - y) * 12 + month - m, day - d, micros - other_micros
    if micros < 0:
        days, micros = days - 1, micros + DAY
    if days < 0:
        months, days = months - 1, days + month_days(y, m)
    return Interval(months, days, micros)
