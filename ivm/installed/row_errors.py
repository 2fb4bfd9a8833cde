"""Errors of rows: each piece of a dataflow counts them beside its rows and can retract them.

For each piece the errors that stand now are counted by message. While anybody may read the past,
the changes since then are kept as well: what stood at a time is what stands now without what came
later.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ivm.installed.collection import Collection
from ivm.installed.pieces import Piece
from ivm.rows.interner import Interner
from ivm.rows.layout import Layout
from ivm.runtime.readers import take_errors

SCHEMA = pa.schema([pa.field("error", pa.string(), nullable=False)])
Drained = tuple[pa.RecordBatch, NDArray[np.uint64], NDArray[np.int64]]


class RowErrors:
    """The errors of all pieces of a pool; `counted` may be called beside steps.

    `standing` has those that stand, by piece and message. While it is empty nothing needs to be
    told of pieces that come without errors, or go.
    """

    def __init__(self, interner: Interner) -> None:
        self._interner = interner
        self._layout = Layout(SCHEMA)
        self.standing: dict[Piece, dict[str, int]] = {}
        self._coming: dict[Collection, None] = {}  # that are being installed, and catch up
        self._held: int | None = None
        self._later: list[tuple[Piece, int, int]] = []  # (piece, time, diff) after `_held`

    def keep_from(self, held: int | None) -> None:
        """Set the earliest time that can be read (None: the last completed one)."""
        self._held = held
        self._later = [] if held is None else [e for e in self._later if e[1] > held]

    def take(self, piece: Piece, collections: Iterable[Collection]) -> None:
        """Take the new errors of `piece`, and hand them to the dataflows that it is part of."""
        if not piece.plan.fallible:
            return
        standing = self.standing.setdefault(piece, {})
        for message, time, diff in zip(
            *take_errors(piece.fallible, self._layout, self._interner), strict=True
        ):
            standing[message] = standing.get(message, 0) + diff
            if standing[message] == 0:
                del standing[message]
            if self._held is not None:
                self._later.append((piece, time, diff))
            for collection in {*collections, *self._coming}:
                if not collection.is_input and piece in set(collection.piece.all_needed()):
                    collection.pending_errors.append((message, time, diff))

    def come(self, collection: Collection, now: int) -> None:
        """Give a dataflow that is being installed the errors of its shared pieces, as of `now`.

        From now on it is given what comes there as well, as dataflows are that are there.
        """
        self._coming[collection] = None
        for piece in collection.piece.all_needed() if self.standing else ():
            for message, count in self.standing.get(piece, {}).items():
                collection.pending_errors.append((message, now, count))

    def begin(
        self,
        collection: Collection,
        new: Sequence[Piece],
        now: int,
        collections: Iterable[Collection],
    ) -> None:
        """Take the errors of a dataflow's `new` pieces; `collections` are all, itself included.

        Unless it has come before, it is given what stands in what it shares, as of `now`.
        """
        if collection not in self._coming:
            self.come(collection, now)
        self.leave(collection)
        for piece in new:
            self.take(piece, collections)

    def leave(self, collection: Collection) -> None:
        """Give a dataflow no errors any more because it is being installed."""
        self._coming.pop(collection, None)

    def counted(self, collection: Collection, time: int | None) -> int:
        """The number of errors in a dataflow as of a time that can be read (None: now)."""
        pieces = set(collection.piece.all_needed())
        # Each inner sum is one step for other threads: a step may add errors meanwhile.
        now = sum(sum(self.standing.get(piece, {}).values()) for piece in pieces)
        if time is None:
            return now
        return now - sum(d for piece, at, d in list(self._later) if at > time and piece in pieces)

    def forget(self, unused: Iterable[Piece]) -> None:
        """Drop the errors of pieces that are gone."""
        for piece in unused:
            self.standing.pop(piece, None)


def drained(collection: Collection) -> Drained:
    """Take a dataflow's errors since the last call: messages, times, diffs; consolidated."""
    if not collection.pending_errors:
        return NONE
    sums: dict[tuple[int, str], int] = {}
    for message, time, diff in collection.pending_errors:
        sums[time, message] = sums.get((time, message), 0) + diff
    collection.pending_errors = []
    return _listed(sorted((t, m, d) for (t, m), d in sums.items() if d != 0))


def _listed(errors: Sequence[tuple[int, str, int]]) -> Drained:
    """The (time, message, diff) of `errors` as columns."""
    messages = pa.array([m for _, m, _ in errors], pa.string())
    return (
        pa.RecordBatch.from_arrays([messages], schema=SCHEMA),
        np.array([t for t, _, _ in errors], np.uint64),
        np.array([d for _, _, d in errors], np.int64),
    )


NONE = _listed(())
"""What is drained almost always."""
