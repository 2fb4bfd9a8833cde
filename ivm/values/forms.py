"""Text forms: values are written in PostgreSQL's one form and read in every form that it reads.

Dates are days since 1970-01-01, timestamps microseconds since then, times of day microseconds
since midnight; `ivm.values.moment_text` reads them. Every `parse_` function raises ValueError for a
text that denotes no value.

>>> timestamp_text(1_709_200_800_500_000, "+00")
'2024-02-29 10:00:00.5+00'
"""

import math
import re
import uuid
from decimal import Decimal

from ivm.values.calendar import DAY, SECOND, civil

_INTEGER = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_HEXADECIMAL = re.compile(
    r"\s*[+-]?0x([\da-f]+\.?[\da-f]*|\.[\da-f]+)(p[+-]?\d+)?\s*", re.ASCII | re.IGNORECASE
)
_NO_NUMBER = re.compile(
    r"\s*(?:([+-]?)inf(?:inity)?|[+-]?nan(?:\(\w*\))?)\s*", re.ASCII | re.IGNORECASE
)
_SPACES = " \t\n\r\f\v"
_DOUBLE_DIGITS = 15
_TRUE = ("true", "yes", "on", "1")
_FALSE = ("false", "no", "off", "0")


def date_text(days: int) -> str:
    """Write a date, in days since 1970-01-01: `2024-02-29`, or `0044-03-15 BC`.

    >>> date_text(19_782), date_text(-800_000)
    ('2024-02-29', '0222-09-04 BC')
    """
    year, month, day = civil(days)
    if year > 0:
        return f"{year:04}-{month:02}-{day:02}"
    return f"{1 - year:04}-{month:02}-{day:02} BC"


def time_text(micros: int) -> str:
    """Write a time of day, in microseconds, without zeros at the end of its fraction.

    >>> time_text(36_000_500_000)
    '10:00:00.5'
    """
    seconds, fraction = divmod(micros, SECOND)
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{text}.{fraction:06}".rstrip("0") if fraction else text


def timestamp_text(micros: int, zone: str = "") -> str:
    """Write microseconds since 1970, a zone and an era: `0044-03-15 12:00:00+00 BC`.

    >>> timestamp_text(0, "+00")
    '1970-01-01 00:00:00+00'
    """
    days, rest = divmod(micros, DAY)
    date, _, era = date_text(days).partition(" ")
    return f"{date} {time_text(rest)}{zone}" + (f" {era}" if era else "")


def float_text(value: float, digits_kept: int = _DOUBLE_DIGITS) -> str:
    """Write the shortest digits that read back as the same float.

    From `digits_kept` digits before the point on the text has an exponent: 15 for float64, 6 for
    float32.

    >>> float_text(1e14), float_text(1e15)
    ('100000000000000', '1e+15')
    """
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
    """Read a boolean: true, false, yes, no, on, off, 1, 0, or a prefix that names one of them.

    >>> parse_bool(" T "), parse_bool("of")
    (True, False)
    """
    word = text.strip(_SPACES).lower()
    true = word != "" and any(w.startswith(word) for w in _TRUE)
    false = word != "" and any(w.startswith(word) for w in _FALSE)
    if true == false:
        raise ValueError(text)
    return true


def parse_int(text: str) -> int:
    """Read an integer of any size, in decimal digits.

    >>> parse_int("+0042")
    42
    """
    if not _INTEGER.fullmatch(text):
        raise ValueError(text)
    return int(text)


def parse_decimal(text: str) -> Decimal:
    """Read a decimal exactly, with or without an exponent.

    >>> parse_decimal("1.50e3")
    Decimal('1.50E+3')
    """
    if not _NUMBER.fullmatch(text):
        raise ValueError(text)
    return Decimal(text.strip())


def parse_float(text: str) -> float:
    """Read the nearest float64, as C's strtod does: of decimal and hexadecimal digits.

    Infinity and NaN are floats too; a number beyond all floats is infinite.

    >>> parse_float(" -0x1.8p1 "), parse_float("1e400")
    (-3.0, inf)
    """
    if _NUMBER.fullmatch(text):
        return float(text)
    if _HEXADECIMAL.fullmatch(text):
        try:
            return float.fromhex(text)
        except OverflowError:
            return -math.inf if "-" in text.partition("x")[0] else math.inf
    if found := _NO_NUMBER.fullmatch(text):
        return math.nan if found[1] is None else float(f"{found[1]}inf")
    raise ValueError(text)


def parse_uuid(text: str) -> uuid.UUID:
    """Read a UUID: 32 hexadecimal digits in any case, hyphens after any group of four, braces.

    >>> str(parse_uuid("{A0EEBC999C0B4EF8BB6D6BB9BD380A11}"))
    'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'
    """
    bare = text.strip().lower().removeprefix("{").removesuffix("}")
    if not re.fullmatch(r"(?:[0-9a-f]{4}-?){7}[0-9a-f]{4}", bare):
        raise ValueError(text)
    return uuid.UUID(hex=bare.replace("-", ""))
