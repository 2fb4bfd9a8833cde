"""Writes timestamps and intervals by templates, as of `to_char`.

After `DCH_to_char` of PostgreSQL's `formatting.c`, in the locale C and the time zone UTC.

>>> writer("FMDay, DD Mon YYYY HH24:MI")(0)
'Thursday, 01 Jan 1970 00:00'
>>> interval_writer("HH24:MI:SS")(Interval(0, 0, 90_061_000_000))
'25:01:01'
"""

from collections.abc import Callable
from dataclasses import dataclass

from ivm.values.calendar import DAY, HOUR, MINUTE, SECOND, civil, days_of
from ivm.values.intervals import trunc_division
from ivm.values.number_templates import ordinal
from ivm.values.template_tokens import Token, tokens
from ivm.values.types import Interval

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")
_LONGEST = 9
_JULIAN = 2_440_588  # of 1970-01-01
# Patterns that an interval, which is of no day, does not have.
_OF_DAYS = frozenset({
    "AD", "A.D.", "BC", "B.C.", "DAY", "DY", "MONTH", "MON", "D", "ID", "TZ", "TZH", "TZM", "OF",
})  # fmt: skip
# Numbers whose width includes the sign, where they have one.
_SIGN_WITHIN = frozenset({"DD", "DDD", "IDDD", "WW", "IW"})


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a timestamp or an interval, of which each may be negative.

    The year before 1 is 0. `day_of_year` of an interval counts its days, 30 to a month.
    """

    year: int
    month: int
    day: int
    micros: int
    day_of_year: int
    is_interval: bool = False
    zoned: bool = False

    @property
    def days(self) -> int:
        """The days since 1970-01-01."""
        return days_of(self.year, self.month, self.day)

    @property
    def weekday(self) -> int:
        """The day of the week, 0 for Sunday."""
        return (self.days + 4) % 7

    @property
    def iso(self) -> tuple[int, int]:
        """The ISO year and week."""
        thursday = self.days - (self.weekday + 6) % 7 + 3
        year = civil(thursday)[0]
        return year, (thursday - days_of(year, 1, 1)) // 7 + 1

    @property
    def hour(self) -> int:
        return trunc_division(self.micros, HOUR)[0]

    @property
    def minute(self) -> int:
        return trunc_division(trunc_division(self.micros, HOUR)[1], MINUTE)[0]

    @property
    def second(self) -> int:
        return trunc_division(trunc_division(self.micros, MINUTE)[1], SECOND)[0]

    @property
    def fraction(self) -> int:
        return trunc_division(self.micros, SECOND)[1]

    def shown(self, year: int) -> int:
        """The year as it is written: before Christ there is no year 0."""
        return year if self.is_interval or year > 0 else 1 - year


def _of_timestamp(micros: int, zoned: bool) -> Fields:
    days, rest = divmod(micros, DAY)
    year, month, day = civil(days)
    return Fields(year, month, day, rest, days - days_of(year, 1, 1) + 1, zoned=zoned)


def _of_interval(value: Interval) -> Fields:
    year, month = trunc_division(value.months, 12)
    days = value.months * 30 + value.days
    return Fields(year, month, value.days, value.micros, days, is_interval=True)


def writer(template: str, zoned: bool = False) -> Callable[[int], str]:
    """Make the function that writes a timestamp, in microseconds, by a template.

    >>> writer("FMDay, DD Mon YYYY")(0)
    'Thursday, 01 Jan 1970'
    """
    given = tokens(template)
    return lambda micros: _text(given, _of_timestamp(micros, zoned))


def interval_writer(template: str) -> Callable[[Interval], str]:
    """Make the function that writes an interval (raises ValueError for patterns of days).

    >>> interval_writer("HH24:MI")(Interval(0, 0, 90 * 60 * 1_000_000))
    '01:30'
    """
    given = tokens(template)
    for token in given:
        if token.name in _OF_DAYS:
            raise ValueError(f"{token.written} in a template: an interval is of no day")
    return lambda value: _text(given, _of_interval(value))


def _text(given: tuple[Token, ...], fields: Fields) -> str:
    return "".join(_written(token, fields) for token in given)


def _written(token: Token, fields: Fields) -> str:
    name = token.name
    if not name:
        return token.text
    if name in _NUMBERS:
        width, value = _NUMBERS[name]
        number = value(fields)
        text = str(number)
        if not token.bare:
            signed = fields.shown(fields.year) if name.startswith("IY") else number
            text = text.zfill(width + (signed < 0 and name not in _SIGN_WITHIN))
        return text + _suffix(text, token.ordinal)
    return _OTHERS[name](token, fields)


def _suffix(digits: str, like: str) -> str:
    if not like:
        return ""
    suffix = ordinal(digits)
    return suffix if like.islower() else suffix.upper()


def _century(f: Fields) -> int:
    if f.is_interval:
        return trunc_division(f.year, 100)[0]
    return (f.year - 1) // 100 + 1 if f.year > 0 else -(-f.year // 100 + 1)


def _hour12(f: Fields) -> int:
    return trunc_division(f.hour, 12)[1] or 12


def _last_digits(iso: bool, digits: int) -> Callable[[Fields], int]:
    def value(f: Fields) -> int:
        return trunc_division(f.shown(f.iso[0] if iso else f.year), 10**digits)[1]

    return value


_NUMBERS: dict[str, tuple[int, Callable[[Fields], int]]] = {
    "HH24": (2, lambda f: f.hour),
    "HH12": (2, _hour12),
    "HH": (2, _hour12),
    "MI": (2, lambda f: f.minute),
    "SS": (2, lambda f: f.second),
    "SSSSS": (0, lambda f: trunc_division(f.micros, SECOND)[0]),
    "SSSS": (0, lambda f: trunc_division(f.micros, SECOND)[0]),
    "YYYY": (4, lambda f: f.shown(f.year)),
    "YYY": (3, _last_digits(False, 3)),
    "YY": (2, _last_digits(False, 2)),
    "Y": (1, _last_digits(False, 1)),
    "IYYY": (4, lambda f: f.shown(f.iso[0])),
    "IYY": (3, _last_digits(True, 3)),
    "IY": (2, _last_digits(True, 2)),
    "I": (1, _last_digits(True, 1)),
    "MM": (2, lambda f: f.month),
    "DDD": (3, lambda f: f.day_of_year),
    "DD": (2, lambda f: f.day),
    "D": (1, lambda f: f.weekday + 1),
    "ID": (1, lambda f: f.weekday or 7),
    "IDDD": (3, lambda f: (f.iso[1] - 1) * 7 + (f.weekday or 7)),
    "W": (1, lambda f: trunc_division(f.day - 1, 7)[0] + 1),
    "WW": (2, lambda f: trunc_division(f.day_of_year - 1, 7)[0] + 1),
    "IW": (2, lambda f: f.iso[1]),
    "CC": (2, _century),
    "J": (0, lambda f: f.days + _JULIAN),
}


def _fraction(token: Token, f: Fields) -> str:
    """The first digits of the second's fraction; they are not bare."""
    digits = {"MS": 3, "US": 6}.get(token.name) or int(token.name[2:])
    number = trunc_division(f.fraction, 10 ** (6 - digits))[0]
    text = f"{number:0{digits}}"
    return text + _suffix(text, token.ordinal)


def _word(token: Token, f: Fields) -> str:
    month = token.name.startswith("MON")
    whole = MONTHS[f.month - 1] if month else WEEKDAYS[f.weekday]
    text = _cased(whole if token.name in ("MONTH", "DAY") else whole[:3], token.written)
    padded = token.name in ("MONTH", "DAY") and not (token.bare or token.translated)
    return text.ljust(_LONGEST) if padded else text


def _cased(word: str, like: str) -> str:
    """Write a word in the case of its pattern: MONTH, Month or month."""
    if like.islower():
        return word.lower()
    return word.upper() if like.isupper() else word


def _mark(token: Token, f: Fields) -> str:
    if "M" in token.name:
        letter = "P" if trunc_division(f.hour, 24)[1] >= 12 else "A"
    else:
        letter = "B" if f.year <= 0 else "A"
    second = "M" if "M" in token.name else "C" if letter == "B" else "D"
    text = f"{letter}.{second}." if "." in token.name else letter + second
    return text.lower() if token.written.islower() else text


def _roman(token: Token, f: Fields) -> str:
    if not f.month and not f.year:
        return ""
    # A year without months is written as its last month, or its first one if it is negative.
    month = f.month or (12 if f.year >= 0 else 1)
    at = month - 1 if month > 0 else 12 + month
    text = ROMAN[at] if token.bare else ROMAN[at].ljust(4)
    return text.lower() if token.written.islower() else text


def _quarter(token: Token, f: Fields) -> str:
    if not f.month:
        return ""
    text = str(trunc_division(f.month - 1, 3)[0] + 1)
    return text + _suffix(text, token.ordinal)


def _year_with_comma(token: Token, f: Fields) -> str:
    thousands, rest = trunc_division(f.shown(f.year), 1000)
    text = f"{thousands},{rest:03}"
    return text + _suffix(text, token.ordinal)


def _zone(token: Token, f: Fields) -> str:
    if not f.zoned:
        return ""
    return "utc" if token.written.islower() else "UTC"


_OTHERS: dict[str, Callable[[Token, Fields], str]] = {
    **dict.fromkeys(("MS", "US", *(f"FF{n}" for n in range(1, 7))), _fraction),
    **dict.fromkeys(("DAY", "DY", "MONTH", "MON"), _word),
    **dict.fromkeys(("AM", "PM", "A.M.", "P.M.", "AD", "BC", "A.D.", "B.C."), _mark),
    "RM": _roman,
    "Q": _quarter,
    "Y,YYY": _year_with_comma,
    "TZ": _zone,
    "TZH": lambda token, f: "+00",
    "TZM": lambda token, f: "00",
    "OF": lambda token, f: "+0" if token.bare else "+00",
    "FX": lambda token, f: "",
}
