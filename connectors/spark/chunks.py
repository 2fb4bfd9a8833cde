"""Decoded records on their way through Spark: one row per chunk, its contents opaque to the JVM.

A chunk holds the records `[first, end)` of one partition: `updates` is an Arrow stream of the
table's columns followed by diff, offset and ts_ms; `rejected` one of offset, reason, message and
value.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from connectors.decode import DIFF, OFFSET, TS_MS, Decoded, RejectedRecord, decode
from connectors.files.index import Span
from connectors.tables import TableSpec

# Spark's schema of a chunk, and the same for Arrow.
SPARK_SCHEMA = (
    "key string, partition bigint, first bigint, end bigint, updates binary, rejected binary"
)
_FIELDS: list[pa.Field] = [
    pa.field("key", pa.string()),
    pa.field("partition", pa.int64()),
    pa.field("first", pa.int64()),
    pa.field("end", pa.int64()),
    pa.field("updates", pa.binary()),
    pa.field("rejected", pa.binary()),
]
SCHEMA = pa.schema(_FIELDS)

# Small enough for the parsed objects of a block to stay in the processor's cache.
BLOCK = 1024

_COMPRESSED = pa.ipc.IpcWriteOptions(compression="lz4")

_REJECTED_FIELDS: list[pa.Field] = [
    pa.field("offset", pa.int64()),
    pa.field("reason", pa.string()),
    pa.field("message", pa.string()),
    pa.field("value", pa.binary()),
]
_REJECTED = pa.schema(_REJECTED_FIELDS)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A decoded chunk: `updates` has the table's columns, then diff, offset and ts_ms (int64)."""

    key: str
    partition: int
    first: int
    end: int
    updates: pa.Table
    rejected: tuple[RejectedRecord, ...]


def encode(key: str, partition: int, table: TableSpec, span: Span) -> pa.RecordBatch:
    """Read and decode `span` into one row of `SCHEMA`."""
    lines = span.lines()
    stop = span.first + span.count
    batches: list[pa.RecordBatch] = []
    rejected: list[RejectedRecord] = []
    for begin in range(span.first, stop, BLOCK):
        end = min(begin + BLOCK, stop)
        block = lines[begin - span.first : end - span.first]
        decoded = decode(block, range(begin, end), table)
        batches.append(_batch(decoded))
        rejected += decoded.rejected
    row = {
        "key": key,
        "partition": partition,
        "first": span.first,
        "end": stop,
        "updates": _stream(batches),
        "rejected": _stream([_rejected(rejected)]) if rejected else None,
    }
    return pa.RecordBatch.from_pylist([row], schema=SCHEMA)


def chunks(table: pa.Table) -> Iterator[Chunk]:
    """The chunks in a table of `SCHEMA`, by key and in the order of offsets."""
    where = table.select(["key", "partition", "first", "end"]).to_pylist()
    for row in sorted(range(len(table)), key=lambda row: tuple(where[row].values())):
        rejected = table["rejected"][row].as_buffer()
        yield Chunk(
            **where[row],
            updates=pa.ipc.open_stream(table["updates"][row].as_buffer()).read_all(),
            rejected=_records(rejected) if rejected is not None else (),
        )


def _batch(decoded: Decoded) -> pa.RecordBatch:
    rows = decoded.rows
    for name, column in (
        (DIFF, decoded.diffs),
        (OFFSET, decoded.offsets),
        (TS_MS, decoded.ts_ms),
    ):
        rows = rows.append_column(name, pa.array(column))
    return rows


def _rejected(records: list[RejectedRecord]) -> pa.RecordBatch:
    columns = zip(*((r.offset, r.reason, r.message, r.value) for r in records), strict=True)
    return pa.RecordBatch.from_arrays(
        [pa.array(c, f.type) for c, f in zip(columns, _REJECTED, strict=True)], schema=_REJECTED
    )


def _records(stream: pa.Buffer) -> tuple[RejectedRecord, ...]:
    rows = pa.ipc.open_stream(stream).read_all().to_pylist()
    return tuple(RejectedRecord(**row) for row in rows)


def _stream(batches: list[pa.RecordBatch]) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batches[0].schema, options=_COMPRESSED) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return sink.getvalue().to_pybytes()
