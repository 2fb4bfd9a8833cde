"""Gathers the pieces of one logical time: updates by table, ranges, rejected records."""

import time as clock
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from connectors.decode import DIFF, MISSING, OFFSET, ORDER, TS_MS
from connectors.progress.assign import Piece
from connectors.progress.batches import Origin, Range, Run, TableUpdates
from connectors.progress.resolution import Steps, are_markers, steps
from connectors.quarantine.store import Rejected
from connectors.spark.chunks import positions
from connectors.streams import table_of
from connectors.tables.spec import TableSpec
from ivm.cluster.dealing import PARCEL, REFERENCES


def updates_of(
    time: int, pieces: Sequence[Piece], specs: Mapping[str, TableSpec]
) -> dict[str, TableUpdates]:
    """The updates of each table, pieces in their order; no table without any.

    `time` is the last of the cut's times; `specs` are the streams that are read, by name.
    """
    count, each = steps(pieces, specs)
    found: dict[str, list[tuple[Piece, Steps | None]]] = {}
    for piece, own in zip(pieces, each, strict=True):
        spec = specs.get(piece.range.table)
        if len(piece.updates) and spec is not None and not are_markers(spec):
            found.setdefault(table_of(spec.name), []).append((piece, own))
    first = time - count + 1
    return {
        name: _table_updates(specs[parts[0][0].range.table], parts, first)
        for name, parts in found.items()
    }


def _table_updates(
    spec: TableSpec, found: list[tuple[Piece, Steps | None]], first: int
) -> TableUpdates:
    pieces = [piece for piece, _ in found]
    own = [steps for _, steps in found if steps is not None]
    parts = [piece.updates for piece in pieces]
    table = pa.concat_tables(parts, promote_options="default").combine_chunks()
    batch = table.to_batches()[0]
    names = batch.schema.names
    runs = tuple(
        Run(p.range.table, p.range.topic, p.range.partition, len(p.updates)) for p in pieces
    )
    are_references = PARCEL in names
    return TableUpdates(
        batch.select(REFERENCES.names if are_references else spec.schema.names),
        batch[DIFF].to_numpy().astype(np.int64, copy=False),
        batch[TS_MS].to_numpy().astype(np.int64, copy=False),
        Origin(
            spec,
            runs,
            batch[OFFSET].to_numpy(),
            positions(batch[ORDER]) if ORDER in names else None,
            batch[MISSING] if MISSING in names else None,
        ),
        (np.concatenate(own) + first).astype(np.uint64) if own else None,
    )


def records_in(piece: Piece) -> int:
    """The number of records."""
    if not piece.sparse:
        return piece.range.end - piece.range.first
    return changes_in(piece) + len(piece.rejected) + len(piece.passed)


def changes_in(piece: Piece) -> int:
    """The number of records that are changes, each of which may be several updates that adjoin."""
    offsets = piece.updates[OFFSET].to_numpy()
    return int(np.count_nonzero(np.diff(offsets))) + (len(offsets) > 0)


def merged(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """The same records as `ranges`, sorted and each partition in one range."""
    found: list[Range] = []
    for r in sorted(ranges):
        last = found[-1] if found else None
        if last and (last.table, last.partition, last.end) == (r.table, r.partition, r.first):
            found[-1] = Range(r.table, r.topic, r.partition, last.first, r.end)
        else:
            found.append(r)
    return tuple(found)


def rejections(pieces: Iterable[Piece], epoch: Callable[[str], int]) -> list[Rejected]:
    """The rejected records, as the quarantine keeps them; `epoch` is that of a table."""
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
            record.key,
            record.timestamp,
            record.headers,
            epoch(piece.range.table),
        )
        for piece in pieces
        for record in piece.rejected
    ]
