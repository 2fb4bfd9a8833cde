"""Decoded records on their way through Spark: one row per chunk, its contents opaque to the JVM.

A chunk holds the records `[first, end)` of one partition: `updates` is an Arrow stream of the
table's columns, or of references to its rows (`ivm.cluster.dealing`), followed by diff, offset and
ts_ms and, where any row has them, by order, missing and transaction (see
`connectors.decode.Decoded`); `rejected` one of the rejected records; `passed` one of those that are
neither a change nor rejected; `seconds` is how long it took to decode them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from connectors.decode import (
    DIFF,
    MISSING,
    OFFSET,
    ORDER,
    PASSED,
    TRANSACTION,
    TS_MS,
    decode,
    decode_exactly,
)
from connectors.formats.schemas import Schemas
from connectors.records import Decoded, Records, RejectedRecord
from connectors.tables.spec import TableSpec

# Spark's schema of a chunk, and the same for Arrow.
SPARK_SCHEMA = (
    "key string, partition bigint, first bigint, end bigint, updates binary, rejected binary, "
    "passed binary, seconds double"
)
_FIELDS: list[pa.Field] = [
    pa.field("key", pa.string()),
    pa.field("partition", pa.int64()),
    pa.field("first", pa.int64()),
    pa.field("end", pa.int64()),
    pa.field("updates", pa.binary()),
    pa.field("rejected", pa.binary()),
    pa.field("passed", pa.binary()),
    pa.field("seconds", pa.float64()),
]
SCHEMA = pa.schema(_FIELDS)

# Makes of rows of a table that which travels in their place.
Deal = Callable[[TableSpec, pa.RecordBatch], pa.RecordBatch]

_ALONE = pa.ipc.IpcReadOptions(use_threads=False)
_COMPRESSED = pa.ipc.IpcWriteOptions(compression="lz4")

_REJECTED_FIELDS: list[pa.Field] = [
    pa.field("offset", pa.int64()),
    pa.field("reason", pa.string()),
    pa.field("message", pa.string()),
    pa.field("value", pa.binary()),
    pa.field("key", pa.binary()),
    pa.field("timestamp", pa.int64()),
    pa.field("headers", pa.map_(pa.string(), pa.binary())),
]
_REJECTED = pa.schema(_REJECTED_FIELDS)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A decoded chunk: `updates` has the table's columns, or references to rows that have them.

    Those that travel beside them follow.
    These are `DIFF`, `OFFSET` and `TS_MS` (int64) and, where any row has them, `ORDER` (16 bytes
    that compare as the positions do), `MISSING` (list<int16>) and `TRANSACTION` (utf8).
    `passed` has the schema `PASSED`.
    """

    key: str
    partition: int
    first: int
    end: int
    updates: pa.Table
    rejected: tuple[RejectedRecord, ...]
    passed: pa.Table
    seconds: float


def as_they_are(table: TableSpec, rows: pa.RecordBatch) -> pa.RecordBatch:
    """The rows themselves: they travel in the chunk."""
    return rows


def encode(
    key: str,
    table: TableSpec,
    records: Records,
    schemas: Schemas | None = None,
    deal: Deal = as_they_are,
) -> pa.RecordBatch:
    """Decode `records` (at least one), of the topic of `table`, into one row of `SCHEMA`.

    `schemas` are those of the writers, if any. Rows travel as what `deal` makes of them. Raises
    RegistryUnavailable, and what `deal` raises.
    """
    started = perf_counter()
    decoded = decode(records, table, schemas)
    decoded = replace(decoded, rows=deal(table, decoded.rows))
    has_passed = decoded.tombstones or decoded.ignored
    row = {
        "key": key,
        "partition": records.partition,
        "first": records.offsets[0],
        "end": records.offsets[-1] + 1,
        "updates": _stream(update_batches([decoded])),
        "rejected": _stream([_rejected(decoded.rejected)]) if decoded.rejected else None,
        "passed": _stream([_passed(records, decoded, table, schemas)]) if has_passed else None,
        "seconds": perf_counter() - started,
    }
    return pa.RecordBatch.from_pylist([row], schema=SCHEMA)


def chunks(table: pa.Table) -> Iterator[Chunk]:
    """The chunks in a table of `SCHEMA`, by key and in the order of offsets."""
    where = table.select(["key", "partition", "first", "end", "seconds"]).to_pylist()
    for row in sorted(range(len(table)), key=lambda row: tuple(where[row].values())):
        rejected = table["rejected"][row].as_buffer()
        passed = table["passed"][row].as_buffer()
        yield Chunk(
            **where[row],
            updates=pa.ipc.open_stream(
                table["updates"][row].as_buffer(), options=_ALONE
            ).read_all(),
            rejected=_records(rejected) if rejected is not None else (),
            passed=pa.ipc.open_stream(passed).read_all() if passed else PASSED.empty_table(),
        )


def update_batches(blocks: Sequence[Decoded]) -> list[pa.RecordBatch]:
    """The updates of `blocks`, all with the same columns."""
    has_order = any(decoded.order is not None for decoded in blocks)
    has_missing = any(decoded.missing is not None for decoded in blocks)
    has_transactions = any(decoded.transactions is not None for decoded in blocks)
    batches = []
    for decoded in blocks:
        count = len(decoded.diffs)
        columns: dict[str, pa.Array] = {
            DIFF: pa.array(decoded.diffs),
            OFFSET: pa.array(decoded.offsets),
            TS_MS: pa.array(decoded.ts_ms),
        }
        if has_order:
            columns[ORDER] = _positions(decoded.order, count)
        if has_missing:
            columns[MISSING] = pa.array(decoded.missing or [()] * count, pa.list_(pa.int16()))
        if has_transactions:
            columns[TRANSACTION] = pa.array(decoded.transactions or [None] * count, pa.string())
        batch = decoded.rows
        for name, column in columns.items():
            batch = batch.append_column(name, column)
        batches.append(batch)
    return batches


def positions(order: pa.Array) -> NDArray[np.uint64]:
    """The column `ORDER` as `connectors.decode.Decoded` has it."""
    known = order.fill_null(bytes(16)) if order.null_count else order
    content = known.buffers()[1]
    assert content is not None
    numbers = np.frombuffer(memoryview(content), ">u8", 2 * len(known), 16 * known.offset)
    return numbers.reshape(-1, 2).astype(np.uint64)


def _positions(order: NDArray[np.uint64] | None, count: int) -> pa.Array:
    """Two numbers as 16 bytes that compare as they do."""
    found = np.zeros((count, 2), np.uint64) if order is None else order
    content = pa.py_buffer(found.astype(">u8").tobytes())
    return pa.Array.from_buffers(pa.binary(16), count, [None, content])


def _passed(
    records: Records, decoded: Decoded, table: TableSpec, schemas: Schemas | None
) -> pa.RecordBatch:
    """The records passed over: all that are neither changes nor rejected."""
    offsets = records.places()
    rejected = np.array([record.offset for record in decoded.rejected], np.int64)
    others = np.concatenate([decoded.offsets, rejected])
    (passed,) = np.nonzero(~np.isin(offsets, others))
    if decoded.tombstones and decoded.ignored:
        tombstones = [_is_tombstone(records, i, table, schemas) for i in passed.tolist()]
    else:
        tombstones = [bool(decoded.tombstones)] * len(passed)
    columns: list[pa.Array] = [pa.array(offsets[passed]), pa.array(tombstones, pa.bool_())]
    return pa.RecordBatch.from_arrays(columns, schema=PASSED)


def _is_tombstone(records: Records, i: int, table: TableSpec, schemas: Schemas | None) -> bool:
    """Whether record `i`, which is passed over, is no other that is ignored."""
    if records.values[i] is None:
        return True
    return decode_exactly(records.slice(i, i + 1), table, schemas).tombstones > 0


def _rejected(records: Sequence[RejectedRecord]) -> pa.RecordBatch:
    rows = [{f.name: getattr(record, f.name) for f in _REJECTED} for record in records]
    return pa.RecordBatch.from_pylist(rows, schema=_REJECTED)


def _records(stream: pa.Buffer) -> tuple[RejectedRecord, ...]:
    rows = pa.ipc.open_stream(stream).read_all().to_pylist()
    return tuple(
        RejectedRecord(
            **{**row, "headers": None if row["headers"] is None else tuple(row["headers"])}
        )
        for row in rows
    )


def _stream(batches: list[pa.RecordBatch]) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batches[0].schema, options=_COMPRESSED) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return sink.getvalue().to_pybytes()
