"""Templates format and parse timestamps, as `to_char`, `to_date` and `to_timestamp` do.

After "Template Patterns for Date/Time Formatting" of PostgreSQL's manual.

>>> read, write = parser("YYYY-MM-DD"), formatter("FMDay, DD FMMonth YYYY")
>>> write(read("2024-02-29"))
'Thursday, 29 February 2024'
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from ivm.errors import Unsupported
from ivm.values.calendar import DAY, HOUR, MINUTE, SECOND, checked_days, civil, days_of

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_LONGEST = 9
_ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")


@dataclass(frozen=True, slots=True)
class Field:
    """A pattern of a template; `bare` (FM): without blanks and zeros; `ordinal`: TH or th."""

    name: str
    bare: bool = False
    ordinal: str = ""


Part = Field | str


@dataclass(frozen=True, slots=True)
class Moment:
    """A timestamp by its fields: days since 1970, the date, and microseconds of the day."""

    days: int
    year: int
    month: int
    day: int
    micros: int

    @property
    def weekday(self) -> int:
        """The day of the week, 0 for Sunday."""
        return (self.days + 4) % 7

    @property
    def day_of_year(self) -> int:
        return self.days - days_of(self.year, 1, 1) + 1

    @property
    def iso(self) -> tuple[int, int]:
        """The ISO year and week."""
        thursday = self.days - (self.weekday + 6) % 7 + 3
        year = civil(thursday)[0]
        return year, (thursday - days_of(year, 1, 1)) // 7 + 1

    @property
    def shown_year(self) -> int:
        """The year as it is written: before Christ there is no year 0."""
        return self.year if self.year > 0 else 1 - self.year

    @property
    def hour(self) -> int:
        return self.micros // HOUR


def _number(width: int, value: Callable[[Moment], int]) -> tuple[int, Callable[[Moment], int]]:
    return width, value


_NUMBERS: dict[str, tuple[int, Callable[[Moment], int]]] = {
    "HH24": _number(2, lambda m: m.hour),
    "HH12": _number(2, lambda m: (m.hour + 11) % 12 + 1),
    "HH": _number(2, lambda m: (m.hour + 11) % 12 + 1),
    "MI": _number(2, lambda m: m.micros // MINUTE % 60),
    "SS": _number(2, lambda m: m.micros // SECOND % 60),
    "MS": _number(3, lambda m: m.micros // 1000 % 1000),
    "US": _number(6, lambda m: m.micros % SECOND),
    "SSSSS": _number(0, lambda m: m.micros // SECOND),
    "SSSS": _number(0, lambda m: m.micros // SECOND),
    **{
        f"FF{n}": _number(n, lambda m, n=n: m.micros % SECOND // 10 ** (6 - n))  # type: ignore[misc]
        for n in range(1, 7)
    },
    "YYYY": _number(4, lambda m: m.shown_year),
    "YYY": _number(3, lambda m: m.shown_year % 1000),
    "YY": _number(2, lambda m: m.shown_year % 100),
    "Y": _number(1, lambda m: m.shown_year % 10),
    "IYYY": _number(4, lambda m: m.iso[0]),
    "IYY": _number(3, lambda m: m.iso[0] % 1000),
    "IY": _number(2, lambda m: m.iso[0] % 100),
    "I": _number(1, lambda m: m.iso[0] % 10),
    "MM": _number(2, lambda m: m.month),
    "DDD": _number(3, lambda m: m.day_of_year),
    "DD": _number(2, lambda m: m.day),
    "D": _number(1, lambda m: m.weekday + 1),
    "ID": _number(1, lambda m: m.weekday or 7),
    "IDDD": _number(3, lambda m: (m.iso[1] - 1) * 7 + (m.weekday or 7)),
    "W": _number(1, lambda m: (m.day - 1) // 7 + 1),
    "WW": _number(2, lambda m: (m.day_of_year - 1) // 7 + 1),
    "IW": _number(2, lambda m: m.iso[1]),
    "CC": _number(2, lambda m: (m.shown_year - 1) // 100 + 1),
    "J": _number(0, lambda m: m.days + 2_440_588),
    "Q": _number(1, lambda m: (m.month - 1) // 3 + 1),
}
_WORDS: dict[str, tuple[bool, Callable[[Moment], str]]] = {
    "MONTH": (True, lambda m: MONTHS[m.month - 1]),
    "MON": (False, lambda m: MONTHS[m.month - 1][:3]),
    "DAY": (True, lambda m: WEEKDAYS[m.weekday]),
    "DY": (False, lambda m: WEEKDAYS[m.weekday][:3]),
}
_MARKS: dict[str, Callable[[Moment], str]] = {
    "AM": lambda m: "AM" if m.hour < 12 else "PM",
    "A.M.": lambda m: "A.M." if m.hour < 12 else "P.M.",
    "BC": lambda m: "BC" if m.year <= 0 else "AD",
    "B.C.": lambda m: "B.C." if m.year <= 0 else "A.D.",
}
_SAME_MARK = {"PM": "AM", "P.M.": "A.M.", "AD": "BC", "A.D.": "B.C."}
_REFUSED = ("TZH", "TZM", "TZ", "OF", "FX", "TM", "Y,YYY")
_NAMES = sorted({*_NUMBERS, *_WORDS, *_MARKS, *_SAME_MARK, *_REFUSED, "RM"}, key=len, reverse=True)
_TOKEN = re.compile(
    r'"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<bare>FM|fm)?(?P<name>'
    + "|".join(re.escape(n) for n in _NAMES)
    + r")(?P<ordinal>TH|th)?|(?P<text>.)",
    re.I | re.S,
)


def parts_of(template: str) -> list[Part]:
    """Split a template into fields and plain texts (raises Unsupported)."""
    parts: list[Part] = []
    for token in _TOKEN.finditer(template):
        name = token["name"]
        if name is None:
            text = token["text"]
            parts.append(re.sub(r"\\(.)", r"\1", token["quoted"]) if text is None else text)
        elif name.upper() in _REFUSED:
            raise Unsupported(f"the pattern {name} in a template")
        else:
            parts.append(Field(name, token["bare"] is not None, token["ordinal"] or ""))
    return parts


def formatter(template: str) -> Callable[[int], str]:
    """Make the function that writes a timestamp, in microseconds, by a template."""
    parts = parts_of(template)

    def write(micros: int) -> str:
        days, rest = divmod(micros, DAY)
        moment = Moment(days, *civil(days), rest)
        return "".join(p if isinstance(p, str) else _written(p, moment) for p in parts)

    return write


def _written(field: Field, moment: Moment) -> str:
    name = field.name.upper()
    if name in _NUMBERS:
        width, value = _NUMBERS[name]
        number = value(moment)
        text = str(number) if field.bare else str(number).zfill(width)
        return text + _ordinal(number, field.ordinal)
    if name in _WORDS:
        padded, word = _WORDS[name]
        text = _cased(word(moment), field.name)
        return text.ljust(_LONGEST) if padded and not field.bare else text
    if name == "RM":
        roman = _ROMAN[moment.month - 1] if field.bare else _ROMAN[moment.month - 1].ljust(4)
        return roman if field.name[0] == "R" else roman.lower()
    mark = _MARKS[_SAME_MARK.get(name, name)](moment)
    return mark if field.name[0].isupper() else mark.lower()


def _cased(word: str, like: str) -> str:
    """Write a word in the case of its pattern: MONTH, Month or month."""
    if like[0].islower():
        return word.lower()
    return word.upper() if like[1].isupper() else word


def _ordinal(number: int, like: str) -> str:
    if not like:
        return ""
    teens = 11 <= number % 100 <= 13
    suffix = "th" if teens else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return suffix if like[0].islower() else suffix.upper()


_DIGITS = re.compile(r"[+-]?\d+", re.ASCII)


@dataclass(slots=True)
class _Reading:
    """The fields that were read so far."""

    year: int | None = None
    month: int = 1
    day: int = 1
    day_of_year: int | None = None
    hour: int = 0
    minute: int = 0
    second: int = 0
    micros: int = 0
    afternoon: bool | None = None
    before_christ: bool = False

    def timestamp(self) -> int:
        """Combine the fields to a timestamp (raises ValueError for a date or time that is none)."""
        year = 1 if self.year is None else self.year
        if self.year is None:
            year = 0  # PostgreSQL's year of none is 1 BC
        elif self.before_christ:
            year = 1 - year
        hour = self.hour
        if self.afternoon is not None:
            if not 1 <= hour <= 12:
                raise ValueError(hour)
            hour = hour % 12 + 12 * self.afternoon
        if hour > 23 or self.minute > 59 or self.second > 59:
            raise ValueError(hour)
        if self.day_of_year is not None:
            days = days_of(year, 1, 1) + self.day_of_year - 1
        else:
            days = checked_days(year, self.month, self.day)
        return days * DAY + hour * HOUR + self.minute * MINUTE + self.second * SECOND + self.micros


_READ = {
    "YYYY": "year", "MM": "month", "DD": "day", "DDD": "day_of_year", "HH24": "hour",
    "HH12": "hour", "HH": "hour", "MI": "minute", "SS": "second",
}  # fmt: skip


def parser(template: str) -> Callable[[str], int]:
    """Make the function that reads a timestamp by a template; that raises ValueError.

    Raises Unsupported for patterns that are only written.
    """
    parts = parts_of(template)
    for part in parts:
        if isinstance(part, Field) and part.name.upper() not in _READABLE:
            raise Unsupported(f"reading the pattern {part.name}")

    def read(text: str) -> int:
        reading, at = _Reading(), 0
        for i, part in enumerate(parts):
            if isinstance(part, Field):
                following = parts[i + 1] if i + 1 < len(parts) else ""
                at = _read_field(reading, part, text, at, isinstance(following, Field))
            elif part.isalnum():
                at += len(part)
            else:
                while at < len(text) and not text[at].isalnum():
                    at += 1
        return reading.timestamp()

    return read


_READABLE = frozenset({
    *_READ, "MS", "US", *(f"FF{n}" for n in range(1, 7)), "MON", "MONTH", "DAY", "DY", "AM", "PM",
    "A.M.", "P.M.", "BC", "AD", "B.C.", "A.D.", "YY", "J",
})  # fmt: skip


def _read_field(reading: _Reading, field: Field, text: str, at: int, adjacent: bool) -> int:
    """Reads one field; `adjacent`: the next one follows at once, so that its width counts."""
    name = field.name.upper()
    while at < len(text) and text[at].isspace():
        at += 1
    if name in ("MON", "MONTH", "DAY", "DY"):
        return _read_word(reading, name, text, at)
    if name in _MARKS or name in _SAME_MARK:
        return _read_mark(reading, name, text, at)
    found = _DIGITS.match(text, at)
    if found is None:
        raise ValueError(text)
    digits = found[0]
    fraction = name in ("MS", "US") or name.startswith("FF")
    width = _NUMBERS[name][0]
    if width and (adjacent or fraction or name != "YYYY") and not field.bare:
        digits = digits[:width]
    if fraction:
        reading.micros = int(digits.ljust(6, "0")[:6])
    elif name == "YY":
        reading.year = int(digits) + (2000 if int(digits) < 70 else 1900)
    elif name == "J":
        year, reading.month, reading.day = civil(int(digits) - 2_440_588)
        reading.year = year
    else:
        setattr(reading, _READ[name], int(digits))
    return at + len(digits)


def _read_word(reading: _Reading, name: str, text: str, at: int) -> int:
    words = WEEKDAYS if name in ("DAY", "DY") else MONTHS
    for i, word in enumerate(words):
        wanted = word if name in ("MONTH", "DAY") else word[:3]
        if text[at : at + len(wanted)].lower() == wanted.lower():
            if words is MONTHS:
                reading.month = i + 1
            return at + len(wanted)
    raise ValueError(text)


def _read_mark(reading: _Reading, name: str, text: str, at: int) -> int:
    mark = text[at : at + len(name)].upper()
    if mark.replace(".", "") in ("AM", "PM"):
        reading.afternoon = mark[0] == "P"
    elif mark.replace(".", "") in ("BC", "AD"):
        reading.before_christ = mark[0] == "B"
    else:
        raise ValueError(text)
    return at + len(name)
