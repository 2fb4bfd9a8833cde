"""Moments inside JSON paths: what `.datetime()` makes of a text, compared and written.

A date, a time or a timestamp, the last two with a zone or none. Those with and without a zone can
be compared where the zone of the session, UTC, may be used.

>>> text(moment("2017-03-10 12:34:56+03")), text(moment("10.03.2017", "dd.mm.yyyy"))
('2017-03-10T12:34:56+03:00', '2017-03-10')
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from ivm.values.calendar import DAY, HOUR, MINUTE, SECOND, checked_days
from ivm.values.forms import date_text, time_text, timestamp_text
from ivm.values.template_reader import read_whole
from ivm.values.template_tokens import tokens

_ISO = re.compile(
    r"(?:(\d{1,4})-(\d{1,2})-(\d{1,2}))?(?:(?(1)(?:\s+|T)|)"
    r"(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,6}))?(?:([+-])(\d{1,2})(?::(\d{1,2}))?)?)?",
    re.A,
)
_OF_TIME = frozenset({
    "HH", "HH12", "HH24", "MI", "SS", "SSSS", "SSSSS", "MS", "US", "AM", "PM", "A.M.", "P.M.",
    "FF1", "FF2", "FF3", "FF4", "FF5", "FF6",
})  # fmt: skip
_OF_ZONES = frozenset({"TZH", "TZM"})
_CACHED_TEMPLATES = 256


@dataclass(frozen=True, slots=True)
class Moment:
    """Microseconds of the clock it was told by, since the epoch or midnight, and its parts.

    `offset` is what that clock is ahead of UTC, None without a zone.
    """

    clock: int
    dated: bool
    timed: bool
    offset: int | None = None

    @property
    def type(self) -> str:
        """The name of its type, as `.type()` tells it."""
        if not self.timed:
            return "date"
        zone = "without" if self.offset is None else "with"
        return f"{'timestamp' if self.dated else 'time'} {zone} time zone"


def moment(given: str, template: str | None = None) -> Moment:
    """Read a text by a template, or in one of the forms of ISO 8601 (raises ValueError).

    >>> moment("2024-02-29")
    Moment(clock=1709164800000000, dated=True, timed=False, offset=None)
    >>> moment("29.02.2024", "DD.MM.YYYY")
    Moment(clock=1709164800000000, dated=True, timed=False, offset=None)
    """
    if template is not None:
        return _by_template(given, template)
    found = _ISO.fullmatch(given)
    if found is None or not given:
        raise ValueError(given)
    year, month, day, hour, minute, second, part, sign, ahead, more = found.groups()
    days = checked_days(int(year), int(month), int(day)) if year else 0
    if not hour:
        return Moment(days * DAY, True, False)
    if int(hour) > 23 or int(minute) > 59 or int(second) > 59:
        raise ValueError(given)
    clock = days * DAY + int(hour) * HOUR + int(minute) * MINUTE + int(second) * SECOND
    clock += int((part or "0").ljust(6, "0"))
    offset = int(ahead) * HOUR + int(more or 0) * MINUTE if sign else None
    return Moment(clock, bool(year), True, -offset if sign == "-" and offset else offset)


@lru_cache(_CACHED_TEMPLATES)
def _parts(template: str) -> tuple[bool, bool, bool]:
    """Whether a template has a date, a time and a zone."""
    names = {token.name for token in tokens(template)} - {"", "FX"}
    dated, zoned = bool(names - _OF_TIME - _OF_ZONES), bool(names & _OF_ZONES)
    if zoned and not names & _OF_TIME:
        raise ValueError(template)
    return dated, bool(names & _OF_TIME), zoned


def _by_template(given: str, template: str) -> Moment:
    dated, timed, zoned = _parts(template)
    utc, offset = read_whole(template, given)
    clock = utc + offset
    return Moment(clock if dated else clock % DAY, dated, timed, offset if zoned else None)


def compared(a: Moment, b: Moment, zoned: bool) -> int | None:
    """Order two moments: below, at or above 0; None for a date and a time of day.

    `zoned`: UTC may be taken for the zone of one that has none; else that raises ValueError.

    >>> compared(moment("2024-02-29"), moment("2024-03-01"), zoned=False)
    -1
    """
    if a.dated != b.dated:
        return None
    if (a.offset is None) != (b.offset is None) and not zoned:
        raise ValueError(
            f"{a.type} and {b.type} are compared by the functions that end in _tz only"
        )
    one, other = a.clock - (a.offset or 0), b.clock - (b.offset or 0)
    if one == other and not a.dated:
        one, other = -(a.offset or 0), -(b.offset or 0)
    return (one > other) - (one < other)


def text(value: Moment) -> str:
    """Write a moment as a document has it.

    >>> text(moment("29.02.2024", "DD.MM.YYYY"))
    '2024-02-29'
    """
    if not value.timed:
        return date_text(value.clock // DAY)
    whole = timestamp_text(value.clock) if value.dated else time_text(value.clock)
    if value.offset is None:
        return whole.replace(" ", "T", 1)
    minutes = abs(value.offset) // MINUTE
    sign = "-" if value.offset < 0 else "+"
    return f"{whole.replace(' ', 'T', 1)}{sign}{minutes // 60:02}:{minutes % 60:02}"
