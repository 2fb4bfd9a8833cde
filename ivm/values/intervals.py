"""Intervals: their text, and arithmetic on their three parts."""

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
_TERM = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))\s*([a-zA-Z]*)\s*")
_CLOCK = re.compile(r"([+-]?)(\d+):(\d{1,2})(?::(\d{1,2}(?:\.\d*)?))?\s*")
_YEAR_MONTH = re.compile(r"([+-]?)(\d+)-(\d+)(?![\d:])\s*")
_ISO_TERM = re.compile(r"([+-]?\d+(?:\.\d*)?)([YMWDHS])")


class _Sum:
    """An interval while its terms are added up; a fraction of a unit goes to the next ones."""

    def __init__(self) -> None:
        self.months = self.days = 0
        self.micros = Decimal(0)
        self.given: set[tuple[int, int]] = set()

    def once(self, *units: str) -> None:
        """Sees that no unit, however it is spelled, is given twice (raises ValueError)."""
        tables = enumerate((_MICROS, _DAYS, _MONTHS, _YEARS))
        sizes = {(i, table[u]) for i, table in tables for u in units if u in table}
        if sizes & self.given:
            raise ValueError(f"{units[0]} twice")
        self.given |= sizes

    def add(self, amount: Decimal, unit: str) -> None:
        """Adds a term (raises ValueError for a unit that there is not)."""
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
        """The sum, turned round where `sign` is -1."""
        micros = int(self.micros.quantize(Decimal(1), ROUND_HALF_EVEN))
        return Interval(sign * self.months, sign * self.days, sign * micros)


def parse_interval(text: str) -> Interval:
    """An interval in PostgreSQL's, SQL's or ISO 8601's form (raises ValueError)."""
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
    """`1Y2M3DT4H5M6S`."""
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
    """PostgreSQL's text: `1 year 2 mons -3 days +04:05:06`."""
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
    """Quotient and remainder with the dividend's sign."""
    quotient = abs(a) // b
    quotient = -quotient if a < 0 else quotient
    return quotient, a - quotient * b


def span(value: Interval) -> int:
    """Microseconds, where a month has 30 days and a day 24 hours."""
    return (value.months * MONTH_DAYS + value.days) * DAY + value.micros


def normal(value: Interval) -> Interval:
    """The interval of the same span whose parts have one sign and are as large as can be."""
    days, micros = trunc_division(span(value), DAY)
    months, days = trunc_division(days, MONTH_DAYS)
    return Interval(months, days, micros)


def add(a: Interval, b: Interval) -> Interval:
    return Interval(a.months + b.months, a.days + b.days, a.micros + b.micros)


def negate(a: Interval) -> Interval:
    return Interval(-a.months, -a.days, -a.micros)


def multiply(value: Interval, factor: float) -> Interval:
    """Each part by `factor`."""
    return _of_parts(value.months * factor, value.days * factor, value.micros * factor)


def divide(value: Interval, divisor: float) -> Interval:
    """Each part by `divisor` (raises ZeroDivisionError)."""
    return _of_parts(value.months / divisor, value.days / divisor, value.micros / divisor)


def _of_parts(months: float, days: float, micros: float) -> Interval:
    """Fractions of a part go to the next ones, as in PostgreSQL's `interval_mul`."""
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
    """To the microsecond."""
    return round(value * 1e6) / 1e6


def justify_hours(value: Interval) -> Interval:
    """Each 24 hours as a day."""
    carried, micros = trunc_division(value.micros, DAY)
    days = value.days + carried
    if days > 0 and micros < 0:
        days, micros = days - 1, micros + DAY
    elif days < 0 and micros > 0:
        days, micros = days + 1, micros - DAY
    return Interval(value.months, days, micros)


def justify_days(value: Interval) -> Interval:
    """Each 30 days as a month."""
    carried, days = trunc_division(value.days, MONTH_DAYS)
    months = value.months + carried
    if months > 0 and days < 0:
        months, days = months - 1, days + MONTH_DAYS
    elif months < 0 and days > 0:
        months, days = months + 1, days - MONTH_DAYS
    return Interval(months, days, value.micros)


def justify_interval(value: Interval) -> Interval:
    """Both, with one sign."""
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
    """The difference of two timestamps: days and the rest."""
    days, micros = trunc_division(later - earlier, DAY)
    return Interval(0, days, micros)


def moved(micros: int, by: Interval) -> int:
    """A timestamp an interval later: months first, then days, then the rest."""
    at = shifted(micros, by.months) if by.months else micros
    return at + by.days * DAY + by.micros


def moved_clock(micros: int, by: Interval) -> int:
    """A time of day an interval later, round the clock."""
    return (micros + by.micros) % DAY


def age(later: int, earlier: int) -> Interval:
    """The difference in years, months, days and so on, as PostgreSQL's `timestamp_age`."""
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
