"""Feeds the updates of timed batches to the pool.

Updates of tables that are not keyed are fed as they come. Those of a keyed table wait until their
times are to be completed: what they do depends on the rows as of the last completed time, so all
that wait, of however many times, are resolved together, once that time is the one before them.
"""

import time as clock
from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import structlog

from connectors.columns.faults import UNAVAILABLE_VALUE
from connectors.ingest.dealt_tables import DealtTables
from connectors.ingest.dedup import Duplicates
from connectors.ingest.meter import Meter
from connectors.ingest.miscounts import Miscounts
from connectors.ingest.tables import LocalTables, Tables
from connectors.ingest.upsert import Changes, Indices
from connectors.progress.batches import Origin, TableUpdates, TimedBatch
from connectors.progress.journal import Journal
from connectors.quarantine.store import Quarantine, Rejected
from connectors.tables.spec import TableSpec
from connectors.tables.table import Table
from ivm.cluster.pool import AnyPool, ClusterPool

# What a diff of a keyed table says.
NAMES = {1: "set", -1: "delete", 0: "truncate"}

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class _Waiting:
    """Changes of a keyed table: change `i` is update `indices[i]` of `origin`."""

    origin: Origin
    indices: Indices
    changes: Changes
    committed: bool


def declare_input(pool: AnyPool, spec: TableSpec) -> None:
    """Declare the input that a table is fed into (raises what `Pool.create_input` raises).

    Nothing ever takes a row out of a table whose envelope says that rows stay, no correction or
    restored checkpoint either, so that distinct rows and recursion over it keep no history.
    """
    key = spec.key or spec.schema.names
    pool.create_input(spec.name, spec.schema, key, insert_only=spec.rows_stay)


class Feeder:
    """Feeds tables; `duplicates` and `miscounts` must be kept with the tables in a checkpoint.

    A record that leaves values out, of a key without a row, is put into the quarantine even where
    its table stalls: its fault shows only when it is applied, after its time was journaled.
    """

    def __init__(
        self,
        pool: AnyPool,
        journal: Journal,
        quarantine: Quarantine,
        meter: Meter,
        complete: Callable[[int], None],
    ) -> None:
        """`complete` completes a time, and all before it, and calls `settle` for that."""
        self.duplicates = Duplicates()
        self._tables: Tables
        if isinstance(pool, ClusterPool):
            self._tables = DealtTables(pool)
        else:
            self._tables = LocalTables(pool)
        self.miscounts = Miscounts(self._tables)
        self._complete = complete
        self._taken = 0
        self._is_taking = False
        self._pool = pool
        self._journal = journal
        self._quarantine = quarantine
        self._meter = meter
        self._waiting: dict[str, list[_Waiting]] = {}

    def take(self, batch: TimedBatch) -> None:
        """Feed a batch's tables, or keep their changes for `settle`; drop repetitions."""
        self._is_taking = True
        touched: list[tuple[Table, Changes]] = []
        for name, updates in batch.tables.items():
            kept = self._fresh(name, updates, batch.committed)
            times = updates.times
            if times is None:
                times = np.full(len(updates.diffs), batch.time, np.uint64)
            spec = updates.origin.spec
            rows = self._tables.rows_of(updates)
            changes = Changes(rows, updates.diffs, times, updates.origin.missing)
            if len(kept) < len(times):
                changes = changes.chosen(kept)
            if spec.is_keyed:
                waiting = _Waiting(updates.origin, kept, changes, batch.committed)
                self._waiting.setdefault(name, []).append(waiting)
                continue
            table = Table.of(spec)
            if not np.all(changes.diffs) and self._taken >= self._pool.frontier:
                self._complete(self._taken)  # a truncation empties the table as it is by then
            self._tables.feed(table, changes)
            if not spec.rows_stay:
                touched.append((table, changes))
        self._taken = batch.time
        for table, changes in touched:  # only now: the time before may have been completed
            changed = changes.rows.filter(pa.array(changes.diffs != 0))
            self.miscounts.note(table, changed)
        self._is_taking = False

    def settle(self) -> None:
        """Feed the changes that wait: all times before theirs are complete, theirs come next."""
        for table, waiting in self._waiting.items():
            changes = Changes.joined([one.changes for one in waiting])
            spec = waiting[0].origin.spec
            settled = self._tables.settle(Table.of(spec), changes)
            if not waiting[-1].committed:
                self._meter.absent_deletes[table] += settled.absent
                for diff, name in NAMES.items():
                    if count := int(np.count_nonzero(changes.diffs == diff)):
                        self._meter.keyed_changes[table, name] += count
            if len(settled.unavailable):
                self._put_aside(table, waiting, settled.unavailable)
        self._waiting.clear()

    def check(self) -> None:
        """Look for keys whose rows do not add up: the times of what was fed are complete."""
        self.miscounts.check()
        if not self._waiting and not self._is_taking:  # a batch has rows that are yet to be noted
            self._tables.finish()

    def release(self, parcels: Collection[int]) -> None:
        """Nothing further of these parcels comes."""
        self._tables.release(parcels)
        if not self._waiting and not self.miscounts.has_noted:
            self._tables.finish()

    def keep(self, parcels: Collection[int]) -> None:
        """Nothing of parcels comes but of these: the tasks that brought others have ended."""
        self._tables.keep(parcels)

    def forget(self, table: str) -> None:
        """Forget a table that was dropped."""
        self._waiting.pop(table, None)
        self.duplicates.forget(table)
        self.miscounts.forget(table)

    def _fresh(self, table: str, updates: TableUpdates, committed: bool) -> Indices:
        """A mask of the updates that are no repetitions of earlier ones."""
        origin = updates.origin
        if origin.order is None:
            return np.arange(len(updates.diffs))
        fresh, begin, repeated = [], 0, 0
        for run in origin.runs:
            order = origin.order[begin : begin + run.count]
            fresh.append(self.duplicates.fresh(run.stream, run.partition, order))
            # A record may be several updates.
            repeated += len(np.unique(origin.offsets[begin : begin + run.count][~fresh[-1]]))
            begin += run.count
        if not committed:
            self._meter.duplicates[table] += repeated
        return np.flatnonzero(np.concatenate(fresh))

    def _put_aside(self, table: str, waiting: list[_Waiting], unavailable: Indices) -> None:
        """Quarantine these of all the changes that wait, without their bytes."""
        ends = np.cumsum([len(one.indices) for one in waiting])
        rejected = []
        for index in unavailable.tolist():
            which = int(np.searchsorted(ends, index, side="right"))
            one = waiting[which]
            position = one.indices[index - int(ends[which]) + len(one.indices)]
            rejected.append(self._rejected(one.origin, int(position)))
        self._quarantine.add(rejected)
        if not waiting[-1].committed:
            self._meter.unavailable[table] += len(rejected)
        log.error("values are unavailable", table=table, records=len(rejected))

    def _rejected(self, origin: Origin, index: int) -> Rejected:
        assert origin.missing is not None
        names = [origin.spec.schema.names[column] for column in origin.missing[index].as_py()]
        run, offset = origin.place(index)
        return Rejected(
            run.stream,
            run.topic,
            run.partition,
            offset,
            UNAVAILABLE_VALUE,
            f"the record leaves out {', '.join(names)}, and there is no row with its key to take "
            "that from; set REPLICA IDENTITY FULL, or let a snapshot of the table come first",
            None,
            clock.time_ns() // 1_000_000,
            epoch=self._journal.epoch(run.stream),
        )
