"""Time zones are found by an abbreviation, a fixed offset, or a name in any case.

>>> fixed_offset("EST") == -5 * HOUR, known_zone("europe/berlin"), known_zone("Atlantis")
(True, True, False)
"""

import re
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

from ivm.values.calendar import HOUR, MINUTE

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

_FIXED = {"utc": 0, "gmt": 0, "z": 0, "zulu": 0, "etc/utc": 0, "etc/gmt": 0, "uct": 0}


@lru_cache
def _names() -> dict[str, str]:
    """Map names of zones in lower case to their spelling."""
    return {name.lower(): name for name in available_timezones()}


def place(zone: str) -> ZoneInfo:
    """Find the zone of a name in any case (raises KeyError)."""
    return ZoneInfo(_names()[zone.strip().lower()])


def fixed_offset(zone: str) -> int | None:
    """Give the microseconds east of UTC of an abbreviation or an offset; None for any other name.

    The sign of an offset is that of POSIX: `+3` lies west of UTC.
    """
    name = zone.strip().lower()
    if name in _FIXED:
        return 0
    if name in ABBREVIATIONS:
        return ABBREVIATIONS[name] * MINUTE
    for prefix in ("utc", "gmt"):
        if name.startswith(prefix) and name[len(prefix) : len(prefix) + 1] in ("+", "-"):
            name = name[len(prefix) :]
    if name[:1] not in ("+", "-"):
        return None
    hours, _, minutes = name[1:].partition(":")
    if not hours.isdigit() or (minutes and not minutes.isdigit()):
        return None
    offset = int(hours) * HOUR + int(minutes or 0) * MINUTE
    return offset if name[0] == "-" else -offset


def known_zone(zone: str) -> bool:
    """Tell whether a zone is known, by its abbreviation, offset or name."""
    if fixed_offset(zone) is not None:
        return True
    try:
        place(zone)
    except (KeyError, OSError, ValueError):
        return False
    return True
