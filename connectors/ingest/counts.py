"""Counts the records of decoded pieces by their outcome."""

from collections.abc import Iterable

import pyarrow.compute as pc

from connectors.ingest.timed_batch import changes_in
from connectors.progress.assign import Piece
from connectors.progress.batches import Counts
from connectors.streams import table_of


def counted(pieces: Iterable[Piece]) -> dict[str, Counts]:
    """The records of `pieces`, by table."""
    found: dict[str, Counts] = {}
    for piece in pieces:
        table = table_of(piece.range.table)
        found[table] = found.get(table, Counts()) + _counts(piece)
    return found


def _counts(piece: Piece) -> Counts:
    tombstones = pc.sum(piece.passed["tombstone"]).as_py() or 0
    return Counts(
        changes_in(piece),
        tombstones,
        len(piece.passed) - tombstones,
        len(piece.rejected),
    )
