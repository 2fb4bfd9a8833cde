"""From decoded chunks to the receiver: the protocol that makes every record count once.

For each logical time: its ranges are journaled, its rejected records kept, and only then the
receiver applies it. A crash at any point leaves a journal from which the same times come again
with the same records.
"""

import threading
import time as clock
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pyarrow as pa

from connectors.batches import Offsets, Range, Receiver, TableUpdates, TimedBatch
from connectors.decode import DIFF, OFFSET, TS_MS
from connectors.errors import Stalled
from connectors.progress.assign import Assigned, Piece, Progress
from connectors.progress.journal import Entry, Journal
from connectors.quarantine import Quarantine, Rejected
from connectors.spark.chunks import Chunk, chunks
from connectors.tables import TableSpec

# Over how many seconds the rate of records is taken.
RATE_WINDOW = 10.0


class Delivery:
    """Delivers batches in order, one at a time; tables come and go between them."""

    def __init__(self, journal: Journal, quarantine: Quarantine, receiver: Receiver) -> None:
        """Begin with a replay of all that `journal` holds."""
        self._journal = journal
        self._quarantine = quarantine
        self._receiver = receiver
        self._progress = Progress(journal.entries(), journal.last_time)
        self._reached = dict(self._progress.positions)
        self._tables: dict[str, TableSpec] = {}
        self._recent: deque[tuple[float, int]] = deque()
        self._running = threading.Lock()
        self._open = False
        self.time = 0
        self.records = 0

    @property
    def pending(self) -> list[Entry]:
        """The journaled times that are still to be delivered."""
        return self._progress.pending

    def reached(self) -> dict[tuple[str, int], int]:
        """The offset after the last one received, by (table, partition)."""
        return dict(self._reached)

    def rate(self) -> float:
        """Records received per second of late."""
        since = clock.monotonic() - RATE_WINDOW
        return sum(count for at, count in tuple(self._recent) if at >= since) / RATE_WINDOW

    def open(self) -> None:
        """Let batches pass."""
        with self._running:
            self._open = True

    def close(self) -> None:
        """Wait for the batch under way; those that still come are not delivered."""
        with self._running:
            self._open = False

    def add_table(self, key: str, spec: TableSpec) -> None:
        """Accept chunks with this key, for table `spec`."""
        # A new dict, since a batch under way may be reading the present one.
        self._tables = {**self._tables, key: spec}

    @contextmanager
    def between_batches(self) -> Iterator[None]:
        """Wait for the batch under way; no other is delivered before the context ends."""
        with self._running:
            yield

    def remove_table(self, key: str) -> None:
        """Forget a table (between batches only)."""
        name = self._tables[key].name
        self._tables = {k: spec for k, spec in self._tables.items() if k != key}
        self._journal.drop_table(name)
        self._progress.forget(name)
        self._reached = {k: end for k, end in self._reached.items() if k[0] != name}

    def deliver(self, batch: pa.Table) -> None:
        """Hand over one micro-batch of chunks.

        Raises Stalled, before anything is recorded, for a rejected record of a table that stalls;
        OffsetGap when records are missing; and what the receiver raises.
        """
        with self._running:
            if not self._open:
                return
            known = [chunk for chunk in chunks(batch) if chunk.key in self._tables]
            self._refuse(known)
            for assigned in self._progress.assign(map(self._piece, known)):
                self._hand_over(assigned)

    def tick(self) -> None:
        """Hand over the present moment as a time of its own, unless a replay is under way.

        Raises what the receiver raises.
        """
        with self._running:
            if self._open and not self._progress.pending:
                self._hand_over(Assigned(self._progress.next_time(), (), None))

    def _piece(self, chunk: Chunk) -> Piece:
        spec = self._tables[chunk.key]
        where = Range(spec.name, spec.topic, chunk.partition, chunk.first, chunk.end)
        return Piece(where, chunk.updates, chunk.rejected)

    def _refuse(self, batch: Sequence[Chunk]) -> None:
        """Raise Stalled for the first new rejected record of a table that stalls."""
        recorded = self._journal.positions()
        for chunk in batch:
            spec = self._tables[chunk.key]
            if spec.on_error != "stall":
                continue
            position = recorded.get((spec.name, chunk.partition), 0)
            for record in chunk.rejected:
                if record.offset >= position:
                    raise Stalled(
                        f"table {spec.name!r}, topic {spec.topic!r}, partition {chunk.partition}, "
                        f"offset {record.offset}: {record.reason}: {record.message}"
                    )

    def _hand_over(self, assigned: Assigned) -> None:
        ranges = _merged(piece.range for piece in assigned.pieces)
        moment = assigned.moment
        if moment is None:
            moment = clock.time_ns() // 1000
            self._journal.prepare(assigned.time, ranges, moment)
        rejected = _rejected(assigned.pieces)
        if rejected:
            self._quarantine.add(rejected)
        for r in ranges:
            self._reached[r.table, r.partition] = r.end
        records = sum(r.end - r.first for r in ranges)
        batch = TimedBatch(
            time=assigned.time,
            tables=self._updates(assigned.pieces),
            ranges=ranges,
            offsets=self._offsets(),
            records=records,
            rejected=len(rejected),
            committed=assigned.time <= self._journal.committed_time,
            moment=moment,
        )
        self._receiver.receive(batch)
        self.time = assigned.time
        self._count(records)

    def _count(self, records: int) -> None:
        now = clock.monotonic()
        self.records += records
        self._recent.append((now, records))
        while self._recent[0][0] < now - RATE_WINDOW:
            self._recent.popleft()

    def _updates(self, pieces: Iterable[Piece]) -> dict[str, TableUpdates]:
        """The updates of each table, pieces in their order; no table without any."""
        found: dict[str, list[pa.Table]] = {}
        for piece in pieces:
            if len(piece.updates):
                found.setdefault(piece.range.table, []).append(piece.updates)
        return {name: _table_updates(parts) for name, parts in found.items()}

    def _offsets(self) -> Offsets:
        """What is reflected of each topic: of the tables that share one, the least."""
        topics = {spec.name: spec.topic for spec in self._tables.values()}
        offsets: dict[str, dict[int, int]] = {}
        for (table, partition), end in self._reached.items():
            if table in topics:
                ends = offsets.setdefault(topics[table], {})
                ends[partition] = min(end, ends.get(partition, end))
        return offsets


def _table_updates(parts: list[pa.Table]) -> TableUpdates:
    table = pa.concat_tables(parts)
    rows = table.drop_columns([DIFF, OFFSET, TS_MS]).combine_chunks()
    return TableUpdates(
        rows.to_batches()[0],
        table[DIFF].to_numpy().astype(np.int64, copy=False),
        table[TS_MS].to_numpy().astype(np.int64, copy=False),
    )


def _merged(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """The same records as `ranges`, sorted and each partition in one range."""
    merged: list[Range] = []
    for r in sorted(ranges):
        last = merged[-1] if merged else None
        if last and (last.table, last.partition, last.end) == (r.table, r.partition, r.first):
            merged[-1] = Range(r.table, r.topic, r.partition, last.first, r.end)
        else:
            merged.append(r)
    return tuple(merged)


def _rejected(pieces: Iterable[Piece]) -> list[Rejected]:
    seen_ms = clock.time_ns() // 1_000_000
    return [
        Rejected(
            piece.range.table,
            piece.range.topic,
            piece.range.partition,
            record.offset,
            record.reason,
            record.message,
            record.value,
            seen_ms,
        )
        for piece in pieces
        for record in piece.rejected
    ]
