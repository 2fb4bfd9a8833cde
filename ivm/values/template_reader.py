"""Reads timestamps by templates, as of `to_date` and `to_timestamp`.

After `DCH_from_char` and `do_to_timestamp` of PostgreSQL's `formatting.c`.

>>> reader("DD Mon YYYY")("29 feb 2024") // DAY == days_of(2024, 2, 29)
True
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ivm.values.calendar import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    checked_days,
    civil,
    days_of,
    rounded_timestamp,
)
from ivm.values.moment_text import FIRST_DAY
from ivm.values.template_tokens import Token, tokens
from ivm.values.template_writer import MONTHS, ROMAN, WEEKDAYS

_JULIAN = 2_440_588  # of 1970-01-01
_SPACE = " \t\n\v\f\r"
_INTEGER = re.compile(r"[ \t\n\v\f\r]*[+-]?[0-9]+")
_YEAR_WITH_COMMA = re.compile(r"\s*([+-]?[0-9]+),([0-9]{1,3})", re.A)
_ISO = frozenset({"IDDD", "ID", "IW", "IYYY", "IYY", "IY", "I"})
_GREGORIAN = frozenset({
    "DDD", "DD", "D", "MM", "MON", "MONTH", "RM", "WW", "W", "Y,YYY", "YYYY", "YYY", "YY", "Y",
})  # fmt: skip
_ONLY_WRITTEN = frozenset({"TZ", "OF"})
_HOURS_OF_OFFSETS = 15


def reader(template: str) -> Callable[[str], int]:
    """Make the function that reads a timestamp by a template; that raises ValueError.

    Raises ValueError for patterns that are only written, or that belong to different calendars.

    >>> reader("YYYY-MM-DD HH24:MI")("1970-01-01 00:01")
    60000000
    """
    given = tokens(template)
    names = {token.name for token in given}
    if written := names & _ONLY_WRITTEN:
        raise ValueError(f"{min(written)} in a template is only written, not read")
    if names & _ISO and names & _GREGORIAN:
        raise ValueError("a template mixes the calendar of ISO weeks with that of months")
    return lambda text: _Reading(given, text, bool(names & _ISO)).timestamp()


def read_whole(template: str, text: str) -> tuple[int, int]:
    """Read a timestamp, and the offset of its zone, of a text that a template has nothing left of.

    Raises ValueError also for a text that is too short, or goes on behind the template.

    >>> read_whole("YYYY-MM-DD", "1970-01-02")
    (86400000000, 0)
    """
    reader(template)
    given = tokens(template)
    is_iso = bool({token.name for token in given} & _ISO)
    reading = _Reading(given, text, is_iso, strict=True)
    micros = reading.timestamp()
    if reading.at < len(text) or reading.read < len(given):
        raise ValueError(text)
    return micros, reading.offset()


@dataclass(slots=True)
class _Reading:
    """Reads a text token by token; `values` are the fields by name, each given once or equal.

    `skipped` counts characters that were passed over beyond those of the template; FF gives the
    `digits` to which the whole is rounded. `strict`: text stands as in the template. `read` counts
    the tokens for which there was text.
    """

    given: Sequence[Token]
    text: str
    iso: bool
    at: int = 0
    skipped: int = 0
    fixed: bool = False
    values: dict[str, int] = field(default_factory=dict)
    year_digits: int = 0
    digits: int = 0
    half_days: bool = False
    strict: bool = False
    read: int = 0

    def timestamp(self) -> int:
        """Read the text, and combine its fields (raises ValueError)."""
        for i, token in enumerate(self.given):
            if self.at >= len(self.text):
                break
            if not self.fixed and token.name != "FX" and (token.name or i == 0):
                self._skip_spaces()
            if token.name:
                self._field(token, i)
                if not (self.fixed or self.strict):
                    self.skipped = 0
                    self._skip_spaces()
            else:
                self._plain(token)
            self.read = i + 1
        micros = self._combined()
        return rounded_timestamp(micros, self.digits) if self.digits else micros

    def _here(self) -> str:
        return self.text[self.at : self.at + 1]

    def _skip_spaces(self) -> None:
        while self._here() and self._here() in _SPACE:
            self.at += 1
            self.skipped += 1

    def _plain(self, token: Token) -> None:
        """Pass over text: separators match one or none, other characters any, but if strict."""
        if self.strict and self._here() != token.text:
            raise ValueError(self.text)
        if self.strict or self.fixed:
            self.at += 1
        elif token.is_separator:
            here = self._here()
            found = here.isascii() and not here.isalnum()
            self.at += found
            self.skipped += found - 1
        elif self.skipped > 0:
            self.skipped -= 1
        else:
            self.at += 1

    def _set(self, name: str, value: int, meant: int | None = None) -> None:
        """Note a field, which as it was `meant` has another value than is read."""
        if self.values.get(name, 0) not in (0, value):
            raise ValueError(f"{name} twice")
        self.values[name] = value if meant is None else meant

    def _field(self, token: Token, i: int) -> None:
        name = token.name
        if name == "FX":
            self.fixed = True
        elif name in _CHOICES:
            part, words = _CHOICES[name]
            chosen = self._choice(words)
            self._set(part, chosen - (part == "weekday"), chosen)
            self.half_days = self.half_days or part == "pm"
        elif name == "RM":
            self._set("month", ROMAN.index(_ROMAN[self._choice([r.lower() for r in _ROMAN])]) + 1)
        elif name == "Y,YYY":
            found = _YEAR_WITH_COMMA.match(self.text, self.at)
            if found is None:
                raise ValueError(self.text)
            self._set("year", int(found[1]) * 1000 + int(found[2]))
            self.at, self.year_digits = found.end(), 4
        elif name == "TZH":
            self._hours_of_zone(i)
        else:
            self._numeric(token, i)
        if token.ordinal and token.is_number and name != "TZM":
            self.at += 2

    def _choice(self, words: Sequence[str]) -> int:
        for i, word in enumerate(words):
            if self.text[self.at : self.at + len(word)].lower() == word:
                self.at += len(word)
                return i
        raise ValueError(self.text)

    def _hours_of_zone(self, i: int) -> None:
        sign = 1
        if self._here() in ("+", "-", " "):
            sign = -1 if self._here() == "-" else 1
            self.at += 1
        elif self.skipped > 0 and self.text[self.at - 1] == "-":
            sign = -1
        self.values["zone"] = sign
        self._set("zone_hours", self._integer(2, i)[0])

    def _numeric(self, token: Token, i: int) -> None:
        name = token.name
        if name in _FRACTIONS:
            part, width = _FRACTIONS[name]
            value, digits = self._integer(width, i)
            whole = 3 if part == "ms" else 6
            self.digits = width if name.startswith("FF") else self.digits
            self._set(part, value, value * 10 ** max(whole - digits, 0))
            return
        value, digits = self._integer(_WIDTHS.get(name, len(name)), i)
        part, meant = _PARTS[name], value
        if part == "year":
            self.year_digits = len(name)
            meant = _near_2020(value) if len(name) < 4 and digits < 4 else value
        elif name == "ID":
            meant = value + 1 if value < 7 else 1
        elif name == "TZM":
            self.values.setdefault("zone", 1)
        if name in ("HH", "HH12"):
            self.half_days = True
        if part:
            self._set(part, value, meant)

    def _integer(self, width: int, i: int) -> tuple[int, int]:
        """Read an integer: all its digits, or `width` of them where others follow at once."""
        begun = self.at
        following = self.given[i + 1] if i + 1 < len(self.given) else None
        token = self.given[i]
        alone = following is None or not following.is_number
        if token.bare or token.ordinal or alone:
            found = _INTEGER.match(self.text, self.at)
        else:
            self._skip_spaces()
            part = self.text[self.at : self.at + width]
            found = _INTEGER.match(self.text, self.at, self.at + width)
            if len(part) < width or (found and found.end() - self.at < width):
                raise ValueError(self.text)
        if found is None:
            raise ValueError(self.text)
        self.at = found.end()
        value = int(found[0])
        if abs(value) >= 2**31:
            raise ValueError(self.text)
        return value, self.at - begun

    def _combined(self) -> int:
        year = self._year()
        days = self._days(year)
        if days < FIRST_DAY:
            raise ValueError(self.text)
        get = self.values.get
        seconds = get("of_day", 0)
        hour, minute, second = seconds // 3600, seconds // 60 % 60, seconds % 60
        hour, minute = get("hour", 0) or hour, get("minute", 0) or minute
        second = get("second", 0) or second
        if self.half_days:
            if not 1 <= hour <= 12:
                raise ValueError(hour)
            hour = hour % 12 + 12 * get("pm", 0)
        fraction = get("ms", 0) * 1000 + get("us", 0)
        within = 0 <= hour <= 23 and 0 <= minute <= 59 and 0 <= second <= 59
        if not within or not 0 <= fraction < SECOND:
            raise ValueError(self.text)
        micros = hour * HOUR + minute * MINUTE + second * SECOND + fraction
        return days * DAY + micros - self.offset()

    def offset(self) -> int:
        """Give what the zone that was read is ahead of UTC."""
        hours, minutes = (self.values.get(part, 0) for part in ("zone_hours", "zone_minutes"))
        if not 0 <= hours <= _HOURS_OF_OFFSETS or not 0 <= minutes <= 59:
            raise ValueError(self.text)
        return self.values.get("zone", 1) * (hours * HOUR + minutes * MINUTE)

    def _year(self) -> int:
        """The year, in which 0 is 1 BC; 0 where none is given, as PostgreSQL has it."""
        get = self.values.get
        year, century = get("year", 0), get("century", 0)
        if get("bc"):
            century = -century
        if year and century and self.year_digits <= 2:
            rest = year % 100
            if not rest:
                return century * 100 + (century < 0)
            if century >= 0:
                return rest + (century - 1) * 100
            return (century + 1) * 100 - rest + 1
        if year:
            year = -year if get("bc") else year
            return year + 1 if year < 0 else year
        if century:
            return (century - 1) * 100 + 1 if century >= 0 else century * 100 + 1
        return 0

    def _days(self, year: int) -> int:
        """Count the days to the date, whose later parts stand for earlier ones."""
        get = self.values.get
        month = day = 1
        if julian := get("julian", 0):
            year, month, day = civil(julian - _JULIAN)
        day_of_year, week = get("day_of_year", 0), get("week", 0)
        if week and self.iso:
            weekday = (get("weekday", 0) or 2) + 5
            year, month, day = civil(_iso_begin(year) + (week - 1) * 7 + weekday % 7)
        elif week:
            day_of_year = (week - 1) * 7 + 1
        if week_of_month := get("week_of_month", 0):
            day = (week_of_month - 1) * 7 + 1
        elif get("day", 0):
            day = get("day", 0)
        month = get("month", 0) or month
        if day_of_year and (month <= 1 or day <= 1):
            if not year and not get("bc"):
                raise ValueError("a day of a year that is not given")
            return self._day_of_year(year, month, day, day_of_year)
        return checked_days(year, month, day)

    def _day_of_year(self, year: int, month: int, day: int, number: int) -> int:
        """Count the days to a day of the year; a month or a day that is given counts more."""
        if self.iso:
            return _iso_begin(year) + number - 1
        if not 1 <= number <= days_of(year + 1, 1, 1) - days_of(year, 1, 1):
            raise ValueError(number)
        _, its_month, its_day = civil(days_of(year, 1, 1) + number - 1)
        if month <= 1:
            month = its_month
        return checked_days(year, month, its_day if day <= 1 else day)


def _iso_begin(year: int) -> int:
    """The Monday of the ISO week that holds 4 January."""
    fourth = days_of(year, 1, 4)
    return fourth - (fourth + 3) % 7


def _near_2020(year: int) -> int:
    """Complete a year of up to three digits."""
    if year < 70 or 100 <= year < 520:
        return year + 2000
    if year < 100:
        return year + 1900
    return year + 1000 if year < 1000 else year


_NONE = "\0"  # stands for the number 0, which no month and no day has
_ROMAN = sorted(ROMAN, key=len, reverse=True)
_CHOICES: dict[str, tuple[str, Sequence[str]]] = {
    **dict.fromkeys(("AM", "PM"), ("pm", ("am", "pm"))),
    **dict.fromkeys(("A.M.", "P.M."), ("pm", ("a.m.", "p.m."))),
    **dict.fromkeys(("AD", "BC"), ("bc", ("ad", "bc"))),
    **dict.fromkeys(("A.D.", "B.C."), ("bc", ("a.d.", "b.c."))),
    "MONTH": ("month", (_NONE, *(month.lower() for month in MONTHS))),
    "MON": ("month", (_NONE, *(month[:3].lower() for month in MONTHS))),
    "DAY": ("weekday", (_NONE, *(day.lower() for day in WEEKDAYS))),
    "DY": ("weekday", (_NONE, *(day[:3].lower() for day in WEEKDAYS))),
}
_FRACTIONS = {"MS": ("ms", 3), "US": ("us", 6), **{f"FF{n}": ("us", n) for n in range(1, 7)}}
_WIDTHS = {"HH24": 2, "HH12": 2, "IDDD": 3, "ID": 1, "TZM": 2}
_PARTS = {
    "YYYY": "year", "YYY": "year", "YY": "year", "Y": "year", "IYYY": "year", "IYY": "year",
    "IY": "year", "I": "year", "MM": "month", "DD": "day", "DDD": "day_of_year",
    "IDDD": "day_of_year", "D": "weekday", "ID": "weekday", "HH24": "hour", "HH12": "hour",
    "HH": "hour", "MI": "minute", "SS": "second", "SSSS": "of_day", "SSSSS": "of_day",
    "WW": "week", "IW": "week", "W": "week_of_month", "Q": "", "CC": "century", "J": "julian",
    "TZM": "zone_minutes",
}  # fmt: skip
