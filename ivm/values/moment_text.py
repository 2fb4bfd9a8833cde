"""Dates and times of day read from text, in every form that PostgreSQL reads: month before day.

After `DecodeDateTime` and `DecodeTimeOnly` of PostgreSQL's `datetime.c`. Dates are days since
1970-01-01, timestamps microseconds since then, times of day microseconds since midnight. Every
`parse_` function raises ValueError for a text that denotes no value. No text depends on the time
at which it is read: `now`, `today` and their like are none, nor is `infinity`.

>>> parse_date("Jan 8, 1999") == parse_date("1/8/99") == parse_date("19990108")
True
>>> parse_timestamp("2004-10-19 10:23:54+02", zoned=True) // SECOND
1098174234
"""

import re
from dataclasses import dataclass
from typing import Final

from ivm.values import zones
from ivm.values.calendar import DAY, HOUR, MINUTE, SECOND, checked_days, civil, days_of
from ivm.values.moment_fields import LABELS, MONTHS, WEEKDAYS, Field, Kind, fields

FIRST_DAY = -2_440_588  # of PostgreSQL's calendar: 4713-11-24 BC
LAST_DAY = 2_145_042_905  # 5874897-12-31
_LAST_HOUR_OF_OFFSETS = 15
_HALF_DAY = 12
_LONGEST_INT = 9  # digits that surely fit


class _Given:
    """The parts of a moment that were given, a bit each: none may be given twice."""

    NOTHING: Final = 0
    YEAR: Final = 1
    MONTH: Final = 2
    DAY: Final = 4
    DATE: Final = 7
    DAY_OF_YEAR: Final = 8
    HOUR: Final = 16
    MINUTE: Final = 32
    SECOND: Final = 64
    FRACTION: Final = 128
    SECONDS: Final = 64 | 128
    TIME: Final = 16 | 32 | 64 | 128
    ZONE: Final = 256
    SUMMER: Final = 512
    HALF: Final = 1024
    ERA: Final = 2048
    WEEKDAY: Final = 4096


_OFFSET = re.compile(r"([+-])(\d+)(?::(\d+)(?::(\d+))?)?", re.ASCII)
_CLOCK = re.compile(r"(\d+):(\d*)(?::(\d*))?(\.\d*)?", re.ASCII)
_DATE_PART = re.compile(r"[^a-z\d]*(\d+|[a-z]+).?", re.ASCII)


def parse_date(text: str) -> int:
    """Read a date as days; a time of day may follow and has no effect.

    >>> parse_date("1970-02-01")
    31
    """
    days = _moment(text).date()
    if not FIRST_DAY <= days <= LAST_DAY:
        raise ValueError(text)
    return days


def parse_time(text: str) -> int:
    """Read a time of day as microseconds; a zone may follow and has no effect.

    >>> parse_time("00:00:01.5")
    1500000
    """
    reading = _Reading(fields(text), clock=True)
    reading.read()
    if reading.given & _Given.TIME != _Given.TIME or not 0 <= reading.micros() <= DAY:
        raise ValueError(text)
    if reading.given & _Given.DATE == _Given.DATE:
        reading.date()
    elif isinstance(reading.zone, zones.Place):
        raise ValueError(text)
    return reading.micros()


def parse_timestamp(text: str, zoned: bool) -> int:
    """Read a timestamp as microseconds: in UTC if `zoned`, else of the clock, without its zone.

    >>> parse_timestamp("1970-01-01 01:00+01", zoned=True)
    0
    """
    reading = _moment(text)
    micros = reading.date() * DAY + reading.micros()
    if zoned:
        micros = reading.zone.instant(micros) - reading.summer
    if micros < FIRST_DAY * DAY:
        raise ValueError(text)
    return micros


def _moment(text: str) -> "_Reading":
    reading = _Reading(fields(text))
    reading.read()
    if reading.given & _Given.DATE != _Given.DATE or reading.micros() > DAY:
        raise ValueError(text)
    return reading


def _integer(digits: str) -> int:
    if len(digits) > _LONGEST_INT and int(digits) >= 2**31:
        raise ValueError(digits)
    return int(digits)


def _fraction(digits: str) -> int:
    """The microseconds of `.5`, half to even."""
    return round(float(f"{digits}0") * SECOND)


@dataclass(slots=True)
class _Reading:
    """Reads fields in order: the meaning of a number depends on what was given before it.

    `clock`: the text is a time of day, beside which a date is the exception. `label` is a word that
    says what the next number is, as in `y2001m02d04`; `julian` that the year needs no era.
    """

    left: list[Field]
    clock: bool = False
    at: int = 0
    given: int = _Given.NOTHING
    year: int = 0
    month: int = 0
    day: int = 0
    day_of_year: int = 0
    hour: int = 0
    minute: int = 0
    second: int = 0
    fraction: int = 0
    summer: int = 0
    zone: zones.Zone = zones.UTC
    label: str = ""
    month_in_words: bool = False
    short_year: bool = False
    julian: bool = False
    afternoon: bool | None = None
    before_christ: bool = False

    def read(self) -> None:
        """Read all fields (raises ValueError)."""
        for at, field in enumerate(self.left):
            self.at = at
            match field.kind:
                case Kind.DATE:
                    given = self._date_or_zone(field.text)
                case Kind.TIME:
                    self._expect("", "t")
                    given = self._clock(field.text)
                case Kind.SIGNED:
                    given = self._offset(field.text)
                case Kind.NUMBER:
                    given = self._labelled(field.text) if self.label else self._number(field.text)
                case Kind.WORD:
                    given = self._word(field.text)
            if given & self.given:
                raise ValueError(field.text)
            self.given |= given
        fixed = self.given & _Given.ZONE and isinstance(self.zone, zones.Fixed)
        if self.given & _Given.SUMMER and not fixed:
            raise ValueError("daylight saving of no zone")
        self._correct_year()
        self._correct_hour()

    def date(self) -> int:
        """Count the days to the date that was read (raises ValueError where there is none)."""
        if self.given & _Given.DAY_OF_YEAR:
            return days_of(self.year, 1, 1) + self.day_of_year - 1
        return checked_days(self.year, self.month, self.day)

    def micros(self) -> int:
        """Count the microseconds since midnight (raises ValueError where they are none)."""
        if self.hour > 24 or self.minute > 59 or self.second > 60:
            raise ValueError(self.hour)
        whole = self.hour * HOUR + self.minute * MINUTE + self.second * SECOND
        return whole + self.fraction

    def _correct_year(self) -> None:
        if not self.given & _Given.YEAR or self.julian:
            return
        if self.short_year and not self.before_christ:
            self.year += 2000 if self.year < 70 else 1900 if self.year < 100 else 0
        if self.year <= 0:
            raise ValueError(self.year)
        if self.before_christ:
            self.year = 1 - self.year

    def _correct_hour(self) -> None:
        if self.afternoon is None:
            return
        if self.hour > _HALF_DAY:
            raise ValueError(self.hour)
        self.hour = self.hour % _HALF_DAY + _HALF_DAY * self.afternoon

    def _expect(self, *labels: str) -> None:
        if self.label not in labels:
            raise ValueError(self.label)
        self.label = ""

    def _date_or_zone(self, text: str) -> int:
        """Read `1999-01-08`; after a date, a zone's name or `hhmmss-zone`."""
        if self._awaits_date():
            return self._date(text)
        if text[0].isdigit() or self.label:
            self._expect("", "t")
            digits, sign, offset = text.partition("-")
            if not sign or self.given & _Given.TIME == _Given.TIME:
                raise ValueError(text)
            given = self._offset(sign + offset)
            return given | self._run_together(digits, self.clock)
        self.zone = zones.find(text)
        return _Given.ZONE

    def _awaits_date(self) -> bool:
        if self.clock:
            beside = [field.kind for field in (self.left[1:2] + self.left[-1:])]
            return (
                self.at == 0
                and len(self.left) > 1
                and (beside[0] is Kind.TIME or beside[1] is Kind.DATE)
            )
        return not self.label and self.given & (_Given.MONTH | _Given.DAY) != (
            _Given.MONTH | _Given.DAY
        )

    def _date(self, text: str) -> int:
        """Read numbers and perhaps a month's name, in this order or that."""
        found = list(_DATE_PART.finditer(text))
        if not found or found[-1].end() < len(text):
            raise ValueError(text)
        parts = [match[1] for match in found]
        total = _Given.NOTHING
        words = [part for part in parts if part.isalpha()]
        for word in words:
            self.month = MONTHS.get(word, 0)
            if not self.month:
                raise ValueError(text)
            total = self._once(total, _Given.MONTH)
        for part in parts:
            if part.isdigit():
                total = self._once(total, self._date_number(part, total | self.given, bool(words)))
        if (total | self.given) & ~(_Given.DAY_OF_YEAR | _Given.ZONE) != _Given.DATE:
            raise ValueError(text)
        return total

    def _once(self, total: int, given: int) -> int:
        if given & (total | self.given):
            raise ValueError(given)
        return total | given

    def _date_number(self, text: str, given: int, in_words: bool) -> int:
        """Read a year, a month or a day, which of them being decided by those given before."""
        value, date = _integer(text), given & _Given.DATE
        if len(text) == 3 and date == _Given.YEAR and 1 <= value <= 366:
            self.day_of_year = value
            return _Given.DAY_OF_YEAR | _Given.MONTH | _Given.DAY
        long = len(text) > 2
        match date:
            case _Given.YEAR | _Given.DAY:
                part = _Given.MONTH
            case _Given.MONTH if not in_words or not long:
                part = _Given.DAY
            case _ if date == _Given.NOTHING and not long:
                part = _Given.MONTH
            case _ if date == _Given.YEAR | _Given.MONTH:
                part = _Given.DAY
                if in_words and long and self.short_year:
                    self.year, value, self.short_year = value, self.year, False
            case _ if date == _Given.DATE:
                raise ValueError(text)
            case _:
                part, self.short_year = _Given.YEAR, not long
        self._set(part, value)
        return part

    def _set(self, part: int, value: int) -> None:
        match part:
            case _Given.YEAR:
                self.year = value
            case _Given.MONTH:
                self.month = value
            case _Given.DAY:
                self.day = value
            case _Given.HOUR:
                self.hour = value
            case _Given.MINUTE:
                self.minute = value
            case _Given.SECOND:
                self.second = value

    def _clock(self, text: str) -> int:
        """Read `hh:mm`, `hh:mm:ss` or `mm:ss.fraction`."""
        found = _CLOCK.fullmatch(text)
        if found is None:
            raise ValueError(text)
        numbers = [_integer(digits or "0") for digits in found.groups()[:3] if digits is not None]
        if len(numbers) == 2:
            numbers = [0, *numbers] if found[4] else [*numbers, 0]
        self.hour, self.minute, self.second = numbers
        self.fraction = _fraction(found[4] or ".")
        self.micros()
        return _Given.TIME

    def _offset(self, text: str) -> int:
        """Read `+02`, `-0330` or `+02:30:15`, east of UTC."""
        found = _OFFSET.fullmatch(text)
        if found is None:
            raise ValueError(text)
        hours, minutes, seconds = (_integer(digits or "0") for digits in found.groups()[1:])
        if found[3] is None and len(found[2]) > 2:
            hours, minutes = divmod(hours, 100)
        if hours > _LAST_HOUR_OF_OFFSETS or minutes > 59 or seconds > 59:
            raise ValueError(text)
        micros = hours * HOUR + minutes * MINUTE + seconds * SECOND
        self.zone = zones.Fixed(-micros if found[1] == "-" else micros)
        return _Given.ZONE

    def _number(self, text: str) -> int:
        """Read a number without a label: of a date, or a time whose digits run together."""
        whole, point, _ = text.partition(".")
        date = self.given & _Given.DATE
        if self.clock:
            if point and len(whole) <= 2:
                raise ValueError(text)
            return self._run_together(text, True)
        if point and not date:
            return self._date(text)
        both = date and self.given & _Given.TIME
        if (point and len(whole) > 2) or (not point and len(text) >= 6 and not both):
            return self._run_together(text, False)
        if point:
            self.fraction = _fraction(text[len(whole) :])
            return self._date_number(whole, self.given, self.month_in_words)
        if date == _Given.DATE:
            return self._run_together(text, False)
        return self._date_number(text, self.given, self.month_in_words)

    def _run_together(self, text: str, dated: bool) -> int:
        """Read `yyyymmdd` where no date is given (`dated`: it is), `hhmmss` or `hhmm`."""
        digits, point, fraction = text.partition(".")
        if not digits.isdigit():
            raise ValueError(text)
        whole = dated or self.given & _Given.DATE == _Given.DATE
        if not point and not whole and len(digits) >= 6:
            self.year, self.month = _integer(digits[:-4]), int(digits[-4:-2])
            self.day = int(digits[-2:])
            self.short_year = self.short_year or len(digits) == 6
            return _Given.DATE
        if self.given & _Given.TIME == _Given.TIME or len(digits) not in (4, 6):
            raise ValueError(text)
        if point:
            self.fraction = _fraction(f".{fraction}")
        self.hour, self.minute = int(digits[:2]), int(digits[2:4])
        self.second = int(digits[4:] or 0)
        return _Given.TIME

    def _labelled(self, text: str) -> int:
        """Read a number behind a word that says which part it is."""
        label, self.label = self.label, ""
        digits, point, fraction = text.partition(".")
        if not digits or (point and label not in ("j", "t", "s")):
            raise ValueError(text)
        if label == "t":
            return self._run_together(text, True)
        value = _integer(digits)
        if label == "j":
            return self._julian_day(value, float(f".{fraction}0") if point else None)
        part = _LABELLED[label]
        if label == "m" and self.given & _Given.MONTH and self.given & _Given.HOUR:
            part = _Given.MINUTE
        self._set(part, value)
        if label == "s" and point:
            self.fraction = _fraction(f".{fraction}")
            return _Given.SECONDS
        return part

    def _julian_day(self, number: int, fraction: float | None) -> int:
        self.year, self.month, self.day = civil(number + FIRST_DAY)
        self.julian = True
        if fraction is None:
            return _Given.DATE
        micros = int(fraction * DAY)
        self.hour, micros = divmod(micros, HOUR)
        self.minute, micros = divmod(micros, MINUTE)
        self.second, self.fraction = divmod(micros, SECOND)
        return _Given.DATE | _Given.TIME

    def _word(self, word: str) -> int:
        """Read a zone, the name of a month or a day, or a word of the calendar."""
        if word in zones.ABBREVIATIONS:
            self.zone = zones.find(word)
            return _Given.ZONE
        if word in MONTHS and not self.clock:
            return self._month(MONTHS[word])
        if word in LABELS:
            return self._begin(word)
        match word:
            case "am" | "pm":
                self.afternoon = word == "pm"
                return _Given.HALF
            case "bc" | "ad":
                self.before_christ = word == "bc"
                return _Given.ERA
            case "allballs":
                self.hour = self.minute = self.second = 0
                return _Given.TIME | _Given.ZONE
            case "dst":
                self.summer = HOUR
                return _Given.SUMMER
            case "at" | "on":
                return _Given.NOTHING
            case "epoch" if not self.clock:
                self.year, self.month, self.day = 1970, 1, 1
                return _Given.DATE | _Given.TIME | _Given.ZONE
            case _ if word in WEEKDAYS and not self.clock:
                return _Given.WEEKDAY
        self.zone = zones.find(word)
        return _Given.ZONE

    def _month(self, month: int) -> int:
        """Read a month's name; the number before it was no month but a day."""
        part = _Given.MONTH
        replaced = self.given & (_Given.MONTH | _Given.DAY) == _Given.MONTH
        if replaced and not self.month_in_words and 1 <= self.month <= 31:
            self.day, part = self.month, _Given.DAY
        self.month, self.month_in_words = month, True
        return part

    def _begin(self, label: str) -> int:
        """Note a label for the next field; `t` stands between a date and a time."""
        if label == "t":
            following = [field.kind for field in self.left[self.at + 1 : self.at + 2]]
            dated = self.clock or self.given & _Given.DATE == _Given.DATE
            if not dated or following not in ([Kind.NUMBER], [Kind.TIME], [Kind.DATE]):
                raise ValueError(label)
        self.label = "j" if label in ("jd", "julian") else label
        return _Given.NOTHING


_LABELLED = {
    "y": _Given.YEAR, "m": _Given.MONTH, "d": _Given.DAY, "h": _Given.HOUR, "mm": _Given.MINUTE,
    "s": _Given.SECOND,
}  # fmt: skip
