"""From decoded chunks to the receiver: the protocol that makes every record count once.

For each logical time: its ranges are journaled, its rejected records kept, and only then the
receiver applies it. A crash at any point leaves a journal from which the same times come again
with the same records.
"""

import threading
import time as clock
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import pyarrow as pa
from opentelemetry import trace
from structlog.contextvars import bound_contextvars

from connectors.errors import (
    CorrectionLost,
    PipelineFailed,
    ReplayUnderWay,
    Stalled,
    TransactionIncomplete,
)
from connectors.ingest.counts import counted
from connectors.ingest.refusals import Refusal, refusals
from connectors.ingest.settings import Isolation
from connectors.ingest.stalls import Stall, Stalls
from connectors.ingest.timed_batch import merged, records_in, rejections, updates_of
from connectors.offsets import Offsets, offsets_of
from connectors.progress.assign import Assigned, Piece, Progress, before
from connectors.progress.batches import Correction, Range, Receiver, RowOwners, TimedBatch
from connectors.progress.journal import Entry, Journal
from connectors.progress.resolution import Resolution, are_markers, companions
from connectors.quarantine import replay
from connectors.quarantine.replay import Outcome, SchemasOf, no_schemas
from connectors.quarantine.reread import Past
from connectors.quarantine.store import Place, Quarantine, Quarantined
from connectors.quarantine.superseded import Overtaking
from connectors.spark.chunks import Chunk, chunks
from connectors.streams import table_of
from connectors.tables.spec import TableSpec
from ivm.cluster.dealing import PARCEL, parcels_of
from ivm.errors import IvmError

# Over how many seconds the rate of records is taken.
RATE_WINDOW = 10.0

TRACER = trace.get_tracer("ivm")


class Delivery:
    """Delivers batches in order, one at a time; tables come and go between them."""

    def __init__(
        self,
        journal: Journal,
        quarantine: Quarantine,
        receiver: Receiver,
        schemas: SchemasOf = no_schemas,
        isolation: Isolation = "table",
        owners: RowOwners | None = None,
    ) -> None:
        """Begin with a replay of the times that `journal` holds beyond its start.

        Corrections are decoded here, with these `schemas`. Tasks bring rows to the `owners`, if
        there are some.
        """
        self._owners = owners
        self._schemas = schemas
        self._isolation = isolation
        self._stalls = Stalls()
        self._journal = journal
        self._quarantine = quarantine
        self._receiver = receiver
        start = journal.start
        self._progress = Progress(journal.entries(), journal.last_time, journal.positions_at(start))
        self._reached = dict(self._progress.positions)
        quarantine.orphan({table: journal.epoch(table) for table in quarantine.tables()})
        self._tables: dict[str, TableSpec] = {}
        self._resolution = Resolution()
        self._recent: deque[tuple[float, int]] = deque()
        self._running = threading.Lock()
        self._open = False
        self._skipped: set[Place] = set()
        self._parcels: set[int] = set()
        self._corrections: dict[int, tuple[Piece, ...]] = {}
        self.time = start
        self.records = 0
        self.decoding: defaultdict[str, float] = defaultdict(float)

    @property
    def pending(self) -> list[Entry]:
        """The journaled times that are still to be delivered."""
        return self._progress.pending

    def reached(self) -> dict[tuple[str, int], int]:
        """The offset after the last one received, by (table, partition)."""
        return dict(self._reached)

    def positions(self) -> dict[tuple[str, int], int]:
        """The offset after the last one that came, received or not, by (table, partition)."""
        return dict(self._progress.positions)

    @property
    def stalls(self) -> Mapping[str, Stall]:
        """The tables that stand still while others go on; of these only what is journaled comes."""
        return self._stalls.found

    def isolates(self, table: str) -> bool:
        """Whether this table can stand still by itself: no journaled time waits for its records."""
        if self._isolation == "all" or table not in self._resolution.tables:
            return False
        tables = self.companions(table)
        pending = self._progress.pending
        waited_for = {r.table for entry in pending for r in entry.ranges}
        waited_for |= {c.table for entry in pending for c in entry.corrections}
        return not tables & waited_for

    def companions(self, table: str) -> frozenset[str]:
        """A table and those that stand still with it."""
        return companions(table, self._resolution.tables)

    def stall(self, error: IvmError, table: str) -> bool:
        """Let a table stand still, and what must with it; False where all have to wait.

        For an error of reading, between queries.
        """
        known = self._stalls.found.get(table)
        if known is not None and known.error is error:
            return True
        with self._running:
            if not self.isolates(table):
                return False
            self._stand_still(error, table)
            return True

    def end_stalls(self, tables: Collection[str]) -> None:
        """Let tables go on, between queries: what they passed over has to come again."""
        self._stalls.end(tables)

    def _stand_still(self, error: IvmError, table: str | None) -> None:
        assert table is not None, "an error before a record names its table"
        tables = self.companions(table)
        self._stalls.add(error, tables)
        self._progress.rewind(tables, self._journal.positions())
        self._resolution.wait_anew()

    def table(self, key: str) -> TableSpec | None:
        """The table of chunks with this key, if it is read."""
        return self._tables.get(key)

    def rate(self) -> float:
        """Records received per second of late."""
        since = clock.monotonic() - RATE_WINDOW
        return sum(count for at, count in tuple(self._recent) if at >= since) / RATE_WINDOW

    def open(self) -> None:
        """Let batches pass; first come the journaled times that no batch brings.

        Raises RegistryUnavailable, before anything is delivered, where corrections among the
        journaled times need one that is away; then ask again. CorrectionLost where their bytes
        are gone, and what the receiver raises.
        """
        with self._running:
            self._open = True
            self._decode_corrections()
            for assigned in self._progress.assign((), self._resolution):
                self._hand_over(assigned)

    def close(self) -> None:
        """Wait for the batch under way; those that still come are not delivered."""
        with self._running:
            self._open = False

    def begin(self, table: str, offsets: Mapping[int, int]) -> None:
        """The reading of a new table begins at `offsets`, by partition."""
        self._progress.begin(table, offsets)
        self._reached.update({(table, p): offset for p, offset in offsets.items()})

    def add_table(self, key: str, spec: TableSpec) -> None:
        """Accept chunks with this key, for table `spec`."""
        # A new dict, since a batch under way may be reading the present one.
        self._set_tables({**self._tables, key: spec})

    def alter_table(
        self, table: str, apply: Callable[[TimedBatch], Mapping[str, TableSpec] | None]
    ) -> bool:
        """Accept chunks of a table's streams as they are from now on; False if they stay.

        `apply` gets a new time at which nothing else happens, no moment later than the last one,
        and gives the streams from then on, by their keys; or None. Raises ReplayUnderWay, and what
        `apply` raises.
        """
        made: list[Mapping[str, TableSpec] | None] = []
        with self.at_new_time(lambda batch: made.append(apply(batch))):
            [streams] = made
            if streams is not None:
                self._set_tables({**self._without(table), **streams})
            return streams is not None

    @contextmanager
    def at_new_time(self, apply: Callable[[TimedBatch], object]) -> Iterator[None]:
        """Let `apply` do what it does at a new time at which nothing else happens.

        No batch is delivered before the context ends. The time's moment is that of the last one.
        Raises ReplayUnderWay, and what `apply` raises.
        """
        with self._running:
            if not self._open or self._progress.pending:
                raise ReplayUnderWay(
                    "columns are added, and views replaced, once the pipeline runs and all "
                    "journaled times are applied; try again in a few seconds"
                )
            time, moment = self._progress.next_time(), self._journal.committed_moment
            self._journal.prepare(time, (), moment)
            apply(TimedBatch(time, {}, (), self._offsets(), 0, 0, False, moment))
            self.time = time
            yield

    def _set_tables(self, tables: dict[str, TableSpec]) -> None:
        self._tables = tables
        self._resolution.tables = {spec.name: spec for spec in tables.values()}

    @contextmanager
    def between_batches(self) -> Iterator[None]:
        """Wait for the batch under way; no other is delivered before the context ends."""
        with self._running:
            yield

    def remove_table(self, table: str) -> None:
        """Forget a table (between batches only); where the journal cannot, nothing is changed."""
        self._journal.drop_table(table)
        self._set_tables(self._without(table))
        kept = [name for name in self._quarantine.tables() if table_of(name) == table]
        self._quarantine.orphan(dict.fromkeys(kept, self._journal.epoch(table)))
        self._progress.forget(table)
        self._stalls.forget(table)
        self._corrections.clear()  # what is still to come of the others is decoded again
        self._reached = {k: end for k, end in self._reached.items() if table_of(k[0]) != table}

    def _without(self, table: str) -> dict[str, TableSpec]:
        """The streams of the other tables."""
        return {key: s for key, s in self._tables.items() if table_of(s.name) != table}

    def deliver(self, batch: pa.Table) -> None:
        """Hand over one micro-batch of chunks.

        Raises Stalled for a table that stalls before a record: by itself, once all else was handed
        over, or before anything new is recorded where all tables are to wait. Raises
        CorrectionLost, which is a Stalled; RegistryUnavailable as `open` does; OffsetGap when
        records are missing; and what the receiver raises.
        """
        with self._running:
            if not self._open:
                return
            came = list(chunks(batch))
            self._parcels |= _parcels(chunk.updates for chunk in came)
            known = [chunk for chunk in came if chunk.key in self._tables]
            pieces = self._standing(list(map(self._piece, known)))
            try:
                self._replay(pieces)
                self._take(pieces, self._refusals(known))
            finally:
                self._release()

    def begin_query(self) -> None:
        """Let owners drop what tasks have brought them, and never told here; none runs."""
        if self._owners is not None:
            with self._running:
                self._owners.keep(self._parcels)

    def _release(self) -> None:
        """Tell the owners of which parcels nothing further comes."""
        if self._owners is not None and self._parcels:
            waiting = _parcels(piece.updates for piece in self._progress.waiting())
            self._owners.release(self._parcels - waiting)
            self._parcels &= waiting

    def _standing(self, pieces: list[Piece]) -> list[Piece]:
        """These pieces, of tables that stand still only as far as they are journaled."""
        stalls = self._stalls.found
        if not stalls:
            return pieces
        recorded = self._journal.positions()
        ends = {}
        for r in (piece.range for piece in pieces):
            at = r.table, r.partition
            ends[at] = recorded.get(at, 0) if r.table in stalls else r.end
        return before(pieces, ends)

    def _refusals(self, batch: Sequence[Chunk]) -> dict[tuple[str, int], Refusal]:
        """The new records before which tables stall that do not stand still yet."""
        stalls = self._stalls.found
        fresh = [chunk for chunk in batch if self._tables[chunk.key].name not in stalls]
        recorded = self._journal.positions()
        return refusals(fresh, self._tables, recorded, self._reached, self._skipped)

    def _take(self, pieces: list[Piece], refused: Mapping[tuple[str, int], Refusal]) -> None:
        """Hand over what is new before the records that are refused, and raise why they are."""
        errors: list[Stalled] = [refusal.error for refusal in refused.values()]
        if errors and self._isolation == "all":
            raise errors[0]
        if errors:
            ends = {(p.range.table, p.range.partition): p.range.end for p in pieces}
            pieces = before(pieces, {**ends, **{at: r.offset for at, r in refused.items()}})
        taken = None
        while taken is None:
            try:
                taken = self._progress.assign(pieces, self._resolution)
            except TransactionIncomplete as error:
                if self._isolation == "all":
                    raise
                self._stand_still(error, error.table)
                errors.append(error)
                pieces = []  # they wait, but for those of its tables
        for assigned in taken:
            self._hand_over(assigned)
        for refused_for in errors:
            self._stand_still(refused_for, refused_for.table)
        if errors:
            raise errors[0]

    def _replay(self, pieces: Sequence[Piece]) -> None:
        """Hand over the journaled times first: a new record at fault does not hold these up."""
        if self._progress.pending:
            self._decode_corrections()
            recorded = self._journal.positions()
            for assigned in self._progress.assign(before(pieces, recorded), self._resolution):
                self._hand_over(assigned)

    def tick(self) -> None:
        """Hand over the present moment as a time of its own, unless a replay is under way.

        Raises what the receiver raises.
        """
        with self._running:
            if self._open and not self._progress.pending:
                self._hand_over(Assigned(self._progress.next_time(), (), None))

    def skip(self, place: Place) -> None:
        """Quarantine this one record when it comes, although its table stalls."""
        # A new set, since a batch under way may be reading the present one.
        self._skipped = {*self._skipped, place}

    def overtaking(self, places: Iterable[Place], past: Past) -> Overtaking:
        """For `correct`: these records, and those received by now that may have overtaken them.

        Raises UnknownRecord, RegistryUnavailable.
        """
        found = [self._quarantine.get(place) for place in places]
        known = Overtaking(found, self._by_name(), past, self._quarantine, self._schemas)
        known.follow(self._reached.copy())
        return known

    def correct(self, places: Iterable[Place], overtaking: Overtaking | None) -> Outcome:
        """Hand over the open ones of these quarantined records as corrections, at one new time.

        Those that others have overtaken are refused, unless `overtaking` is None. Raises
        UnknownRecord and RegistryUnavailable; ReplayUnderWay unless all that was journaled is
        applied; and PipelineFailed when the receiver raises: then a restart applies them.
        """
        with self._running:
            if not self._open or self._progress.pending:
                raise ReplayUnderWay(
                    "corrections wait until the pipeline runs and all journaled times are applied; "
                    "try again in a few seconds"
                )
            found = [self._quarantine.get(place) for place in places]
            faulty = replay.refusals(found, self._by_name(), self._schemas)
            refused = {refusal.found.record.place: refusal for refusal in faulty}
            if overtaking is not None:
                overtaking.follow(self._reached)
                for one in found:
                    if one.record.place not in refused and (fault := overtaking.fault(one)):
                        refused[one.record.place] = replay.Refusal(one, fault)
            corrections = tuple(o.correction() for o in found if o.record.place not in refused)
            if not corrections:
                return Outcome(None, (), tuple(refused.values()))
            made = self._corrected(corrections)
            time = self._progress.next_time()
            self._corrections[time] = made
            try:
                self._hand_over(Assigned(time, (), None, corrections))
            except Exception as error:
                raise PipelineFailed(f"{type(error).__name__}: {error}") from error
            return Outcome(time, corrections, tuple(refused.values()))

    def decoded(self, one: Quarantined) -> pa.Table:
        """The updates that a correction by this record would make (raises as `replay.decoded`)."""
        return replay.decoded(one, self._by_name(), self._schemas)

    def _by_name(self) -> dict[str, TableSpec]:
        return {spec.name: spec for spec in self._tables.values()}

    def _piece(self, chunk: Chunk) -> Piece:
        spec = self._tables[chunk.key]
        self.decoding[table_of(spec.name)] += chunk.seconds
        where = Range(spec.name, spec.topic, chunk.partition, chunk.first, chunk.end)
        return Piece(where, chunk.updates, chunk.rejected, spec.is_remote, chunk.passed)

    def _hand_over(self, assigned: Assigned) -> None:
        """Journal a time, unless it is, and let the receiver apply it.

        What is logged meanwhile has the time and its offsets, and so has the span of the batch.
        """
        ranges = merged(piece.range for piece in assigned.pieces)
        with (
            bound_contextvars(time=assigned.time, offsets=_told(ranges)),
            TRACER.start_as_current_span("batch") as span,
        ):
            span.set_attribute("ivm.time", assigned.time)
            for r in ranges:
                span.set_attribute(f"ivm.offsets.{r.table}.{r.partition}", (r.first, r.end))
            self._apply(assigned, ranges)

    def _apply(self, assigned: Assigned, ranges: tuple[Range, ...]) -> None:
        moment = assigned.moment
        if moment is None:
            moment = clock.time_ns() // 1000
            with TRACER.start_as_current_span("journal"):
                self._journal.prepare(assigned.time, ranges, moment, assigned.corrections)
        held = assigned.pieces
        if assigned.corrections:
            self._quarantine.close_as_replayed(assigned.corrections, assigned.time)
            held = self._corrections.pop(assigned.time)
        rejected = rejections(assigned.pieces, self._journal.epoch)
        if rejected:
            self._quarantine.add(rejected)
        for r in ranges:
            self._reached[r.table, r.partition] = r.end
        records = sum(map(records_in, assigned.pieces))
        batch = TimedBatch(
            time=assigned.time,
            tables=updates_of(assigned.time, held, self._by_name()),
            ranges=ranges,
            offsets=self._offsets(),
            records=records or len(assigned.corrections),
            rejected=len(rejected),
            committed=assigned.time <= self._journal.committed_time,
            moment=moment,
            corrections=assigned.corrections,
            counts=counted(assigned.pieces),
        )
        self._receiver.receive(batch)
        self.time = assigned.time
        self._count(records)

    def _decode_corrections(self) -> None:
        """Decode the corrections among the journaled times while none of these is taken yet.

        A registry that is away can be waited for then: nothing is passed over.
        """
        for entry in self._progress.pending:
            if entry.corrections and entry.time not in self._corrections:
                self._corrections[entry.time] = self._corrected(entry.corrections)

    def _corrected(self, corrections: Sequence[Correction]) -> tuple[Piece, ...]:
        """These corrections as they were when their time was given.

        Raises CorrectionLost, RegistryUnavailable.
        """
        found = [self._quarantine.used(correction) for correction in corrections]
        made = tuple(replay.pieces(found, self._by_name(), self._schemas))
        for piece in made:
            for record in piece.rejected:
                r = piece.range
                raise CorrectionLost(
                    f"table {r.table!r}, partition {r.partition}, offset {record.offset}: a "
                    f"correction that was journaled is now refused: {record.message}"
                )
        return made

    def _count(self, records: int) -> None:
        now = clock.monotonic()
        self.records += records
        self._recent.append((now, records))
        while self._recent[0][0] < now - RATE_WINDOW:
            self._recent.popleft()

    def _offsets(self) -> Offsets:
        """The offsets of each source that are reflected."""
        specs = self._tables.values()
        topics = {spec.name: spec.topic for spec in specs if not are_markers(spec)}
        return offsets_of(topics, self._reached)


def _parcels(updates: Iterable[pa.Table]) -> set[int]:
    """The parcels to whose rows updates refer."""
    referring = (table for table in updates if PARCEL in table.column_names)
    return set().union(*map(parcels_of, referring))


def _told(ranges: Iterable[Range]) -> dict[str, dict[str, tuple[int, int]]]:
    """The offsets of ranges for the log: the first one, and the one after the last."""
    told: dict[str, dict[str, tuple[int, int]]] = {}
    for r in ranges:
        told.setdefault(r.table, {})[str(r.partition)] = r.first, r.end
    return told
