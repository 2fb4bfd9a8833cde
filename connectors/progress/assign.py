"""Gives decoded chunks their logical times: each record once, under one time for ever.

However a replay is cut into batches, a journaled time comes back with the records that it had:
pieces wait until all that it covers is there. What lies beyond the journaled times gets one new
time per batch. Records below the position of their partition came before, and are cut off.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Protocol

import numpy as np
import pyarrow as pa

from connectors.decode import OFFSET, PASSED
from connectors.errors import OffsetGap
from connectors.progress.batches import Correction, Range
from connectors.progress.journal import Entry
from connectors.records import RejectedRecord
from connectors.streams import table_of


@dataclass(frozen=True, slots=True)
class Piece:
    """Decoded records of one range; `updates` and `passed` have a column of offsets, `OFFSET`.

    `passed`, whose schema is `PASSED`, are the records that are no change and were not rejected.
    A `sparse` piece is of a topic where offsets without a record are normal (Kafka's markers of
    transactions, what compaction took), so it may begin beyond the position of its partition.
    """

    range: Range
    updates: pa.Table
    rejected: tuple[RejectedRecord, ...]
    sparse: bool = False
    passed: pa.Table = field(default_factory=PASSED.empty_table)


class Cutting(Protocol):
    """Turns pieces into cuts, and counts the times of each."""

    def ends(self, pieces: Sequence[Piece]) -> Mapping[tuple[str, int], int]:
        """Up to which offset the records of each partition may go."""

    def count(self, pieces: Sequence[Piece]) -> int:
        """The number of times that a cut has."""


class Whole:
    """A batch is a cut, and a cut has one time."""

    def ends(self, pieces: Sequence[Piece]) -> Mapping[tuple[str, int], int]:
        """The ends of the pieces, those of a partition ascending."""
        return {(piece.range.table, piece.range.partition): piece.range.end for piece in pieces}

    def count(self, pieces: Sequence[Piece]) -> int:
        """One."""
        return 1


@dataclass(frozen=True, slots=True)
class Assigned:
    """The pieces, sorted, or the corrections of one time, or of several of which it is the last.

    `moment` is its moment if the journal holds it already.
    """

    time: int
    pieces: tuple[Piece, ...]
    moment: int | None
    corrections: tuple[Correction, ...] = ()


_WHOLE = Whole()


class Progress:
    """Positions of all partitions, and the journaled times that are still to be delivered."""

    def __init__(
        self,
        entries: Sequence[Entry],
        last_time: int,
        positions: Mapping[tuple[str, int], int] = MappingProxyType({}),
    ) -> None:
        """`entries` are to be replayed from `positions` on; new times follow `last_time`."""
        self._pending = list(reversed(entries))
        self._last_time = last_time
        self._waiting: list[Piece] = []
        self._positions = dict(positions)
        for entry in entries:
            for r in entry.ranges:
                self._positions.setdefault((r.table, r.partition), r.first)

    @property
    def pending(self) -> list[Entry]:
        """The journaled times that are still to come, ascending."""
        return self._pending[::-1]

    @property
    def positions(self) -> Mapping[tuple[str, int], int]:
        """The offset that is to come next, by (table, partition); pieces that wait have come."""
        return self._positions

    def waiting(self) -> Sequence[Piece]:
        """The pieces that wait for others of their time."""
        return tuple(self._waiting)

    def begin(self, table: str, offsets: Mapping[int, int]) -> None:
        """A new table begins at `offsets`, by partition."""
        self._positions.update({(table, p): offset for p, offset in offsets.items()})

    def forget(self, table: str) -> None:
        """Drop the positions of a table, and its records that wait or were to be replayed.

        Its times stay, and cover nothing of it: something else may have been published at them.
        """
        self._waiting = [p for p in self._waiting if table_of(p.range.table) != table]
        for key in [key for key in self._positions if table_of(key[0]) == table]:
            del self._positions[key]
        self._pending = [
            replace(
                e,
                ranges=tuple(r for r in e.ranges if table_of(r.table) != table),
                corrections=tuple(c for c in e.corrections if table_of(c.table) != table),
            )
            for e in self._pending
        ]

    def rewind(self, tables: Collection[str], ends: Mapping[tuple[str, int], int]) -> None:
        """Forget the records of some tables that came and lie beyond `ends`: they come again.

        `ends` are those of the journaled times, by (table, partition).
        """
        others = [piece.range for piece in self._waiting if piece.range.table not in tables]
        kept = {**ends, **{(r.table, r.partition): r.end for r in others}}
        self._waiting = before(self._waiting, kept)
        for key in [key for key in self._positions if key[0] in tables]:
            if key in ends:
                self._positions[key] = min(self._positions[key], ends[key])
            else:
                del self._positions[key]

    def assign(self, pieces: Iterable[Piece], cutting: Cutting = _WHOLE) -> list[Assigned]:
        """Divide a batch into times, ascending (raises OffsetGap when records are missing).

        What is new waits as long as `cutting` says; raises what that raises.

        The pieces of a partition come in the order of their offsets. Corrections come without any.
        """
        fresh = [trimmed for piece in pieces if (trimmed := self._trim(piece)) is not None]
        self._waiting += fresh
        assigned = []
        while self._pending and self._is_covered(self._pending[-1]):
            entry = self._pending.pop()
            ends = {(r.table, r.partition): r.end for r in entry.ranges}
            taken, self._waiting = _divide(self._waiting, ends)
            assigned.append(Assigned(entry.time, _sorted(taken), entry.moment, entry.corrections))
        if self._waiting and not self._pending:
            taken, waiting = _divide(self._waiting, cutting.ends(self._waiting))
            if taken:
                cut = _sorted(taken)
                assigned.append(Assigned(self.next_time(cutting.count(cut)), cut, None))
            self._waiting = waiting
        return assigned

    def _is_covered(self, entry: Entry) -> bool:
        return all(
            self._positions.get((r.table, r.partition), r.first) >= r.end for r in entry.ranges
        )

    def next_time(self, count: int = 1) -> int:
        """The last of `count` new times, after all that there are."""
        self._last_time += count
        return self._last_time

    def _trim(self, piece: Piece) -> Piece | None:
        """The new part of `piece`, from the position of its partition on; moves that position."""
        r = piece.range
        position = self._positions.get((r.table, r.partition), r.first)
        if position < r.first and not piece.sparse:
            raise OffsetGap(
                f"table {r.table!r}, topic {r.topic!r}, partition {r.partition}: the next offset "
                f"is {position}, the batch begins at {r.first}"
            )
        if r.end <= position:
            return None
        self._positions[r.table, r.partition] = r.end
        return _slice(piece, position, r.end)


def before(pieces: Sequence[Piece], ends: Mapping[tuple[str, int], int]) -> list[Piece]:
    """The parts of `pieces` that lie before `ends`, by (table, partition)."""
    return _divide(pieces, ends)[0]


def _sorted(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """By table, partition and offset, so that a replay gives the same order."""
    return tuple(sorted(pieces, key=lambda piece: piece.range))


def _divide(
    pieces: Sequence[Piece], ends: Mapping[tuple[str, int], int]
) -> tuple[list[Piece], list[Piece]]:
    """The pieces below `ends`, and the rest (all of a partition that `ends` does not name)."""
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
    """`piece` for the offsets `[first, end)`, without its records of others."""
    r = piece.range
    if (first, end) == (r.first, r.end):
        return piece
    return replace(
        piece,
        range=replace(r, first=first, end=end),
        updates=_between(piece.updates, first, end),
        rejected=tuple(record for record in piece.rejected if first <= record.offset < end),
        passed=_between(piece.passed, first, end),
    )


def _between(table: pa.Table, first: int, end: int) -> pa.Table:
    """The rows of `table`, which ascends by offset, with offsets in `[first, end)`."""
    begin, stop = np.searchsorted(table[OFFSET].to_numpy(), (first, end)).tolist()
    return table.slice(begin, stop - begin)
