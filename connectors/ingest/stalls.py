"""Stalls: tables that stand still, each set for a reason, while the others go on."""

import threading
import time as clock
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from connectors.errors import RegistryUnavailable, Stalled, Unavailable
from connectors.formats.schema_registry import Registry
from connectors.quarantine.store import Place
from connectors.streams import table_of
from ivm.errors import IvmError

# After how many seconds a registry that was away is asked whether it is there again.
_RETRY = 5.0


@dataclass(frozen=True, slots=True)
class Stall:
    """Since a moment (of the monotonic clock) these tables stand still because of an error."""

    error: IvmError
    tables: frozenset[str]
    since: float = field(default_factory=clock.monotonic)

    @property
    def place(self) -> Place | None:
        """The record before which they do, if it is one."""
        return self.error.place if isinstance(self.error, Stalled) else None


class Stalls:
    """The stalls by their tables; safe to call from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: Mapping[str, Stall] = {}

    @property
    def found(self) -> Mapping[str, Stall]:
        """The stall of each table that has one."""
        return self._found

    def add(self, error: IvmError, tables: frozenset[str]) -> None:
        """Let these tables stand still, but for those that do already."""
        with self._lock:
            self._found = {**dict.fromkeys(tables, Stall(error, tables)), **self._found}

    def forget(self, table: str) -> None:
        """Forget the stalls of a table that is read no more."""
        with self._lock:
            found = self._found.items()
            self._found = {name: stall for name, stall in found if table_of(name) != table}

    def end(self, tables: Collection[str]) -> None:
        """Let these tables go on, with all that stand still for the same reasons."""
        with self._lock:
            ended = {self._found[name] for name in tables if name in self._found}
            rest = self._found.items()
            self._found = {name: stall for name, stall in rest if stall not in ended}


def is_over(stall: Stall, faults: Mapping[str, IvmError], registry: Registry | None) -> bool:
    """Whether what tables wait for outside is there again, or is followed by another fault.

    `faults` are those of topics, by table; `registry` is asked where it is what was away.
    """
    error = stall.error
    if not isinstance(error, Unavailable):
        return False
    if any(type(faults.get(name)) is type(error) for name in stall.tables):
        return False
    if not isinstance(error, RegistryUnavailable) or registry is None:
        return True
    return clock.monotonic() > stall.since + _RETRY and registry.answers()
