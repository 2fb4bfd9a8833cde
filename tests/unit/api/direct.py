"""A pipeline that hands over what a test gives it, under the same protocol as Spark's."""

import threading
import time as clock
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from connectors.declaration import OnError
from connectors.health import PartFault
from connectors.ingest.settings import PipelineSettings
from connectors.ingest.status import PipelineStatus, State
from connectors.offsets import Ends, Gap, Offsets
from connectors.progress.batches import (
    Counts,
    Origin,
    Range,
    Receiver,
    RowOwners,
    Run,
    TableUpdates,
    TimedBatch,
)
from connectors.progress.journal import Beginning, Journal
from connectors.quarantine.store import Quarantine
from connectors.tables.spec import TableSpec

Change = tuple[dict[str, Any], int]


class DirectPipeline:
    """Journals and delivers batches at once, on the caller's thread.

    Times are given at `moment`, in microseconds since the epoch, or at the present one. It reads on
    however much memory there is.
    """

    def __init__(
        self,
        settings: PipelineSettings,
        journal: Journal,
        quarantine: Quarantine,
        receiver: Receiver,
        expect_room: Callable[[], None] = lambda: None,
        owners: RowOwners | None = None,
    ) -> None:
        self.tables: dict[str, TableSpec] = {}
        self.state: State = "stopped"
        self._journal = journal
        self._receiver = receiver
        self._ends: Counter[str] = Counter()
        self.moment: int | None = None
        self.faults: tuple[PartFault, ...] = ()
        self.ticks = threading.Semaphore(0)
        self.gaps: dict[tuple[str, int], Gap] = {}
        self.stalled: dict[str, str] = {}

    def prepare(self) -> None:
        """There is nothing to make ready."""

    def session(self) -> None:
        """There is no Spark."""

    def start(self, tables: Sequence[TableSpec]) -> None:
        self.tables = {spec.name: spec for spec in tables}
        self.state = "running"

    def wait_replayed(self, timeout: float | None = None) -> bool:
        return True

    def preflight(self, spec: TableSpec) -> Mapping[str, Beginning]:
        return {}

    def held(self, spec: TableSpec, beginnings: Mapping[str, Beginning]) -> Mapping[str, Ends]:
        return {}

    def add_table(self, spec: TableSpec, beginnings: Mapping[str, Beginning]) -> None:
        self.tables[spec.name] = spec

    def alter_table(self, name: str, apply: Callable[[TimedBatch], TableSpec | None]) -> bool:
        time, moment = self._journal.last_time + 1, self._now()
        self._journal.prepare(time, (), moment)
        spec = apply(TimedBatch(time, {}, (), self._offsets(), 0, 0, False, moment))
        assert spec is not None
        self.tables[name] = spec
        return True

    def at_new_time(self, apply: Callable[[TimedBatch], object]) -> None:
        time, moment = self._journal.last_time + 1, self._now()
        self._journal.prepare(time, (), moment)
        apply(TimedBatch(time, {}, (), self._offsets(), 0, 0, False, moment))

    def remove_table(self, name: str) -> None:
        self._journal.drop_table(name)
        del self.tables[name], self._ends[name]

    def set_on_error(self, name: str, on_error: OnError) -> None:
        self.tables[name] = replace(self.tables[name], on_error=on_error)
        self.retry(name)

    def retry(self, name: str) -> None:
        self.state = "running"
        self.stalled.pop(name, None)

    def status(self) -> PipelineStatus:
        return PipelineStatus(self.state, None, self._journal.last_time, 0, 0.0, {}, self.faults)

    def halt(self) -> None:
        """There is no query that would go on."""

    def stop(self) -> None:
        self.state = "stopped"

    def deliver(self, table: str, *changes: Change) -> TimedBatch:
        """One time with these `(row, diff)` of a table."""
        spec, first = self.tables[table], self._ends[table]
        self._ends[table] += len(changes)
        ranges = (Range(table, spec.topic, 0, first, first + len(changes)),)
        batch = TimedBatch(
            time=self._journal.last_time + 1,
            tables={table: updates(spec, first, changes)},
            ranges=ranges,
            offsets=self._offsets(),
            records=len(changes),
            rejected=0,
            committed=False,
            moment=self._now(),
            counts={table: Counts(changes=len(changes))},
        )
        self._journal.prepare(batch.time, ranges, batch.moment)
        self._receiver.receive(batch)
        return batch

    def tick(self) -> None:
        moment = self._now()
        time = self._journal.last_time + 1
        batch = TimedBatch(time, {}, (), self._offsets(), 0, 0, False, moment)
        self._journal.prepare(batch.time, (), moment)
        self._receiver.receive(batch)
        self.ticks.release()

    def _offsets(self) -> Offsets:
        topics = {name: spec.topic for name, spec in self.tables.items()}
        return Offsets(topics, {(name, 0): end for name, end in self._ends.items()})

    def _now(self) -> int:
        return clock.time_ns() // 1000 if self.moment is None else self.moment


def updates(spec: TableSpec, first: int, changes: Sequence[Change]) -> TableUpdates:
    """These `(row, diff)` as the pipeline would hand them over, stamped with the present time."""
    return TableUpdates(
        pa.RecordBatch.from_pylist([row for row, _ in changes], schema=spec.schema),
        np.array([diff for _, diff in changes], np.int64),
        np.full(len(changes), clock.time_ns() // 1_000_000, np.int64),
        Origin(
            spec,
            (Run(spec.name, spec.topic, 0, len(changes)),),
            np.arange(first, first + len(changes)),
        ),
    )
