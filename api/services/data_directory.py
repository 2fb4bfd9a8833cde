"""The version of a data directory: tells its form, so that another form is migrated or refused.

The file `version` holds a number. A directory of an older form is brought to the present one step
by step, each of which can be repeated should it be cut short; a newer one is left as it is, since
what this program does not know it would lose.
"""

import fcntl
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import structlog

from api.errors import DataDirectoryNewer
from connectors.files.durable import replace

FILE = "version"

log = structlog.get_logger()


def _numbered(data: Path) -> None:
    """Directories of before there were numbers are of the form of the first."""


# The step from each version to the next: the first leads from 0, which has no number, to 1.
MIGRATIONS: Sequence[Callable[[Path], None]] = (_numbered,)


def present() -> int:
    """The version that this program reads and writes."""
    return len(MIGRATIONS)


def open_directory(data: Path) -> None:
    """Bring a data directory, which exists, to the present version (raises DataDirectoryNewer)."""
    directory = os.open(data, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(directory, fcntl.LOCK_EX)
        found = version_of(data)
        check(found, f"the data directory {data}")
        for number, migrate in enumerate(MIGRATIONS[found:], start=found):
            if (data / "journal").exists():
                log.info("data directory migrated", version=number + 1)
                migrate(data)
            replace(data / FILE, b"%d\n" % (number + 1))
    finally:
        os.close(directory)


def check(found: int, what: str) -> None:
    """See that this program knows a version (raises DataDirectoryNewer)."""
    if found > present():
        raise DataDirectoryNewer(
            f"{what} has version {found}, and this ivm knows those up to {present()}: run the ivm "
            "that wrote it, or a newer one, or restore a backup of before"
        )


def version_of(data: Path) -> int:
    """The version of a data directory; 0 for one without a number (raises DataDirectoryNewer)."""
    path = data / FILE
    text = path.read_text().strip() if path.exists() else "0"
    if not text.isdecimal():
        raise DataDirectoryNewer(f"{path} holds {text[:40]!r}, which is no version of ivm's")
    return int(text)
