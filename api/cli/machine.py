"""Checks of the machine that a service runs on: disk, memory, and clock.

Each gives a warning, or None; what keeps a service from running is raised by others.
"""

import re
import socket
import time
from email.utils import parsedate_to_datetime
from pathlib import Path
from shutil import disk_usage

import httpx

from ivm.pool import available_bytes

# Of a disk this much should be free (bytes, and as a part of it), whichever is less.
FREE_BYTES, FREE_PART = 10 << 30, 0.1
# Spark's JVM and Python take this much beside what its setting gives the JVM.
BESIDE_BYTES = 1 << 30
# Clocks that differ by more (seconds) expire tokens too soon, and show records from the future.
MOST_SKEW = 5.0
ANSWER_SECONDS = 5.0
_MASTER = re.compile(r"spark://(?P<host>[^:,]+):(?P<port>\d+)")


def scarce_disk(directory: Path) -> str | None:
    """A warning if the disk of a directory is nearly full."""
    usage = disk_usage(directory)
    if usage.free >= min(FREE_BYTES, FREE_PART * usage.total):
        return None
    return (
        f"{usage.free / 2**30:.1f} GiB of {usage.total / 2**30:.1f} are free where {directory} is; "
        "a full disk stops the pipeline: make room, or let `data` and `topics` be elsewhere"
    )


def scarce_memory(max_process_bytes: int) -> str | None:
    """A warning if a process may grow beyond the memory that there is."""
    there = available_bytes()
    if max_process_bytes + BESIDE_BYTES <= there:
        return None
    return (
        f"max_process_bytes is {max_process_bytes / 2**30:.1f} GiB, and of {there / 2**30:.1f} GiB "
        "Spark needs about one: the system may kill the service before recursions stop"
    )


def reach(master: str) -> None:
    """See that something listens where a master of Spark's is said to be (raises OSError)."""
    found = _MASTER.fullmatch(master)
    if found is None:  # local, or known to Spark alone
        return
    try:
        socket.create_connection((found["host"], int(found["port"])), ANSWER_SECONDS).close()
    except OSError as error:
        raise OSError(f"{master}: {error}: start the master, or name another one") from error


def own(host: str) -> None:
    """See that an address is of this machine (raises OSError)."""
    try:
        socket.create_server((host, 0)).close()
    except OSError as error:
        raise OSError(f"{host}: {error}: it has to be an address of this machine") from error


def other_clock(url: str, verify: str | bool = True) -> str | None:
    """A warning if the clock of a server over HTTP is another one (raises OSError)."""
    before = time.time()
    try:
        answer = httpx.head(url, timeout=ANSWER_SECONDS, verify=verify)
    except httpx.HTTPError as error:
        raise OSError(f"{url}: {error}") from error
    after = time.time()
    told = answer.headers.get("date")
    if told is None:
        return None
    there = parsedate_to_datetime(told).timestamp()  # of whole seconds, rounded down
    skew = max(there - after, before - there - 1, 0.0)
    if skew <= MOST_SKEW:
        return None
    return f"its clock and that of this machine differ by {skew:.0f} s; let both follow NTP"
