"""A member's pool, which lends its cluster what stays with it: holds, and batches, by number."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ivm.cluster.beside import Beside
from ivm.cluster.distributing import DistributingPool
from ivm.cluster.mesh import Mesh
from ivm.cluster.parcels import Parcels
from ivm.dataflow.nodes import Node
from ivm.errors import BudgetExceeded
from ivm.installed.holds import Hold
from ivm.memory.huge_pages import waiting_bytes
from ivm.pool import Budget
from ivm.results import Installed
from ivm.runtime.export import SealedBatch

Rows = tuple[pa.RecordBatch, NDArray[np.int64]]


class Lent(NamedTuple):
    """A batch that was lent under `number`: its identity in this process, and its rows' number."""

    number: int
    serial: int
    values: int


class Most(NamedTuple):
    """The bounds of a dataflow on each member until it is installed; see Budget."""

    seconds: float
    bytes: int
    process_bytes: int


class Share(NamedTuple):
    """The share of a member: what its arrangements hold, its strings, its process; its meetings.

    At these it has sent so many blocks of rows, and so many bytes with their headers. Of the rows
    that it owns it has received so many from those who had them.
    """

    records: int
    bytes: int
    string_bytes: int
    process_bytes: int
    meetings: int
    blocks: int
    sent_bytes: int
    received_rows: int


class LendingPool(DistributingPool):
    """A pool whose holds and batches are known by number to who cannot have them; see Pool.

    `parcels` are the rows that have come to it.
    """

    def __init__(self, mesh: Mesh, beside: Mesh, **bounds: float) -> None:
        super().__init__(mesh, beside, **bounds)
        self.parcels = Parcels()
        self._meshes = mesh, beside
        self._filling: Beside | None = None
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

    def carry_out(self, function: Callable[..., Any], *arguments: object) -> Any:
        """The answer of a `function` of a module that all processes know, given this pool."""
        return function(self, *arguments)

    def step(self, frontier: int) -> frozenset[str]:
        """Advance as `Pool.advance` does: the names of the dataflows that have deltas."""
        self.advance(frontier)
        return frozenset(
            name
            for name, collection in self._core.catalog.collections.items()
            if collection.pending_errors or any(not c.is_empty for c in collection.captures)
        )

    def begin_install(
        self, name: str, node: Node, key: Sequence[str] | None, most: Most
    ) -> Installed | None:
        """Install a dataflow as `Pool.install` does; or begin to fill it beside commands: None.

        Then `has_caught_up` says when to `take_over`. Its budget on this member is `most`.
        """
        budget = Budget(most.seconds, bytes=most.bytes, process_bytes=most.process_bytes)
        begun = self._installer.begin(name, node, key, budget)
        if isinstance(begun, Installed):
            return begun
        self._filling = Beside(begun, budget)
        return None

    def has_caught_up(self) -> bool:
        """Whether the dataflow that is filled has caught up with what it had taken over."""
        return self._begun().rests

    def take_over(self) -> Installed | None:
        """Let the dataflow that is filled take over what came: installed, if that was little.

        Raises BudgetExceeded and what else has ended it.
        """
        filling = self._begun()
        self._filling = None
        try:
            installed = filling.take_over()
        except BudgetExceeded as exceeded:
            cause = str(exceeded)
        else:
            self._filling = filling if installed is None else None
            return installed
        raise BudgetExceeded(cause)

    def stop_filling(self) -> None:
        """End the dataflow that is filled; `take_over` raises BudgetExceeded."""
        self._begun().stop()

    def filled(self) -> tuple[int, int] | None:
        """The progress of the dataflow that is filled, as `Hydrating` has it; None without one."""
        return None if (filling := self._filling) is None else filling.progress

    def _begun(self) -> Beside:
        assert self._filling is not None, "nothing is filled"
        return self._filling

    def compact_sources(self, name: str, node: Node, key: Sequence[str] | None) -> bool:
        """Let what came and went in the sources of a dataflow cancel; whether there was any."""
        return self._installer.compact_sources(name, node, key)

    def known(self) -> frozenset[str]:
        """The names of all inputs and dataflows."""
        return self.names

    def used_bytes(self) -> int:
        """The memory of this process, but for that which waits for its next use."""
        return _resident_bytes() - waiting_bytes()

    def share(self) -> Share:
        """What this member holds."""
        infos = self.arrangements()
        records, held = sum(info.records for info in infos), sum(info.bytes for info in infos)
        meetings = sum(mesh.meetings for mesh in self._meshes)
        blocks = sum(mesh.blocks for mesh in self._meshes)
        sent = sum(mesh.sent_bytes for mesh in self._meshes)
        strings, process = self.string_bytes, _resident_bytes()
        received = self.parcels.received_rows
        return Share(records, held, strings, process, meetings, blocks, sent, received)


def _resident_bytes() -> int:
    """The memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
