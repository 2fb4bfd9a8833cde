"""Gives decoded chunks their logical times: each record once, under one time for ever.

Chunks that cover journaled times not yet delivered get these times back; what lies beyond gets
one new time. Records below the position of their partition were delivered before, and are cut
off.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from connectors.batches import Range
from connectors.decode import OFFSET, RejectedRecord
from connectors.errors import OffsetGap
from connectors.progress.journal import Entry


@dataclass(frozen=True, slots=True)
class Piece:
    """Decoded records of one range; `updates` has a column of offsets, named `OFFSET`."""

    range: Range
    updates: pa.Table
    rejected: tuple[RejectedRecord, ...]


@dataclass(frozen=True, slots=True)
class Assigned:
    """The pieces of one logical time, and its moment if the journal holds it already."""

    time: int
    pieces: tuple[Piece, ...]
    moment: int | None


class Progress:
    """Positions of all partitions, and the journaled times that are still to be delivered."""

    def __init__(self, entries: Sequence[Entry], last_time: int) -> None:
        """`entries` are to be replayed; new times follow `last_time`."""
        self._pending = [entry for entry in reversed(entries) if entry.ranges]
        self._last_time = last_time
        self._positions: dict[tuple[str, int], int] = {}
        for entry in entries:
            for r in entry.ranges:
                self._positions.setdefault((r.table, r.partition), r.first)

    @property
    def pending(self) -> list[Entry]:
        """The journaled times that are still to come, ascending."""
        return self._pending[::-1]

    @property
    def positions(self) -> Mapping[tuple[str, int], int]:
        """The offset that is to come next, by (table, partition)."""
        return self._positions

    def forget(self, table: str) -> None:
        """Drop the positions of a table, and what of it was to be replayed."""
        for key in [key for key in self._positions if key[0] == table]:
            del self._positions[key]
        kept = [
            replace(e, ranges=tuple(r for r in e.ranges if r.table != table)) for e in self._pending
        ]
        self._pending = [e for e in kept if e.ranges]

    def assign(self, pieces: Iterable[Piece]) -> list[Assigned]:
        """Divide a batch into times, ascending (raises OffsetGap when records are missing).

        The batch must cover journaled times wholly or not at all.
        """
        fresh = [trimmed for piece in pieces if (trimmed := self._trim(piece)) is not None]
        assigned = []
        while fresh and self._pending:
            entry = self._pending[-1]
            taken, fresh = _divide(fresh, {(r.table, r.partition): r.end for r in entry.ranges})
            _expect(taken, entry)
            self._pending.pop()
            assigned.append(Assigned(entry.time, tuple(taken), entry.moment))
        if fresh:
            assigned.append(Assigned(self.next_time(), tuple(fresh), None))
        return assigned

    def next_time(self) -> int:
        """A new time, after all that there are."""
        self._last_time += 1
        return self._last_time

    def _trim(self, piece: Piece) -> Piece | None:
        """What of `piece` is new; moves the position of its partition."""
        r = piece.range
        position = self._positions.get((r.table, r.partition), r.first)
        if position < r.first:
            raise OffsetGap(
                f"table {r.table!r}, topic {r.topic!r}, partition {r.partition}: the next offset "
                f"is {position}, the batch begins at {r.first}"
            )
        if r.end <= position:
            return None
        self._positions[r.table, r.partition] = r.end
        return _slice(piece, position, r.end)


def _divide(
    pieces: list[Piece], ends: Mapping[tuple[str, int], int]
) -> tuple[list[Piece], list[Piece]]:
    """What lies below `ends`, and the rest (all of a partition that `ends` does not name)."""
    below, rest = [], []
    for piece in pieces:
        r = piece.range
        end = ends.get((r.table, r.partition), r.first)
        if r.first < end:
            below.append(_slice(piece, r.first, min(end, r.end)))
        if end < r.end:
            rest.append(_slice(piece, max(end, r.first), r.end))
    return below, rest


def _slice(piece: Piece, first: int, end: int) -> Piece:
    """The part of `piece` with offsets in `[first, end)`."""
    r = piece.range
    if (first, end) == (r.first, r.end):
        return piece
    begin, stop = np.searchsorted(piece.updates[OFFSET].to_numpy(), (first, end)).tolist()
    return Piece(
        replace(r, first=first, end=end),
        piece.updates.slice(begin, stop - begin),
        tuple(record for record in piece.rejected if first <= record.offset < end),
    )


def _expect(pieces: list[Piece], entry: Entry) -> None:
    """Raise OffsetGap unless `pieces` cover `entry`."""
    held: dict[tuple[str, int], int] = {}
    for piece in pieces:
        r = piece.range
        held[r.table, r.partition] = held.get((r.table, r.partition), 0) + r.end - r.first
    for r in entry.ranges:
        if held.get((r.table, r.partition), 0) != r.end - r.first:
            raise OffsetGap(
                f"time {entry.time} covers the offsets {r.first} to {r.end - 1} of topic "
                f"{r.topic!r}, partition {r.partition}; the batch does not hold all of them"
            )
