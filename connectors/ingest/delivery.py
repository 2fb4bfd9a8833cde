"""From decoded chunks to the receiver: the protocol that makes every record count once.

For each logical time: its ranges are journaled, its rejected records kept, and only then the
receiver applies it. A crash at any point leaves a journal from which the same times come again
with the same records.
"""

import threading
import time as clock
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
import pyarrow as pa

from connectors.decode import DIFF, OFFSET, TRANSACTION
from connectors.errors import CorrectionLost, PipelineFailed, ReplayUnderWay, Stalled
from connectors.ingest.counts import counted
from connectors.ingest.timed_batch import merged, records_in, rejections, updates_of
from connectors.offsets import Offsets, offsets_of
from connectors.progress.assign import Assigned, Piece, Progress, before
from connectors.progress.batches import Correction, Range, Receiver, TimedBatch
from connectors.progress.journal import Entry, Journal
from connectors.progress.resolution import Resolution, are_markers
from connectors.quarantine.replay import Outcome, Refusal, SchemasOf, no_schemas, pieces, refusals
from connectors.quarantine.reread import Past
from connectors.quarantine.store import Place, Quarantine
from connectors.quarantine.superseded import Overtaking
from connectors.spark.chunks import Chunk, chunks
from connectors.tables.spec import TableSpec

# Over how many seconds the rate of records is taken.
RATE_WINDOW = 10.0


class Delivery:
    """Delivers batches in order, one at a time; tables come and go between them."""

    def __init__(
        self,
        journal: Journal,
        quarantine: Quarantine,
        receiver: Receiver,
        schemas: SchemasOf = no_schemas,
    ) -> None:
        """Begin with a replay of the times that `journal` holds beyond its start.

        Corrections are decoded here, with these `schemas`.
        """
        self._schemas = schemas
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
        self._corrections: dict[int, tuple[Piece, ...]] = {}
        self.time = start
        self.records = 0

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
        self, old: str, new: str, apply: Callable[[TimedBatch], TableSpec | None]
    ) -> TableSpec | None:
        """Accept chunks with key `new` in the stead of those with key `old`.

        `apply` gets a new time at which nothing else happens, no moment later than the last one,
        and gives the table as it is from then on; or None, and it stays as it is. Raises
        ReplayUnderWay, and what `apply` raises.
        """
        with self._running:
            if not self._open or self._progress.pending:
                raise ReplayUnderWay(
                    "columns are added once the pipeline runs and all journaled times are applied; "
                    "try again in a few seconds"
                )
            time, moment = self._progress.next_time(), self._journal.committed_moment
            self._journal.prepare(time, (), moment)
            spec = apply(TimedBatch(time, {}, (), self._offsets(), 0, 0, False, moment))
            if spec is not None:
                rest = {key: known for key, known in self._tables.items() if key != old}
                self._set_tables({**rest, new: spec})
                self.time = time
            return spec

    def _set_tables(self, tables: dict[str, TableSpec]) -> None:
        self._tables = tables
        self._resolution.tables = {spec.name: spec for spec in tables.values()}

    @contextmanager
    def between_batches(self) -> Iterator[None]:
        """Wait for the batch under way; no other is delivered before the context ends."""
        with self._running:
            yield

    def remove_table(self, key: str) -> None:
        """Forget a table (between batches only); where the journal cannot, nothing is changed."""
        name = self._tables[key].name
        self._journal.drop_table(name)
        self._set_tables({k: spec for k, spec in self._tables.items() if k != key})
        self._quarantine.orphan({name: self._journal.epoch(name)})
        self._progress.forget(name)
        self._corrections.clear()  # what is still to come of the others is decoded again
        self._reached = {k: end for k, end in self._reached.items() if k[0] != name}

    def deliver(self, batch: pa.Table) -> None:
        """Hand over one micro-batch of chunks.

        Raises Stalled, before anything new is recorded, for a rejected record of a table that
        stalls, and CorrectionLost, which is one;
        RegistryUnavailable as `open` does; OffsetGap when records are missing; and what the
        receiver raises.
        """
        with self._running:
            if not self._open:
                return
            known = [chunk for chunk in chunks(batch) if chunk.key in self._tables]
            pieces = list(map(self._piece, known))
            self._replay(pieces)
            self._refuse(known)
            for assigned in self._progress.assign(pieces, self._resolution):
                self._hand_over(assigned)

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
            faulty = refusals(found, self._by_name(), self._schemas)
            refused = {refusal.found.record.place: refusal for refusal in faulty}
            if overtaking is not None:
                overtaking.follow(self._reached)
                for one in found:
                    if one.record.place not in refused and (fault := overtaking.fault(one)):
                        refused[one.record.place] = Refusal(one, fault)
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

    def _by_name(self) -> dict[str, TableSpec]:
        return {spec.name: spec for spec in self._tables.values()}

    def _piece(self, chunk: Chunk) -> Piece:
        spec = self._tables[chunk.key]
        where = Range(spec.name, spec.topic, chunk.partition, chunk.first, chunk.end)
        return Piece(where, chunk.updates, chunk.rejected, spec.is_remote, chunk.passed)

    def _refuse(self, batch: Sequence[Chunk]) -> None:
        """Raise Stalled for the first new rejected record of a table that stalls.

        What is to be skipped is not among them; it is quarantined as in any other table.
        """
        recorded = self._journal.positions()
        for chunk in batch:
            spec = self._tables[chunk.key]
            self._refuse_truncation(chunk, batch, recorded)
            if spec.on_error != "stall":
                continue
            position = recorded.get((spec.name, chunk.partition), 0)
            for record in chunk.rejected:
                place = (spec.name, chunk.partition, record.offset)
                if record.offset >= position and place not in self._skipped:
                    raise Stalled(
                        f"table {spec.name!r}, topic {spec.topic!r}, partition {chunk.partition}, "
                        f"offset {record.offset}: {record.reason}: {record.message}; `ivm "
                        f"quarantine skip {spec.name} {chunk.partition} {record.offset}` puts this "
                        "record into the quarantine and goes on, and a PUT of the source with "
                        '"on_error": "quarantine" every one from now on',
                        place,
                    )

    def _refuse_truncation(
        self, chunk: Chunk, batch: Sequence[Chunk], recorded: Mapping[tuple[str, int], int]
    ) -> None:
        """Raise Stalled for a truncation whose place among the other partitions is unknown."""
        spec = self._tables[chunk.key]
        others = {p for table, p in self._reached if table == spec.name}
        others |= {other.partition for other in batch if other.key == chunk.key}
        others -= {chunk.partition}
        truncated = chunk.updates[DIFF].to_numpy() == 0
        if not others or not truncated.any():
            return
        if spec.resolution == "transaction" and TRANSACTION in chunk.updates.column_names:
            truncated &= ~chunk.updates[TRANSACTION].is_valid().to_numpy()
        position = recorded.get((spec.name, chunk.partition), 0)
        for i in np.flatnonzero(truncated).tolist():
            offset = chunk.updates[OFFSET][i].as_py()
            if offset >= position:
                raise Stalled(
                    f"table {spec.name!r}, topic {spec.topic!r}, partition {chunk.partition}, "
                    f"offset {offset}: the table was truncated, and nothing says which records of "
                    f"the other {len(others)} partitions came before that. Read the table again "
                    "(delete the source and declare it once a new snapshot is in the topic), and "
                    'give the topic one partition, or the source "resolution": "transaction"'
                )

    def _hand_over(self, assigned: Assigned) -> None:
        ranges = merged(piece.range for piece in assigned.pieces)
        moment = assigned.moment
        if moment is None:
            moment = clock.time_ns() // 1000
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
        made = tuple(pieces(found, self._by_name(), self._schemas))
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
