"""Intervals have three parts, months, days and microseconds; functions read, write and add them.

Parts are kept apart, since months differ in days, and days in hours where clocks change.
Intervals compare by their span, in which a month has 30 days and a day 24 hours.

>>> spelled(add(parse_interval("1 year 2 mons"), parse_interval("-3 days 04:05")))
'1 year 2 mons -3 days +04:05:00'
>>> span(parse_interval("1 mon")) == span(parse_interval("30 days"))
True
"""

import re
from decimal import ROUND_HALF_EVEN, Decimal
from math import fabs, trunc

from ivm.values.calendar import DAY, HOUR, MINUTE, SECOND, civil, month_days, shifted
from ivm.values.types import Interval

MONTH_DAYS = 30
_MICROS = {
    "microsecond": 1, "us": 1, "usec": 1, "usecond": 1, "millisecond": 1000, "ms": 1000,
    "msec": 1000, "mseconds": 1000, "second": SECOND, "s": SECOND, "sec": SECOND,
    "minute": MINUTE, "m": MINUTE, "min": MINUTE, "hour": HOUR, "h": HOUR, "hr": HOUR,
}  # fmt: skip
_DAYS = {"day": 1, "d": 1, "week": 7, "w": 7}
_MONTHS = {"month": 1, "mon": 1}
_YEARS = {
    "year": 1, "y": 1, "yr": 1, "decade": 10, "dec": 10, "century": 100, "cent": 100, "c": 100,
    "centurie": 100, "millennium": 1000, "mil": 1000, "millennia": 1000,
}  # fmt: skip
_TERM = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))\s*([a-zA-Z]*)\s*", re.ASCII)
_CLOCK = re.compile(r"([+-]?)(\d+):(\d{1,2})(?::(\d{1,2}(?:\.\d*)?))?\s*", re.ASCII)
_YEAR_MONTH = re.compile(r"([+-]?)(\d+)-(\d+)(?![\d:])\s*", re.ASCII)
_ISO_TERM = re.compile(r"([+-]?\d+(?:\.\d*)?)([YMWDHS])", re.ASCII)


class _Sum:
    """Sums the terms of an interval; a fraction of a unit is carried into the smaller ones."""

    def __init__(self) -> None:
        self.months = self.days = 0
        self.micros = Decimal(0)
        self.given: set[tuple[int, int]] = set()

    def once(self, *units: str) -> None:
        """Raise ValueError if a unit was given before, in whatever spelling."""
        tables = enumerate((_MICROS, _DAYS, _MONTHS, _YEARS))
        sizes = {(i, table[u]) for i, table in tables for u in units if u in table}
        if sizes & self.given:
            raise ValueError(f"{units[0]} twice")
        self.given |= sizes

    def add(self, amount: Decimal, unit: str) -> None:
        """Add a term; raises ValueError for an unknown unit."""
        whole = int(amount)
        fraction = amount - whole
        if unit in _MICROS:
            self.micros += amount * _MICROS[unit]
        elif unit in _DAYS:
            self.days += whole * _DAYS[unit]
            self._add_days(fraction * _DAYS[unit])
        elif unit in _MONTHS:
            self.months += whole
            self._add_days(fraction * MONTH_DAYS)
        elif unit in _YEARS:
            part = (fraction * 12 * _YEARS[unit]).quantize(Decimal(1), ROUND_HALF_EVEN)
            self.months += whole * 12 * _YEARS[unit] + int(part)
        else:
            raise ValueError(unit)

    def _add_days(self, days: Decimal) -> None:
        whole = int(days)
        self.days += whole
        self.micros += (days - whole) * DAY

    def interval(self, sign: int) -> Interval:
        """Give the sum times `sign`, rounded to microseconds, half to even."""
        micros = int(self.micros.quantize(Decimal(1), ROUND_HALF_EVEN))
        return Interval(sign * self.months, sign * self.days, sign * micros)


def parse_interval(text: str) -> Interval:
    """Read an interval in the form of PostgreSQL, SQL or ISO 8601 (raises ValueError).

    >>> parse_interval("1 day 2 hours") == parse_interval("1 2:00") == parse_interval("P1DT2H")
    True
    """
    try:
        return _parse(text)
    except ArithmeticError as error:
        raise ValueError(f"{text}: out of range") from error


def _parse(text: str) -> Interval:
    rest = text.strip()
    if rest[:1] in ("P", "p"):
        return _parse_iso(rest[1:].upper(), text)
    total, sign = _Sum(), 1
    rest = rest.removeprefix("@").lstrip()
    if rest.lower().endswith("ago"):
        rest, sign = rest[:-3].rstrip(), -1
    if not rest:
        raise ValueError(text)
    while rest:
        if clock := _CLOCK.match(rest):
            total.once("hour", "minute", "second")
            _add_clock(total, clock)
            rest = rest[clock.end() :]
        elif pair := _YEAR_MONTH.match(rest):
            total.once("year", "month")
            factor = -1 if pair[1] == "-" else 1
            total.months += factor * (int(pair[2]) * 12 + int(pair[3]))
            rest = rest[pair.end() :]
        elif term := _TERM.match(rest):
            rest = rest[term.end() :]
            bare = "day" if rest else "second"
            unit = _unit(term[2]) if term[2] else bare
            total.once(unit)
            total.add(Decimal(term[1]), unit)
        else:
            raise ValueError(text)
    return total.interval(sign)


def _unit(word: str) -> str:
    unit = word.lower()
    return unit if len(unit) <= 2 else unit.removesuffix("s")


def _add_clock(total: _Sum, clock: re.Match[str]) -> None:
    minutes, seconds = int(clock[3]), Decimal(clock[4] or 0)
    if minutes > 59 or seconds >= 61:
        raise ValueError(clock[0])
    micros = int(clock[2]) * HOUR + minutes * MINUTE + seconds * SECOND
    total.micros += -micros if clock[1] == "-" else micros


def _parse_iso(rest: str, text: str) -> Interval:
    """Read `1Y2M3DT4H5M6S`, an interval of ISO 8601 after its P."""
    dates = {"Y": "year", "M": "month", "W": "week", "D": "day"}
    times = {"H": "hour", "M": "minute", "S": "second"}
    total, units = _Sum(), dates
    if not rest or rest == "T":
        raise ValueError(text)
    while rest:
        if rest.startswith("T"):
            units, rest = times, rest[1:]
            continue
        term = _ISO_TERM.match(rest)
        if term is None or term[2] not in units:
            raise ValueError(text)
        total.add(Decimal(term[1]), units[term[2]])
        rest = rest[term.end() :]
    return total.interval(1)


def spelled(value: Interval) -> str:
    """Write an interval as PostgreSQL does: `1 year 2 mons -3 days +04:05:06`."""
    years, months = trunc_division(value.months, 12)
    parts: list[str] = []
    before = False
    for amount, unit in ((years, "year"), (months, "mon"), (value.days, "day")):
        if amount:
            plus = "+" if before and amount > 0 else ""
            parts.append(f"{plus}{amount} {unit}{'' if amount == 1 else 's'}")
            before = amount < 0
    if value.micros or not parts:
        sign = "-" if value.micros < 0 else "+" if before else ""
        seconds, fraction = divmod(abs(value.micros), SECOND)
        clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        shown = f".{fraction:06}".rstrip("0") if fraction else ""
        parts.append(f"{sign}{clock}{shown}")
    return " ".join(parts)


def trunc_division(a: int, b: int) -> tuple[int, int]:
    """Divide towards zero: the quotient, and a remainder with the sign of `a`; `b` is positive."""
    quotient = abs(a) // b
    quotient = -quotient if a < 0 else quotient
    return quotient, a - quotient * b


def span(value: Interval) -> int:
    """Count microseconds, where a month has 30 days and a day 24 hours."""
    return (value.months * MONTH_DAYS + value.days) * DAY + value.micros


def normal(value: Interval) -> Interval:
    """Give the interval of the same span whose larger parts are as large as they can be.

    Its parts have one sign: `span(normal(x)) == span(x)`, and 45 days become 1 month 15 days.
    """
    days, micros = trunc_division(span(value), DAY)
    months, days = trunc_division(days, MONTH_DAYS)
    return Interval(months, days, micros)


def add(a: Interval, b: Interval) -> Interval:
    """Add part by part."""
    return Interval(a.months + b.months, a.days + b.days, a.micros + b.micros)


def negate(a: Interval) -> Interval:
    """Negate each part."""
    return Interval(-a.months, -a.days, -a.micros)


def multiply(value: Interval, factor: float) -> Interval:
    """Multiply each part; fractions are carried into the smaller parts."""
    return _of_parts(value.months * factor, value.days * factor, value.micros * factor)


def divide(value: Interval, divisor: float) -> Interval:
    """Divide each part; fractions are carried into the smaller parts (raises ZeroDivisionError)."""
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
    """Turn each 24 hours into a day."""
    carried, micros = trunc_division(value.micros, DAY)
    days = value.days + carried
    if days > 0 and micros < 0:
        days, micros = days - 1, micros + DAY
    elif days < 0 and micros > 0:
        days, micros = days + 1, micros - DAY
    return Interval(value.months, days, micros)


def justify_days(value: Interval) -> Interval:
    """Turn each 30 days into a month."""
    carried, days = trunc_division(value.days, MONTH_DAYS)
    months = value.months + carried
    if months > 0 and days < 0:
        months, days = months - 1, days + MONTH_DAYS
    elif months < 0 and days > 0:
        months, days = months + 1, days - MONTH_DAYS
    return Interval(months, days, value.micros)


def justify_interval(value: Interval) -> Interval:
    """Turn hours into days and days into months, so that all parts have one sign."""
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
    """Subtract timestamps: whole days, and the rest in microseconds."""
    days, micros = trunc_division(later - earlier, DAY)
    return Interval(0, days, micros)


def moved(micros: int, by: Interval) -> int:
    """Move a timestamp by an interval: by its months first, then its days, then the rest."""
    at = shifted(micros, by.months) if by.months else micros
    return at + by.days * DAY + by.micros


def moved_clock(micros: int, by: Interval) -> int:
    """Move a time of day by an interval's microseconds, modulo 24 hours."""
    return (micros + by.micros) % DAY


def age(later: int, earlier: int) -> Interval:
    """Subtract timestamps field by field of the calendar, as PostgreSQL's `timestamp_age`."""
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
