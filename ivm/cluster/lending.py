"""A member's pool, which lends its cluster what stays with it: holds, and batches, by number."""

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ivm.cluster.mesh import Mesh
from ivm.dataflow.nodes import Node
from ivm.installed.holds import Hold
from ivm.pool import Budget, Pool
from ivm.results import Installed
from ivm.runtime.export import SealedBatch

Rows = tuple[pa.RecordBatch, NDArray[np.int64]]


class Lent(NamedTuple):
    """A batch that was lent under `number`: its identity in this process, and its rows' number."""

    number: int
    serial: int
    values: int


class Share(NamedTuple):
    """The share of a member: what its arrangements hold, its strings, its process; its meetings.

    At these it has sent so many blocks of rows, and so many bytes with their headers.
    """

    records: int
    bytes: int
    string_bytes: int
    process_bytes: int
    meetings: int
    blocks: int
    sent_bytes: int


class LendingPool(Pool):
    """A pool whose holds and batches are known by number to who cannot have them; see Pool."""

    def __init__(self, mesh: Mesh, **bounds: float) -> None:
        super().__init__(mesh=mesh, **bounds)  # type: ignore[arg-type]
        self._mesh = mesh
        self._numbers = count()
        self._lending = Lock()
        self._holds: dict[int, Hold] = {}
        self._batches: dict[int, tuple[SealedBatch, Iterator[Rows] | None]] = {}

    def lend_hold(self, name: str, time: int | None) -> tuple[int, int]:
        """Hold a collection as `Pool.hold` does: the number of the hold, and its time."""
        hold = self.hold(name, time)
        with self._lending:
            number = next(self._numbers)
            self._holds[number] = hold
        return number, hold.time

    def lend_batches(self, name: str) -> list[Lent]:
        """The batches of an input, as `Pool.batches` gives them."""
        batches = self.batches(name)
        with self._lending:
            lent = [Lent(next(self._numbers), batch.serial, batch.values) for batch in batches]
            for one, batch in zip(lent, batches, strict=True):
                self._batches[one.number] = (batch, None)
        return lent

    def lent_rows(self, number: int, at_once: int) -> Rows | None:
        """The next rows of a batch, at most `at_once` of them; None when it has told all."""
        with self._lending:
            batch, rows = self._batches[number]
            if rows is None:
                rows = batch.rows(at_once)
                self._batches[number] = (batch, rows)
        return next(rows, None)

    def give_back(self, numbers: Iterable[int]) -> None:
        """Release holds and batches."""
        with self._lending:
            holds = [self._holds.pop(n) for n in numbers if n in self._holds]
            for number in numbers:
                self._batches.pop(number, None)
        for hold in holds:
            hold.release()

    def step(self, frontier: int) -> frozenset[str]:
        """Advance as `Pool.advance` does: the names of the dataflows that have deltas."""
        self.advance(frontier)
        return frozenset(
            name
            for name, collection in self._core.catalog.collections.items()
            if collection.pending_errors or any(not c.is_empty for c in collection.captures)
        )

    def install_within(
        self, name: str, node: Node, key: Sequence[str] | None, seconds: float
    ) -> Installed:
        """Install a dataflow as `Pool.install` does, whose recursions take `seconds` at most."""
        return self.install(name, node, key, budget=Budget(seconds))

    def compact_sources(self, name: str, node: Node, key: Sequence[str] | None) -> bool:
        """Let what came and went in the sources of a dataflow cancel; whether there was any."""
        return self._installer.compact_sources(name, node, key)

    def known(self) -> frozenset[str]:
        """The names of all inputs and dataflows."""
        return self.names

    def share(self) -> Share:
        """What this member holds."""
        infos = self.arrangements()
        records, held = sum(info.records for info in infos), sum(info.bytes for info in infos)
        met = self._mesh.meetings, self._mesh.blocks, self._mesh.sent_bytes
        return Share(records, held, self.string_bytes, _resident_bytes(), *met)


def _resident_bytes() -> int:
    """The memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
