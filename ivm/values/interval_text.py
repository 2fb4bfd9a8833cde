"""Texts of intervals, read in every form of PostgreSQL's and written in its one form.

After `DecodeInterval`, `DecodeISO8601Interval` and `AdjustIntervalForTypmod` of PostgreSQL.

>>> parse_interval("1 day 2 hours") == parse_interval("1 2:00") == parse_interval("P1DT2H")
True
>>> spelled(parse_interval("1-2", qualifier("YEAR TO MONTH")))
'1 year 2 mons'
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_DOWN, ROUND_HALF_EVEN, Decimal, InvalidOperation
from functools import lru_cache
from typing import Final

from ivm.values.calendar import DAY, HOUR, MINUTE, SECOND, rounded
from ivm.values.intervals import MONTH_DAYS, trunc_division
from ivm.values.moment_fields import Field, Kind, fields
from ivm.values.types import Interval

_DIGITS = 6
_UNITS: Final = ("year", "month", "day", "hour", "minute", "second")
_MICROS = {
    "microsecond": 1, "millisecond": 1000, "second": SECOND, "minute": MINUTE, "hour": HOUR,
}  # fmt: skip
_DAYS = {"day": 1, "week": 7}
_YEARS = {"year": 1, "decade": 10, "century": 100, "millennium": 1000}
_SYNONYMS = {
    "microsecond": "us usec usecs useconds", "millisecond": "ms msec msecs mseconds",
    "second": "s sec secs second seconds", "minute": "m min mins minute minutes",
    "hour": "h hr hrs hour hours", "day": "d day days", "week": "w week weeks",
    "month": "mon mons month months", "year": "y yr yrs year years",
    "decade": "dec decs decade decades", "century": "c cent century centuries",
    "millennium": "mil mils millennia",
}  # fmt: skip
_WORDS = {word: unit for unit, words in _SYNONYMS.items() for word in words.split()}
# Of longer words the first ten letters count.
_LONG_WORDS = {
    "microsecon": "microsecond", "millisecon": "millisecond", "millennium": "millennium",
}  # fmt: skip
_TERM = re.compile(r"([+-]?\d*)(\.\d*)?", re.ASCII)
_YEAR_MONTH = re.compile(r"([+-]?)(\d+)-(\d+)", re.ASCII)
_CLOCK = re.compile(r"([+-]?)(\d+):(\d*)(?::(\d*))?(\.\d*)?", re.ASCII)
_QUALIFIER = re.compile(
    r"(?:(year|month|day|hour|minute|second)(?: to (month|hour|minute|second))?)?"
    r" ?(?:\((\d+)\))?",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Qualifier:
    """The fields of an interval that a type keeps, `first` to `last`, and digits of its seconds.

    A bare number at the end of a text counts units of `last`.
    """

    first: str = "year"
    last: str = "second"
    digits: int | None = None

    @property
    def in_minutes(self) -> bool:
        """Tell whether a clock of two fields has minutes and seconds."""
        return (self.first, self.last) == ("minute", "second")


_ANY = Qualifier()


@lru_cache
def qualifier(text: str) -> Qualifier:
    """Read `YEAR TO MONTH`, `DAY TO SECOND(3)` or `(3)` (raises ValueError).

    >>> qualifier("DAY TO SECOND(3)")
    Qualifier(first='day', last='second', digits=3)
    """
    found = _QUALIFIER.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text} are no fields of an interval")
    first, last = (found[1] or "year").lower(), (found[2] or found[1] or "second").lower()
    months = ("year", "month")
    whole = not found[1]
    if not whole and (first in months) != (last in months):
        raise ValueError(f"{text}: months have no fixed number of days")
    if _UNITS.index(last) < _UNITS.index(first) or (found[2] and first == last):
        raise ValueError(f"{text} are no fields of an interval")
    if found[3] and last != "second":
        raise ValueError(f"{text}: only seconds have digits after the point")
    return Qualifier(first, last, min(int(found[3]), _DIGITS) if found[3] else None)


def fitted(value: Interval, to: Qualifier) -> Interval:
    """Keep the fields of an interval that are not below `last`, and round its seconds.

    >>> fitted(Interval(14, 3, 0), qualifier("YEAR"))
    Interval(months=12, days=0, micros=0)
    """
    months, days, micros = value
    match to.last:
        case "year":
            return Interval(months - trunc_division(months, 12)[1], 0, 0)
        case "month":
            return Interval(months, 0, 0)
        case "day":
            return Interval(months, days, 0)
        case "hour" | "minute":
            return Interval(months, days, micros - trunc_division(micros, _MICROS[to.last])[1])
    return Interval(months, days, micros if to.digits is None else rounded(micros, to.digits))


def parse_interval(text: str, kept: Qualifier = _ANY) -> Interval:
    """Read an interval in the form of PostgreSQL, SQL or ISO 8601 (raises ValueError).

    >>> parse_interval("1 year -3 days 04:05")
    Interval(months=12, days=-3, micros=14700000000)
    """
    try:
        whole = _parse_iso(text) if text.startswith("P") else _parse(fields(text), kept)
    except InvalidOperation as error:
        raise ValueError(text) from error
    return fitted(whole, kept)


class _Sum:
    """Sums the terms of an interval; a fraction of a unit is carried into the smaller ones."""

    def __init__(self) -> None:
        self.months = self.days = self.micros = 0
        self._given: set[str] = set()

    def once(self, units: Iterable[str]) -> None:
        """Raise ValueError if a unit was given before."""
        if not self._given.isdisjoint(units):
            raise ValueError(f"{units} twice")
        self._given.update(units)

    @property
    def is_empty(self) -> bool:
        return not self._given

    def add(self, whole: int, fraction: Decimal, unit: str) -> None:
        """Add a term."""
        if unit in _MICROS:
            self.micros += whole * _MICROS[unit] + _whole_micros(fraction * _MICROS[unit])
        elif unit in _DAYS:
            self.days += whole * _DAYS[unit]
            self._add_days(fraction * _DAYS[unit])
        elif unit == "month":
            self.months += whole
            self._add_days(fraction * MONTH_DAYS)
        else:
            months = (fraction * 12 * _YEARS[unit]).quantize(Decimal(1), ROUND_HALF_EVEN)
            self.months += whole * 12 * _YEARS[unit] + int(months)

    def _add_days(self, days: Decimal) -> None:
        self.days += int(days)
        self.micros += _whole_micros((days - int(days)) * DAY)

    def interval(self, sign: int = 1) -> Interval:
        """Give the sum times `sign` (raises ValueError beyond PostgreSQL's ranges)."""
        parts = Interval(sign * self.months, sign * self.days, sign * self.micros)
        for part, bits in zip(parts, (31, 31, 63), strict=True):
            if not -(1 << bits) <= part < 1 << bits:
                raise ValueError("out of range")
        return parts


def _whole_micros(micros: Decimal) -> int:
    """Round, half towards zero."""
    return int(micros.quantize(Decimal(1), ROUND_HALF_DOWN))


def _parse(given: list[Field], kept: Qualifier) -> Interval:
    """Read the fields from the last to the first: a unit stands behind its number."""
    total, sign = _Sum(), 1
    unit = ""
    for kind, text in reversed(given):
        if kind is Kind.WORD:
            if text == "ago":
                sign = -1
            else:
                unit = _unit(text)
        elif ":" in text:
            total.once(("hour", "minute", "second", "millisecond", "microsecond"))
            total.micros = _clock(text, kept)
            unit = "day"
        elif kind is Kind.DATE and not _YEAR_MONTH.fullmatch(text) and "." not in text:
            raise ValueError(text)
        else:
            unit = _add_number(total, text, unit or kept.last)
    if total.is_empty:
        raise ValueError("no number")
    return total.interval(sign)


def _add_number(total: _Sum, text: str, unit: str) -> str:
    """Add a number of `unit`, or years and months; gives the unit of a number before it."""
    if pair := _YEAR_MONTH.fullmatch(text):
        years, months = int(pair[2]), int(pair[3])
        if months >= 12:
            raise ValueError(text)
        total.once(("month",))
        total.months += (years * 12 + months) * (-1 if pair[1] == "-" else 1)
        return "month"
    found = _TERM.fullmatch(text)
    if found is None or not any(c.isdigit() for c in text):
        raise ValueError(text)
    whole, fraction = _parts(f"{text}0" if found[2] else text)
    fine = unit == "second" and fraction
    total.once((unit, "millisecond", "microsecond") if fine else (unit,))
    total.add(whole, fraction, unit)
    return "day" if unit == "hour" else unit


def _unit(word: str) -> str:
    unit = _WORDS.get(word) or _LONG_WORDS.get(word[:10])
    if unit is None:
        raise ValueError(word)
    return unit


def _clock(text: str, kept: Qualifier) -> int:
    found = _CLOCK.fullmatch(text)
    if found is None:
        raise ValueError(text)
    numbers = [int(digits or 0) for digits in found.groups()[1:4] if digits is not None]
    if len(numbers) == 2:
        numbers = [0, *numbers] if found[5] or kept.in_minutes else [*numbers, 0]
    hours, minutes, seconds = numbers
    if minutes > 59 or seconds > 60:
        raise ValueError(text)
    micros = hours * HOUR + minutes * MINUTE + seconds * SECOND
    micros += round(float(f"{found[5] or '.'}0") * SECOND)
    return -micros if found[1] == "-" else micros


_ISO_NUMBER = r"-?(?:\d+\.?\d*|\.\d+)"
_ISO_TERM = re.compile(rf"({_ISO_NUMBER})([YMWDHS])")
_ISO_DATES = {"Y": "year", "M": "month", "W": "week", "D": "day"}
_ISO_TIMES = {"H": "hour", "M": "minute", "S": "second"}


def _parse_iso(text: str) -> Interval:
    """Read `P1Y2M3DT4H5M6S`, `P0001-02-03T04:05:06` or `P00010203T040506`, of ISO 8601."""
    date, _, time = text[1:].partition("T")
    if len(text) < 2 or "T" in time:
        raise ValueError(text)
    total = _Sum()
    if date:
        _add_iso(total, date, _ISO_DATES, ("year", "month", "day"), "-")
    if time:
        _add_iso(total, time, _ISO_TIMES, ("hour", "minute", "second"), ":")
    return total.interval()


def _add_iso(
    total: _Sum, text: str, designators: dict[str, str], order: tuple[str, ...], separator: str
) -> None:
    """Add the part before T or behind it: numbers with units, or in their order."""
    terms = _ISO_TERM.findall(text)
    if terms and "".join(map("".join, terms)) == text:
        for number, designator in terms:
            if designator not in designators:
                raise ValueError(text)
            total.add(*_parts(number), designators[designator])
        return
    width = 8 if separator == "-" else 6
    if text.isdigit() and len(text) == width:
        numbers = [text[:-4], text[-4:-2], text[-2:]]
    else:
        found = _ISO_NUMBERS[separator].fullmatch(text)
        if found is None or text.find(".") == width:
            raise ValueError(text)
        numbers = [number for number in found.groups() if number is not None]
    for number, unit in zip(numbers, order, strict=False):
        total.add(*_parts(number), unit)


_ISO_NUMBERS = {
    separator: re.compile(f"({_ISO_NUMBER})" + f"(?:{separator}({_ISO_NUMBER})" * 2 + ")?)?")
    for separator in "-:"
}


def _parts(number: str) -> tuple[int, Decimal]:
    """Split a number into its whole part and its fraction, which have one sign.

    >>> _parts("-1.5")
    (-1, Decimal('-0.5'))
    """
    value = Decimal(number)
    return int(value), value - int(value)


def spelled(value: Interval) -> str:
    """Write an interval as PostgreSQL does: `1 year 2 mons -3 days +04:05:06`.

    >>> spelled(Interval(14, -3, 1_500_000))
    '1 year 2 mons -3 days +00:00:01.5'
    """
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
