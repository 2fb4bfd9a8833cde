"""Fields of the text of a date, a time or an interval: the text is cut before it is understood.

After `ParseDateTime` of PostgreSQL's `datetime.c`.

>>> [f"{field.kind.name} {field.text}" for field in fields("Jan 8, 1999 04:05 PM +02")]
['WORD jan', 'NUMBER 8', 'NUMBER 1999', 'TIME 04:05', 'WORD pm', 'SIGNED +02']
"""

import re
from enum import Enum, auto
from typing import NamedTuple


class Kind(Enum):
    """The form of a field: which of them it is may depend on the fields beside it."""

    NUMBER = auto()  # digits, perhaps with a point
    DATE = auto()  # numbers and words joined by - / or .; a zone's name too
    TIME = auto()  # numbers joined by colons
    SIGNED = auto()  # a number, or numbers joined by colons or -, behind a sign
    WORD = auto()


class Field(NamedTuple):
    """A field in lower case, without the spaces around it."""

    kind: Kind
    text: str


# Words of dates beside the names of months, days and zones, which may stand before a digit.
LABELS = frozenset({"d", "h", "j", "jd", "julian", "m", "mm", "s", "y", "t"})
PLAIN_WORDS = frozenset({
    "ad", "allballs", "am", "at", "bc", "dow", "doy", "dst", "epoch", "infinity", "isodow",
    "isoyear", "now", "on", "pm", "today", "tomorrow", "yesterday",
})  # fmt: skip
MONTHS = {
    "jan": 1, "january": 1, "feb": 2, "february": 2, "mar": 3, "march": 3, "apr": 4, "april": 4,
    "may": 5, "jun": 6, "june": 6, "jul": 7, "july": 7, "aug": 8, "august": 8, "sep": 9,
    "sept": 9, "september": 9, "oct": 10, "october": 10, "nov": 11, "november": 11, "dec": 12,
    "december": 12,
}  # fmt: skip
WEEKDAYS = frozenset({
    "sun", "sunday", "mon", "monday", "tue", "tues", "tuesday", "wed", "weds", "wednesday", "thu",
    "thur", "thurs", "thursday", "fri", "friday", "sat", "saturday",
})  # fmt: skip
_KNOWN = LABELS | PLAIN_WORDS | MONTHS.keys() | WEEKDAYS
_MOST = 25

# A word that ends before a digit or a + begins a zone's name, unless it has a meaning by itself.
_FIELD = re.compile(
    r"""(?P<TIME>\d+:[\d:.]*)
    |(?P<NUMBER>\d+\.\d+(?![\d.])|\d+(?![\d./-])|\.\d*)
    |(?P<DATE>\d+([-/.])\d+(?:\4(?:\d|\4)*)?|\d+([-/.])(?:[a-z\d]|\5)*)
    |(?P<NAME>[a-z]+(?:[-/.][-+/_.:a-z\d]*)?)(?P<tail>(?<=[a-z])[+\d][-+/_.:a-z\d]*)?
    |(?P<SIGNED>[+-]\s*\d[\d:.-]*)|(?P<SPECIAL>[+-]\s*[a-z]+)
    |(?P<skipped>[\s!-*,/:-@\[-`{-~]+)""",
    re.A | re.X,
)


def fields(text: str) -> list[Field]:
    """Cut a text into its fields (raises ValueError where there is no such form).

    >>> fields("2024-02-29 12:30")
    [Field(kind=<Kind.DATE: 2>, text='2024-02-29'), Field(kind=<Kind.TIME: 3>, text='12:30')]
    """
    if not text.isascii():
        raise ValueError(text)
    found: list[Field] = []
    rest, at = text.lower(), 0
    while at < len(rest):
        match = _FIELD.match(rest, at)
        if match is None:
            raise ValueError(text)
        at = match.end()
        if match["NAME"] is not None:
            name, tail = match["NAME"], match["tail"] or ""
            if name in _KNOWN:
                at, tail = match.end("NAME"), ""
            whole = name + tail
            found.append(Field(Kind.WORD if whole.isalpha() else Kind.DATE, whole))
        elif match["skipped"] is None:
            kind = match.lastgroup or ""
            bare = "".join(match[0].split())
            found.append(Field(Kind.WORD if kind == "SPECIAL" else Kind[kind], bare))
    if not 1 <= len(found) <= _MOST:
        raise ValueError(text)
    return found
