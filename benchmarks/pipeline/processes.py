"""Processor time of a service by what spends it: the JVM, Spark's Python workers, itself."""

import os
from dataclasses import dataclass
from pathlib import Path

from api.demo.service import descendants

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Spent:
    """Processor seconds, of all processes of a kind together."""

    jvm: float
    workers: float
    service: float


def spent(pid: int) -> Spent:
    """What the service `pid` and its descendants have spent since they began."""
    seconds = {"jvm": 0.0, "workers": 0.0, "service": 0.0}
    for each in descendants(pid):
        try:
            command = Path(f"/proc/{each}/cmdline").read_bytes().split(b"\0")
            fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        kind = "service" if each == pid else "jvm" if b"java" in command[0] else "workers"
        seconds[kind] += (int(fields[11]) + int(fields[12])) / _TICKS
    return Spent(**seconds)
