"""Applies timed batches: feed the tables, complete the time, publish every view's deltas.

The protocol of exactly once: a time's deltas and the frontier record are durable in the delta
topics before the journal commits the topics' ends. A time that the journal has committed already
is applied all the same, since the engine starts empty, and its deltas are thrown away.
"""

import threading
import time as clock
from collections import Counter, deque
from collections.abc import Callable

import numpy as np
import structlog

from api.clock import PoolClock
from api.meter import Meter
from connectors.batches import Offsets, TableUpdates, TimedBatch
from connectors.progress.journal import Journal
from connectors.sinks.deltas import DeltaSink
from ivm.dataflow import Node
from ivm.errors import IvmError, NoFixedPoint, UnknownCollection
from ivm.pool import Pool
from ivm.results import Deltas, Installed

# How many recent times keep their offsets, for readers that hold a snapshot of one.
REMEMBERED = 256
# How many replayed records the pool may hold back to complete their times in one step.
REPLAYED_TOGETHER = 1_000_000

log = structlog.get_logger()


class Applier:
    """The pipeline's receiver, and the only place where views are installed and dropped.

    `lock` excludes changes of the set of views while a time is being applied.
    """

    def __init__(self, pool: Pool, journal: Journal, sink: DeltaSink, meter: Meter) -> None:
        self.pool = pool
        self.clock = PoolClock(pool)
        self.meter = meter
        self.lock = threading.Lock()
        self.failed: dict[str, str] = dict(journal.failed)
        self.errors: dict[str, Counter[str]] = {}
        self.published: dict[str, int] = dict(journal.published)
        self._journal = journal
        self._sink = sink
        self._offsets: deque[tuple[int, Offsets]] = deque([(0, {})], REMEMBERED)
        self._reflected: tuple[int, Offsets] = self._offsets[-1]
        self._held_back = 0
        self._listeners: list[Callable[[], None]] = []

    def listen(self, listener: Callable[[], None]) -> None:
        """Call `listener`, from the applying thread, whenever something was published."""
        self._listeners.append(listener)

    def offsets(self, time: int | None = None) -> Offsets:
        """The input offsets reflected at a recent `time`, by default at the last one published."""
        if time is None:
            return self._reflected[1]
        return next((offsets for t, offsets in reversed(tuple(self._offsets)) if t <= time), {})

    def receive(self, batch: TimedBatch) -> None:
        """Apply one batch and, unless it was committed before, publish its deltas."""
        started = clock.monotonic()
        with self.lock:
            if not batch.committed:
                self._complete_held_back()
            self._feed(batch)
            if self._is_held_back(batch):
                return
            self._advance(batch.time)
            drained = {name: self._drained(name) for name in self.errors}
            if not batch.committed:
                self._publish(batch, drained)
            self._reflected = batch.time, batch.offsets
        if not batch.committed:
            self._count(batch, drained, clock.monotonic() - started)
        for listener in self._listeners:
            listener()

    def complete_replay(self) -> None:
        """Complete the replayed times that are still held back, and the ticks after them."""
        with self.lock:
            self._complete_held_back()

    def restore(self, name: str, node: Node, key: tuple[str, ...]) -> None:
        """Install a view that the journal knows: its topic goes on at the committed end.

        One that failed stays so: its topic lacks the deltas since, even if it would converge now.
        """
        with self.lock:
            self._sink.open(name, self.published[name])
            if name in self.failed:
                return
            self.pool.install(name, node, key)
            self.errors[name] = Counter()
            self._drained(name)

    def install(self, name: str, node: Node, key: tuple[str, ...]) -> Installed:
        """Install a new view and publish its snapshot as of the present time, durably.

        Raises what `Pool.install` raises; then nothing is changed.
        """
        with self.lock:
            installed = self.pool.install(name, node, key)
            self.errors[name] = Counter()
            try:
                time, offsets = self._reflected
                self._sink.open(name)
                deltas = self._drained(name)
                self.meter.deltas[name] += self._sink.write(name, deltas, time, offsets)
                self._commit(time)
            except (IvmError, OSError):
                self.pool.drop(name)
                del self.errors[name]
                raise
        for listener in self._listeners:
            listener()
        return installed

    def drop(self, name: str) -> None:
        """Stop a view and delete its topic."""
        with self.lock:
            if self.failed.pop(name, None) is None:
                self.pool.drop(name)
            self.errors.pop(name, None)
            self.published.pop(name, None)
            self._forget(name)
        for listener in self._listeners:
            listener()

    def forget(self, name: str) -> None:
        """Drop what is left of a view whose making or dropping a crash has cut short."""
        with self.lock:
            del self.published[name]
            self._forget(name)

    def _forget(self, name: str) -> None:
        # In this order: while the journal knows the view, a restart finds the topic to delete.
        self._sink.drop(name)
        self._journal.drop_view(name)

    def _feed(self, batch: TimedBatch) -> None:
        for table, updates in batch.tables.items():
            self.pool.feed(table, updates.rows, updates.diffs, batch.time)
        self.clock.feed(batch.moment, batch.time)
        self._offsets.append((batch.time, batch.offsets))

    def _is_held_back(self, batch: TimedBatch) -> bool:
        """Whether a replayed time can be completed with later ones: nobody waits for its deltas."""
        self._held_back += batch.records
        if batch.time < self._journal.committed_time and self._held_back < REPLAYED_TOGETHER:
            return True
        self._held_back = 0
        return False

    def _complete_held_back(self) -> None:
        """Complete what is held back, so that its deltas go nowhere, as they were published.

        Times that only said that it was later are not replayed: the last one stands for them all.
        """
        ticked = self._journal.ticked_time >= self.pool.frontier
        if self._held_back or ticked:
            self._held_back = 0
            time, offsets = self._offsets[-1]
            if ticked:
                time = self._journal.ticked_time
                self.clock.feed(self._journal.committed_moment, time)
                self._offsets.append((time, offsets))
            self._advance(time)
            for name in self.errors:
                self._drained(name)
            self._reflected = self._offsets[-1]

    def _advance(self, time: int) -> None:
        """Complete `time`, and all before it that were held back."""
        try:
            self.pool.advance(time + 1)
        except NoFixedPoint as error:
            self._set_failed(str(error))

    def _set_failed(self, reason: str) -> None:
        """The pool dropped views that did not converge: remember which, and why."""
        for name in list(self.errors):
            try:
                self.pool.scan(name)
            except UnknownCollection:
                self._journal.fail_view(name, reason)
                self.failed[name] = reason
                del self.errors[name]
                log.error("view failed", view=name, reason=reason)

    def _drained(self, name: str) -> Deltas:
        """The view's deltas; its row errors are folded into `errors`."""
        deltas = self.pool.drain(name)
        if deltas.errors.num_rows:
            messages = deltas.errors.column(0).to_pylist()
            fold = Counter(self.errors[name])
            for message, diff in zip(messages, deltas.error_diffs.tolist(), strict=True):
                fold[str(message)] += diff
            self.errors[name] = Counter({m: n for m, n in fold.items() if n})
        return deltas

    def _publish(self, batch: TimedBatch, drained: dict[str, Deltas]) -> None:
        for name, deltas in drained.items():
            self.meter.deltas[name] += self._sink.write(name, deltas, batch.time, batch.offsets)
        self._commit(batch.time)

    def _commit(self, time: int) -> None:
        ends = self._sink.flush()
        self._journal.commit(time, ends)
        self.published.update(ends)

    def _count(self, batch: TimedBatch, drained: dict[str, Deltas], seconds: float) -> None:
        meter = self.meter
        meter.batches += 1
        meter.records += batch.records
        meter.batch_seconds.observe(np.array([seconds]))
        for table, updates in batch.tables.items():
            meter.updates[table] += len(updates.diffs)
            if drained:
                meter.latency_seconds.observe(_ages(updates))


def _ages(updates: TableUpdates) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Seconds from each record's own timestamp until now; records without one are left out."""
    stamped = updates.ts_ms[updates.ts_ms > 0]
    return (clock.time() * 1000 - stamped) / 1000
