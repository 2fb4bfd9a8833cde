"""Texts of values, in PostgreSQL's forms: written in one, read in any that it reads."""

import math
import re
import uuid
from decimal import Decimal

from ivm.values.calendar import DAY, HOUR, MINUTE, SECOND, checked_days, civil

_DATE = re.compile(r"\s*(\d{1,6})-(\d{1,2})-(\d{1,2})\s*")
_TIME = re.compile(r"\s*(\d{1,2}):(\d{2})(?::(\d{2})(\.\d{1,6}\d*)?)?\s*")
_ZONE = re.compile(r"\s*(?:(Z|UTC)|([+-])(\d{1,2}):?(\d{2})?)?\s*", re.I)
_INTEGER = re.compile(r"\s*[+-]?\d+\s*")
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
_DOUBLE_DIGITS = 15
_TRUE = ("true", "yes", "on", "1")
_FALSE = ("false", "no", "off", "0")


def date_text(days: int) -> str:
    year, month, day = civil(days)
    if year > 0:
        return f"{year:04}-{month:02}-{day:02}"
    return f"{1 - year:04}-{month:02}-{day:02} BC"


def time_text(micros: int) -> str:
    seconds, fraction = divmod(micros, SECOND)
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{text}.{fraction:06}".rstrip("0") if fraction else text


def timestamp_text(micros: int, zone: str = "") -> str:
    days, rest = divmod(micros, DAY)
    date, _, era = date_text(days).partition(" ")
    return f"{date} {time_text(rest)}{zone}" + (f" {era}" if era else "")


def float_text(value: float, digits_kept: int = _DOUBLE_DIGITS) -> str:
    """The shortest digits that read back as the same value; those kept are of its type."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    exact = Decimal(repr(value)).normalize()
    sign, digits, _ = exact.as_tuple()
    scientific = exact.adjusted()
    if not value or -4 <= scientific < digits_kept:
        return f"{exact:f}"
    head = str(digits[0]) + ("." + "".join(map(str, digits[1:])) if len(digits) > 1 else "")
    return f"{'-' if sign else ''}{head}e{'+' if scientific >= 0 else '-'}{abs(scientific):02}"


def parse_bool(text: str) -> bool:
    word = text.strip().lower()
    true = word != "" and any(w.startswith(word) for w in _TRUE)
    false = word != "" and any(w.startswith(word) for w in _FALSE)
    if true == false:
        raise ValueError(text)
    return true


def parse_int(text: str) -> int:
    if not _INTEGER.fullmatch(text):
        raise ValueError(text)
    return int(text)


def parse_decimal(text: str) -> Decimal:
    if not _NUMBER.fullmatch(text):
        raise ValueError(text)
    return Decimal(text.strip())


def parse_float(text: str) -> float:
    if "_" in text:
        raise ValueError(text)
    return float(text)


def parse_date(text: str) -> int:
    """Days; a time of day may follow, and has no effect."""
    return parse_timestamp(text, zoned=False) // DAY


def parse_time(text: str) -> int:
    """Microseconds; a zone may follow, and has no effect."""
    found = _TIME.match(text)
    if found is None or not _ZONE.fullmatch(text[found.end() :]):
        raise ValueError(text)
    return _micros(found, text)


def _micros(found: re.Match[str], text: str) -> int:
    hour, minute, second = int(found[1]), int(found[2]), int(found[3] or 0)
    if hour > 24 or minute > 59 or second > 60 or (hour == 24 and (minute or second)):
        raise ValueError(text)
    fraction = round(Decimal(found[4] or 0) * SECOND)
    return hour * HOUR + minute * MINUTE + second * SECOND + fraction


def parse_timestamp(text: str, zoned: bool) -> int:
    """Microseconds, of UTC where `zoned`; a zone is read over where not."""
    rest = text.strip()
    before_christ = rest.upper().endswith(" BC")
    if before_christ:
        rest = rest[:-3]
    date = _DATE.match(rest)
    if date is None:
        raise ValueError(text)
    year = 1 - int(date[1]) if before_christ else int(date[1])
    if year == 0 and not before_christ:
        raise ValueError(text)
    micros = checked_days(year, int(date[2]), int(date[3])) * DAY
    rest = rest[date.end() :].removeprefix("T")
    time = _TIME.match(rest)
    if time is not None:
        micros += _micros(time, text)
        rest = rest[time.end() :]
    zone = _ZONE.fullmatch(rest)
    if zone is None:
        raise ValueError(text)
    if zoned and zone[2]:
        offset = int(zone[3]) * HOUR + int(zone[4] or 0) * MINUTE
        micros -= -offset if zone[2] == "-" else offset
    return micros


def parse_uuid(text: str) -> uuid.UUID:
    bare = text.strip().lower().removeprefix("{").removesuffix("}")
    if not re.fullmatch(r"(?:[0-9a-f]{4}-?){7}[0-9a-f]{4}", bare):
        raise ValueError(text)
    return uuid.UUID(hex=bare.replace("-", ""))
