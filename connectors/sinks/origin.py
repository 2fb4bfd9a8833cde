"""The origin of a Debezium event that a sink writes: its `source` block and its operation."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from connectors.sinks.net import Net


@dataclass(frozen=True, slots=True)
class Origin:
    """Events of one view at one time; `is_snapshot`: these are the rows that it began with.

    `ts_ms` is the moment of the time, so a batch that is written again says the same.
    """

    service: str
    view: str
    ts_ms: int
    is_snapshot: bool

    def source(self) -> dict[str, Any]:
        """The member `source`, but for `time`, which is the event's."""
        members = ("connector", "name", "view", "snapshot")
        return {**dict(zip(members, self.texts(), strict=True)), "ts_ms": self.ts_ms}

    def texts(self) -> tuple[str, ...]:
        """The texts of `source`: connector, name, view and snapshot."""
        return ("ivm", self.service, self.view, "true" if self.is_snapshot else "false")

    def ops(self, changed: Net) -> list[str]:
        """The operation of each event: a row read, created, updated or deleted."""
        created = "r" if self.is_snapshot else "c"
        names = np.array([created, "d", "u"])
        return list(names[np.where(changed.before < 0, 0, np.where(changed.after < 0, 1, 2))])
