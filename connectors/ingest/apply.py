"""Applies timed batches: feed the tables, complete the time, publish every view's deltas.

The protocol of exactly once: a time is applied whether or not its deltas were published before,
since the engine starts empty, and each sink takes the deltas if it lacks the time. All sinks
prepare before the first commits; they commit in reverse order, so the first, which is the one that
the journal belongs to, commits last.
"""

import threading
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from time import monotonic, time_ns
from types import MappingProxyType
from typing import Any, Protocol, TypeGuard

import numpy as np
import structlog

from connectors.checkpoint.writer import Batch
from connectors.errors import BrokerFault, PipelineFailed
from connectors.ingest.alter import Remade, difference
from connectors.ingest.feed import Feeder, declare_input
from connectors.ingest.meter import Meter
from connectors.ingest.successors import Successors, folded
from connectors.offsets import Offsets
from connectors.progress.batches import TableUpdates, TimedBatch
from connectors.progress.journal import Journal
from connectors.quarantine.store import Quarantine
from connectors.sinks.sink import Changes, Output, Reached, Redefined, Sink
from connectors.tables.spec import TableSpec
from connectors.tables.widen import brought
from ivm.cluster.dealing import Owners
from ivm.cluster.pool import AnyPool, ClusterPool
from ivm.dataflow.nodes import Node
from ivm.errors import DataflowFailed, IvmError, PoolFailed
from ivm.pool import Budget
from ivm.results import Deltas, Installed

# How many recent times keep their offsets, for readers that hold a snapshot of one.
REMEMBERED = 256
# How many replayed records the pool may hold back to complete their times in one step.
REPLAYED_TOGETHER = 1_000_000

# How often a request that waits for the batch under way looks whether that waits, too.
LOOK_SECONDS = 0.5

# Rows that are decoded at once where a table gets columns.
ROWS_AT_ONCE = 65_536

# The columns that a view is looked up by; None if its rows are not kept.
Key = Sequence[str] | None

log = structlog.get_logger()


class Clock(Protocol):
    """The present moment as an input of the pool."""

    @property
    def moment(self) -> int:
        """The latest moment that it was told (0: none)."""

    def feed(self, moment: int, time: int) -> None:
        """From `time` on it is `moment`, in microseconds since the epoch; it never goes back."""


@dataclass(frozen=True, slots=True)
class Switch:
    """Views, each after those it reads, whose successors take their places.

    `switched` is called once the pool has them by the views' names, and nothing is published yet.
    """

    views: Sequence[str]
    switched: Callable[[], None]


class Applier:
    """The pipeline's receiver, and the only place where views are installed and dropped.

    `lock` excludes changes of the set of views while a time is being applied.
    """

    def __init__(
        self,
        pool: AnyPool,
        clock: Clock,
        journal: Journal,
        sinks: Sequence[Sink],
        meter: Meter,
        quarantine: Quarantine,
        published: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """`published` has the names under which sinks and journal know views that were renamed."""
        self.pool = pool
        self.feeder = Feeder(pool, journal, quarantine, meter, self._advance)
        self.clock = clock
        self.meter = meter
        self.lock = threading.Lock()
        self._published = dict(published)
        names = {told: name for name, told in published.items()}
        self.failed = {names.get(told, told): reason for told, reason in journal.failed.items()}
        self.errors: dict[str, Counter[str]] = {}
        self._journal = journal
        self._sinks = sinks
        self._declared = Offsets()
        self._offsets: deque[tuple[int, Offsets]] = deque([(0, Offsets())], REMEMBERED)
        self._reached = Reached(0, 0, Offsets())
        self._held_back = 0
        self._listeners: list[Callable[[], None]] = []
        self.successors = Successors(pool)
        self.switches: dict[int, Switch] = {}

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Hold `lock` for a request, which is not to wait as long as a broker is away.

        Raises BrokerFault where the batch under way waits for one.
        """
        while not self.lock.acquire(timeout=LOOK_SECONDS):
            for fault in (fault for sink in self._sinks for fault in sink.faults()):
                raise BrokerFault(fault.detail, fault.part, fault.setting)
        try:
            yield
        finally:
            self.lock.release()

    def expect_answers(self) -> None:
        """See that a new time can be published, as far as is known (raises BrokerFault)."""
        for sink in self._sinks:
            sink.expect_answers()

    def listen(self, listener: Callable[[], None]) -> None:
        """Call `listener`, from the applying thread, whenever something was published."""
        self._listeners.append(listener)

    def offsets(self, time: int | None = None) -> Offsets:
        """The input offsets reflected at a recent `time`, by default at the last one published."""
        if time is None:
            return self._reached.offsets
        recent = reversed(tuple(self._offsets))
        return next((offsets for t, offsets in recent if t <= time), Offsets())

    @property
    def reflected(self) -> tuple[int, Offsets]:
        """The last time published, and the input offsets that it reflects."""
        return self._reached.time, self._reached.offsets

    def begin(self, time: int, moment: int, offsets: Offsets) -> None:
        """Go on after `time`, up to which the pool's tables have been fed (0: they are empty)."""
        with self.lock:
            self.clock.feed(moment, time)
            self.pool.advance(time + 1)
            self._declared = offsets
            self._offsets.append((time, offsets))
            self._reached = Reached(time, moment, offsets, self._journal.ranges(time))

    def declare(self, source: Offsets) -> None:
        """Tell positions of a new source too: those at which it begins, until batches have more."""
        with self.lock:
            self._declared = self._declared.join(source)
            self._reached = replace(self._reached, offsets=self._reached.offsets.join(source))
            self._offsets.append((self._reached.time, self._reached.offsets))

    def forget_source(self, name: str) -> None:
        """Tell nothing more of a source; `lock` is held, and no view reads it."""
        self._declared = self._declared.without(name)
        told = [(time, offsets.without(name)) for time, offsets in self._offsets]
        self._offsets = deque(told, REMEMBERED)
        self._reached = replace(self._reached, offsets=self._reached.offsets.without(name))

    def receive(self, batch: TimedBatch) -> None:
        """Apply one batch and, unless it was committed before, publish its deltas."""
        if (switch := self.switches.pop(batch.time, None)) is not None:
            self.replace(batch, switch)
            return
        started = monotonic()
        with self.lock:
            if not batch.committed:
                self._complete_held_back()
            with self.meter.stage("engine"):
                self._feed(batch)
                if self._is_held_back(batch):
                    return
                self._advance(batch.time)
                drained = self._drain_all()
            offsets = self._offsets[-1][1]
            reached = Reached(batch.time, batch.moment, offsets, batch.ranges)
            with self.meter.stage("sink"), self.meter.timed(self.meter.publish_seconds):
                self._publish(reached, drained)
        if not batch.committed:
            self._count(batch, drained, monotonic() - started)
        log.debug("applied", records=batch.records, seconds=round(monotonic() - started, 4))
        for listener in self._listeners:
            listener()

    @property
    def owners(self) -> Owners | None:
        """The members of a cluster that own rows, once there are any."""
        return self.pool.owners if isinstance(self.pool, ClusterPool) else None

    def release(self, parcels: Collection[int]) -> None:
        """Let the owners of rows drop these parcels, of which nothing further comes."""
        with self.lock:
            self.feeder.release(parcels)

    def keep(self, parcels: Collection[int]) -> None:
        """Let the owners of rows drop all parcels but these, and those in use."""
        with self.lock:
            self.feeder.keep(parcels)

    def complete_replay(self) -> None:
        """Complete all times up to the one committed last; publish to the sinks that lack it."""
        with self.lock:
            self._complete_held_back()
            self._commit(self._reached)

    def restore(self, output: Output, node: Node, *, lookups: bool) -> None:
        """Install a view that the journal knows: its topics go on at the committed end.

        Raises Unavailable where a sink cannot be asked: then nothing has changed. One that failed
        stays so: its topics lack the deltas since, even if it would converge now. One that cannot
        be kept up to date any more, as under a lower bound, fails.
        """
        name = output.name
        with self.lock:
            self._note_published(output)
            for sink in reversed(self._sinks):  # that of files last: it waits for nobody
                sink.restore(output.as_published)
            if name in self.failed:
                return
            try:
                self.pool.install(name, node, output.key if lookups else None)
                self.errors[name] = Counter()
                deltas = self._drained(name)
            except DataflowFailed as error:
                self.errors.pop(name, None)
                self._fail(name, error.reasons[name])
                return
            for sink in self._sinks:
                sink.skip(self.published_as(name), deltas)

    def fail_reader(self, name: str, read: str) -> None:
        """Let a view fail that reads one that failed, unless it has failed already."""
        with self.lock:
            if name not in self.failed:
                self._fail(name, f"it reads {read!r}, which failed")

    def install(
        self, output: Output, node: Node, *, lookups: bool, budget: Budget | None = None
    ) -> Installed:
        """Install a new view and publish its snapshot as of the present time, durably.

        Without `lookups` the pool keeps its changes alone. The `budget` bounds its hydration, since
        no batch is applied meanwhile.

        Raises what `Pool.install` and `Sink.open` raise, BrokerFault as `turn`, and PipelineFailed
        once a time was published in part, since it would be committed with the view; then nothing
        is changed.
        """
        with self.turn():
            installed = self._install(output, node, budget, lookups=lookups)
        for listener in self._listeners:
            listener()
        return installed

    def retry(
        self, output: Output, node: Node, *, lookups: bool, budget: Budget | None = None
    ) -> Installed:
        """Install a view that failed again; its topics begin anew, with a snapshot.

        Raises as `install`; then it stays failed, for the reason that is raised.
        """
        name = output.name
        with self.turn():
            try:
                installed = self._install(output, node, budget, lookups=lookups, anew=True)
            except (IvmError, OSError) as error:
                self._fail(name, error.reasons[name] if _has_failed(error, name) else str(error))
                raise
            self._journal.retry_view(self.published_as(name))
            del self.failed[name]
        for listener in self._listeners:
            listener()
        return installed

    def _install(
        self,
        output: Output,
        node: Node,
        budget: Budget | None,
        *,
        lookups: bool,
        anew: bool = False,
    ) -> Installed:
        """Install a view and publish its snapshot; `anew`: after what it published once."""
        name = output.name
        if self.pool.frontier - 1 > self._reached.time:
            raise PipelineFailed(
                f"time {self.pool.frontier - 1} could not be published; restart the service"
            )
        key = output.key if lookups else None
        installed = self.pool.install(name, node, key, budget=budget)
        self._note_published(output)
        self.errors[name] = Counter()
        try:
            if anew:
                self._forget(name)
                self._fail(name, "its retry was cut short")  # should the process end amid it
            for sink in self._sinks:
                sink.open(output.as_published)
            deltas = self._drained(name)
            for sink in self._sinks:
                sink.write(self.published_as(name), deltas, self._reached)
            self._commit(self._reached)
            self.meter.deltas[name] += _size(deltas)
        except (IvmError, OSError):
            if name in self.pool.names:
                self.pool.drop(name)
            del self.errors[name]
            self._forget(name)
            raise
        return installed

    def alter(self, batch: TimedBatch, spec: TableSpec, views: Sequence[Remade]) -> None:
        """Give a table the columns of `spec` at the time of `batch`, which says nothing else.

        `views` are those that read it, each after those that it reads: they are made anew, and
        published is what differs. What is raised leaves the pool as no other time may find it.
        """
        with self.lock:
            there = [view for view in views if view.name in self.errors]
            before = {v.name: self.pool.scan(v.name) for v in there if v.compares}
            errors = {view.name: self.errors.pop(view.name) for view in there}
            for view in reversed(there):
                self.pool.drop(view.name)
            batches: list[Batch] = list(self.pool.batches(spec.name))
            self.pool.drop_input(spec.name)
            declare_input(self.pool, spec)
            while batches:
                for rows, diffs in batches.pop().rows(ROWS_AT_ONCE):
                    as_now = brought(rows, spec, len(spec.formerly) - 1)
                    self.pool.feed(spec.name, as_now, diffs, batch.time)
            self._feed(batch)
            self._advance(batch.time)
            drained = {name: self._drained(name) for name in self.errors}
            for name, node, key in ((v.name, v.node, v.key) for v in there):
                self.pool.install(name, node, key)
                self.errors[name] = Counter()
                now = self._drained(name)
                if name in before:
                    *earlier, now = difference(before[name], errors[name], now, batch.time)
                    self._write(name, earlier)
                drained[name] = now if name in before else _none_of(now)
            offsets = self._offsets[-1][1]
            self._publish(Reached(batch.time, batch.moment, offsets), drained)
        for listener in self._listeners:
            listener()

    def replace(self, batch: TimedBatch, switch: "Switch") -> None:
        """Let successors take the places of views at the time of `batch`, which says nothing else.

        What is raised leaves the pool as no other time may find it.
        """
        with self.lock:
            self._replace(batch, switch)
        for listener in self._listeners:
            listener()

    def _replace(self, batch: TimedBatch, switch: "Switch") -> None:
        if not batch.committed:
            self._complete_held_back()
        self._feed(batch)
        self.feeder.settle()
        redefined = self.successors.take_over(switch.views, batch.time, self.errors)
        switch.switched()
        for view in switch.views:
            self.errors[view] = self.successors.forget(view).errors
        drained = self._drain_all()
        rest = {name: deltas for name, deltas in drained.items() if name not in switch.views}
        reached = Reached(batch.time, batch.moment, self._offsets[-1][1])
        self._publish(reached, rest, redefined)
        for one in redefined:
            self.meter.deltas[one.output.name] += sum(map(_size, one.parts))

    def expect(self, outputs: Sequence[Output]) -> None:
        """See that views can go on as these (raises as `Sink.expect`)."""
        with self.turn():
            for output in outputs:
                for sink in self._sinks:
                    sink.expect(output.as_published)

    def _write(self, name: str, earlier: Sequence[Deltas]) -> None:
        """Give the sinks deltas of the next time that come before others of it."""
        for deltas in earlier:
            for sink in self._sinks:
                sink.write(self.published_as(name), deltas, self._reached)

    def tend(self) -> None:
        """Let the sinks publish the deltas and frontiers that had to wait."""
        with self.lock:
            told = [sink.tend(self._reached) for sink in self._sinks]
        if any(told):
            for listener in self._listeners:
                listener()

    def drop(self, name: str) -> None:
        """Stop a view and delete its file topic, however far it was restored."""
        with self.lock:
            self.failed.pop(name, None)
            if self.errors.pop(name, None) is not None:
                with suppress(PoolFailed):  # then it serves readers alone, until the restart
                    self.pool.drop(name)
            self._forget(name)
            self._published.pop(name, None)
        for listener in self._listeners:
            listener()

    def rename(self, name: str, to: str) -> None:
        """Let a view that no other reads have another name; sinks know it by the former one.

        Raises BrokerFault as `turn`; then it has the one that it had.
        """
        with self.turn():
            if name in self.pool.names:
                self.pool.replace({name: to}, self.pool.frontier)
            self._published[to] = self.published_as(name)
            self._published.pop(name, None)
            for told in (self.errors, self.failed, self.meter.deltas):
                _move(told, name, to)
        for listener in self._listeners:
            listener()

    def _note_published(self, output: Output) -> None:
        if output.published is not None:
            self._published[output.name] = output.published

    def published_as(self, name: str) -> str:
        """The name under which sinks and journal know a view."""
        return self._published.get(name, name)

    def forget(self, published: str) -> None:
        """Drop the remains of a view whose making or dropping a crash has cut short."""
        with self.lock:
            for sink in reversed(self._sinks):
                sink.drop(published)

    def _forget(self, name: str) -> None:
        for sink in reversed(self._sinks):
            sink.drop(self.published_as(name))

    def _feed(self, batch: TimedBatch) -> None:
        self.feeder.take(batch)
        self.clock.feed(batch.moment, batch.time)
        # A batch that was on its way when a source was declared does not know it yet.
        self._offsets.append((batch.time, self._declared.join(batch.offsets)))

    def _is_held_back(self, batch: TimedBatch) -> bool:
        """Whether a replayed time can be completed with later ones: nobody waits for its deltas."""
        self._held_back += batch.records
        if batch.time < self._journal.committed_time and self._held_back < REPLAYED_TOGETHER:
            return True
        self._held_back = 0
        return False

    def _complete_held_back(self) -> None:
        """Complete the times held back; their deltas go nowhere, since they were published.

        The committed time may be one that is not replayed, since it only said that it was later, or
        since its table was dropped: nobody is to be shown an older time than before.
        """
        time, moment = self._journal.committed_time, self._journal.committed_moment
        if time >= self.pool.frontier:
            self._held_back = 0
            offsets = self._offsets[-1][1]
            self.clock.feed(moment, time)
            self._offsets.append((time, offsets))
            self._advance(time)
            drained = self._drain_all()
            self._publish(Reached(time, moment, offsets, self._journal.ranges(time)), drained)

    def _advance(self, time: int) -> None:
        """Complete `time`, and all before it that were held back."""
        self.feeder.settle()
        try:
            with self.meter.timed(self.meter.step_seconds):
                self.pool.advance(time + 1)
        except DataflowFailed as error:
            self._set_failed(error)
        self.feeder.check()

    def _set_failed(self, error: DataflowFailed) -> None:
        """Remember the views that the pool dropped, and why; others are queries under way."""
        self.successors.fail(error.reasons)
        failed = ((n, reason) for n, reason in error.reasons.items() if n in self.errors)
        for name, reason in failed:
            self._fail(name, reason)
            del self.errors[name]

    def _fail(self, name: str, reason: str) -> None:
        self._journal.fail_view(self.published_as(name), reason)
        self.failed[name] = reason
        log.error("view failed", view=name, reason=reason)

    def _drain_all(self) -> dict[str, Deltas]:
        """The deltas of all views; one whose deltas cannot be told has failed."""
        drained = {}
        for name in tuple(self.errors):
            if name in self.errors:
                try:
                    drained[name] = self._drained(name)
                except DataflowFailed as error:
                    self._set_failed(error)
        self.successors.drain(drained)
        return {name: deltas for name, deltas in drained.items() if name in self.errors}

    def _drained(self, name: str) -> Deltas:
        """The view's deltas; its row errors are folded into `errors`."""
        deltas = self.pool.drain(name)
        self.errors[name] = folded(self.errors[name], deltas)
        return deltas

    def _publish(
        self,
        reached: Reached,
        drained: Mapping[str, Deltas],
        redefined: Sequence[Redefined] = (),
    ) -> None:
        """Give every sink the deltas that it lacks; from now on this is the last time published."""
        for sink in self._sinks:
            for name, deltas in drained.items():
                told = self.published_as(name)
                if sink.has(told, reached.time):
                    sink.skip(told, deltas)
                else:
                    sink.write(told, deltas, reached)
            for one in redefined:
                sink.redefine(replace(one, output=one.output.as_published), reached)
        self._commit(reached)
        self._reached = reached

    def _commit(self, reached: Reached) -> None:
        for sink in self._sinks:
            sink.prepare(reached)
        for sink in reversed(self._sinks):
            sink.commit(reached)

    def _count(self, batch: TimedBatch, drained: dict[str, Deltas], seconds: float) -> None:
        meter = self.meter
        meter.count(batch)
        meter.batch_seconds.observe(np.array([seconds]))
        for name, deltas in drained.items():
            meter.deltas[name] += _size(deltas)
        for updates in batch.tables.values():
            if drained:
                meter.latency_seconds.observe(_ages(updates))


def _move(told: MutableMapping[str, Any], name: str, to: str) -> None:
    if name in told:
        told[to] = told.pop(name)


def _has_failed(error: Exception, name: str) -> TypeGuard[DataflowFailed]:
    return isinstance(error, DataflowFailed) and name in error.reasons


def _none_of(deltas: Deltas) -> Deltas:
    """No changes, of the same columns."""
    rows, errors = deltas.rows.slice(0, 0), deltas.errors.slice(0, 0)
    times, diffs = deltas.times[:0], deltas.diffs[:0]
    return Deltas(rows, times, diffs, errors, times, diffs)


def _size(deltas: Changes) -> int:
    """The number of these changes."""
    return len(deltas.diffs) + len(deltas.error_diffs)


def _ages(updates: TableUpdates) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Seconds from each record's own timestamp until now; records without one are left out."""
    stamped = updates.ts_ms[updates.ts_ms > 0]
    return (time_ns() / 1e6 - stamped) / 1000
