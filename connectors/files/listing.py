"""Lists a directory again only when it has changed: a topic is looked at many times a second."""

import time as clock
from collections.abc import Sequence
from pathlib import Path

# Time stamps of files may be this coarse, in nanoseconds: what changed since may show no new one.
_COARSE = 1_000_000_000
# A listing is good for so many seconds at most, whatever time stamps say.
_PERIOD = 1.0


class Listing:
    """The names in one directory; not to be shared by threads."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._names: Sequence[str] = ()
        self._changed = -1  # -1: it may have changed again without a new time stamp
        self._listed = float("-inf")

    def names(self) -> Sequence[str]:
        """The names that are there now, in no order; none where there is no directory."""
        try:
            changed = self._directory.stat().st_mtime_ns
            if changed != self._changed or clock.monotonic() > self._listed + _PERIOD:
                self._listed = clock.monotonic()
                self._changed = changed if changed < clock.time_ns() - _COARSE else -1
                self._names = [entry.name for entry in self._directory.iterdir()]
        except (FileNotFoundError, NotADirectoryError):
            self._changed = -1
            return ()
        return self._names
