"""Snapshots of views, cut into parts that are bounded in bytes, for followers to take in time.

A snapshot of several parts stands in a file without a name, so that it takes no memory however
slowly it is taken.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pyarrow as pa

from api.feed import LINES
from connectors.sinks.json_rows import json_rows
from ivm.cluster.pool import AnyPool


@dataclass(frozen=True, slots=True)
class Part:
    """Some rows of a snapshot as of `time`, each with its count."""

    time: int
    rows: list[dict[str, Any]]
    counts: list[int]
    is_last: bool


def take(pool: AnyPool, view: str, directory: Path, most_bytes: int) -> tuple[int, Iterator[Part]]:
    """The time of a snapshot, and its parts, at least one; the file is made in `directory`.

    A part has at most `LINES` rows, and at most `most_bytes` unless it is one row.
    """
    taken = pool.scan(view)
    time = taken.time or 0
    columns = [*taken.rows.columns, pa.array(taken.counts)]
    schema = taken.rows.schema.append(pa.field("", pa.int64()))
    batch = pa.RecordBatch.from_arrays(columns, schema=schema)
    cuts = _cut(batch, most_bytes)
    first = next(cuts)
    if first.num_rows == batch.num_rows:
        return time, iter([_part(time, first, is_last=True)])
    return time, _kept(time, [first, *cuts], directory)


def _cut(batch: pa.RecordBatch, most_bytes: int) -> Iterator[pa.RecordBatch]:
    """The batch in slices, halved until they are small."""
    many = batch.num_rows
    if many <= 1 or (many <= LINES and batch.nbytes <= most_bytes):
        yield batch
        return
    yield from _cut(batch.slice(0, many // 2), most_bytes)
    yield from _cut(batch.slice(many // 2), most_bytes)


def _kept(time: int, cuts: list[pa.RecordBatch], directory: Path) -> Iterator[Part]:
    """Write the slices to a file at once; the parts are read from it one by one."""
    file = TemporaryFile(dir=directory)  # noqa: SIM115  (closed with the parts)
    with pa.ipc.new_file(file, cuts[0].schema) as writer:
        for cut in cuts:
            writer.write_batch(cut)
    return _parts(time, pa.ipc.open_file(file), len(cuts))


def _parts(time: int, reader: pa.RecordBatchFileReader, count: int) -> Iterator[Part]:
    for index in range(count):
        yield _part(time, reader.get_batch(index), is_last=index == count - 1)


def _part(time: int, batch: pa.RecordBatch, *, is_last: bool) -> Part:
    *columns, counts = batch.columns
    schema = batch.schema.remove(len(columns))
    rows = pa.RecordBatch.from_arrays(columns, schema=schema)
    return Part(time, json_rows(rows), counts.to_numpy().tolist(), is_last)
