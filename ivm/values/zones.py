"""Time zones are found by an abbreviation, a fixed offset, or a name in any case.

A zone converts between clocks and instants, both in microseconds since 1970.

>>> find("EST")
Fixed(offset=-18000000000)
>>> find("europe/berlin").local(0) == HOUR
True
"""

import re
from datetime import UTC as _UTC
from datetime import datetime, timedelta
from functools import lru_cache
from typing import NamedTuple, Protocol
from zoneinfo import ZoneInfo, available_timezones

from ivm.values.calendar import DAY, HOUR, MINUTE, SECOND

# Minutes east of UTC.
_ABBREVIATIONS = """
acdt+630 acsst+630 acst+570 act-300 acwst+525 adt-180 aedt+660 aesst+660 aest+600 aft+270
akdt-480 akst-540 almst+420 almt+360 amst+240 amt-240 anast+720 anat+720 arst-180 art-180
ast-240 awsst+540 awst+480 azost+0 azot-60 azst+240 azt+240 bdst+120 bdt+360 bnt+480 bort+480
bot-240 bra-180 brst-120 brt-180 bst+60 btt+360 cadt+630 cast+570 cct+480 cdt-300 cest+120
cet+60 cetdst+120 chadt+825 chast+765 chut+600 ckt-600 clst-180 clt-180 cot-300 cst-360 cxt+420
davt+420 ddut+600 easst-300 east-300 eat+180 edt-240 eest+180 eet+120 eetdst+180 egst+0 egt-60
est-300 fet+180 fjst+780 fjt+720 fkst-180 fkt-180 fnst-60 fnt-120 galt-360 gamt-540 gest+240
get+240 gft-180 gilt+720 gyt-240 hkt+480 hst-600 ict+420 idt+180 iot+360 irkst+480 irkt+480
irt+210 ist+120 jayt+540 jst+540 kdt+600 kgst+360 kgt+360 kost+660 krast+420 krat+420 kst+540
lhdt+660 lhst+630 ligt+600 lint+840 lkt+330 magst+660 magt+660 mart-570 mawt+300 mdt-360
mest+120 mesz+120 met+60 metdst+120 mez+60 mht+720 mmt+390 mpt+600 msd+240 msk+180 mst-420
must+300 mut+240 mvt+300 myt+480 ndt-150 nft-210 novst+420 novt+420 npt+345 nst-210 nut-660
nzdt+780 nzst+720 nzt+720 omsst+360 omst+360 pdt-420 pet-300 petst+720 pett+720 pgt+600 pht+480
pkst+360 pkt+300 pmdt-120 pmst-180 pont+660 pst-480 pwt+540 pyst-180 pyt-180 ret+240 sadt+630
sast+120 sct+240 sgt+480 taht-600 tft+300 tjt+300 tkt+780 tmt+300 tot+780 trut+600 tvt+720
ulast+540 ulat+480 ut+0 uyst-120 uyt-180 uzst+360 uzt+300 vet-240 vlast+600 vlat+600 volt+180
vut+660 wadt+480 wakt+720 wast+420 wat+60 wdt+540 wet+0 wetdst+60 wft+720 wgst-120 wgt-180
xjt+360 yakst+540 yakt+540 yapt+600 yekst+360 yekt+300
"""
ABBREVIATIONS = {
    name: int(minutes) for name, minutes in re.findall(r"([a-z]+)([+-]\d+)", _ABBREVIATIONS)
}
for _name in ("utc", "gmt", "z", "zulu", "uct"):
    ABBREVIATIONS[_name] = 0

_OFFSET = re.compile(r"(?:[^\d<,+-]*|<[^<>]+>)([+-]?)(\d{1,3})(?::(\d{1,2}))?(?::(\d{1,2}))?")
_MOST_HOURS = 167
_EPOCH = datetime(1970, 1, 1)
_CYCLE = 146_097 * DAY  # 400 years, after which the calendar and the rules of zones repeat
_FIRST, _LAST = -719_160 * DAY, 2_932_890 * DAY  # days that Python's dates hold, with room


class Zone(Protocol):
    """A time zone."""

    def local(self, micros: int) -> int:
        """Give the time on the zone's clock at an instant."""

    def instant(self, micros: int) -> int:
        """Give the instant at which the zone's clock shows a time."""


class Fixed(NamedTuple):
    """A zone whose clock is always `offset` microseconds ahead of UTC."""

    offset: int

    def local(self, micros: int) -> int:
        return micros + self.offset

    def instant(self, micros: int) -> int:
        return micros - self.offset


UTC = Fixed(0)


class Place(NamedTuple):
    """A zone whose clock is set anew from time to time."""

    name: str

    def local(self, micros: int) -> int:
        moment = (_EPOCH + timedelta(microseconds=_near(micros))).replace(tzinfo=_UTC)
        return micros + _offset(moment.astimezone(ZoneInfo(self.name)))

    def instant(self, micros: int) -> int:
        """Give the instant at which the clock shows a time.

        A time that the clock shows twice is the later one; a time that it skips counts on from
        before.
        """
        clock = (_EPOCH + timedelta(microseconds=_near(micros))).replace(tzinfo=ZoneInfo(self.name))
        first, second = _offset(clock), _offset(clock.replace(fold=1))
        return micros - min(first, second)


def _offset(moment: datetime) -> int:
    offset = moment.utcoffset()
    assert offset is not None
    return offset // timedelta(microseconds=1)


def _near(micros: int) -> int:
    """Move a time by whole cycles of the calendar to one that Python's dates hold."""
    if micros > _LAST:
        return micros - ((micros - _LAST) // _CYCLE + 1) * _CYCLE
    return max(micros, _FIRST)


@lru_cache
def _names() -> dict[str, str]:
    """Map names of zones in lower case to their spelling."""
    return {name.lower(): name for name in available_timezones()}


@lru_cache
def find(zone: str) -> Zone:
    """Find a zone by its abbreviation, name or offset (raises ValueError).

    The sign of an offset is that of POSIX: `+3` and `UTC+3` lie west of UTC.

    >>> find("+02:00").local(0)
    -7200000000
    """
    name = zone.strip().lower()
    if name in ABBREVIATIONS:
        return Fixed(ABBREVIATIONS[name] * MINUTE)
    if name in _names():
        place = Place(_names()[name])
        return Fixed(place.local(0)) if place.name.startswith("Etc/") else place
    found = _OFFSET.fullmatch(name)
    if found is None or int(found[2]) > _MOST_HOURS:
        raise ValueError(f"no time zone {zone!r} is known here")
    hours, minutes, seconds = (int(digits or 0) for digits in found.groups()[1:])
    micros = hours * HOUR + minutes * MINUTE + seconds * SECOND
    return Fixed(micros if found[1] == "-" else -micros)
