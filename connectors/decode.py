"""Records of one table's topic to typed updates: pure, so it runs on any executor and in any test.

A record is taken whole or not at all: either all its row images are typed, or the record is
rejected with the reason. Cutting the records into batches in another way gives the same updates.
So records are decoded natively as far as they can be; what is refused there, with some of those
that follow it, is decoded exactly. That makes columns of all records at once; only where it fails
are records tried one by one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from connectors.columns.faults import Fault
from connectors.columns.writer_schema import UNDESCRIBED, Logical
from connectors.columnwise import columnwise
from connectors.envelopes.envelope import ENVELOPES, Envelope
from connectors.envelopes.images import Contents, Images, Shape
from connectors.formats.format import FORMATS, Format
from connectors.formats.parsed import Parsed, Reader
from connectors.formats.schemas import Schemas
from connectors.metadata import coordinates
from connectors.reader_schema import plan
from connectors.records import Decoded, Records, RejectedRecord, joined
from connectors.tables.spec import TableSpec
from connectors.tables.widen import ages, brought
from connectors.typed_columns import typed, typed_one_by_one
from ivm.values.types import JSON

# Columns that travel beside a table's own, under names that no column has.
DIFF, OFFSET, TS_MS = "\0diff", "\0offset", "\0ts_ms"
# These only where they say anything.
ORDER, MISSING, TRANSACTION = "\0order", "\0missing", "\0transaction"

# Records that are no change and were not rejected, by offset.
_PASSED_FIELDS: list[pa.Field] = [pa.field(OFFSET, pa.int64()), pa.field("tombstone", pa.bool_())]
PASSED = pa.schema(_PASSED_FIELDS)

# Records that are decoded exactly before others are tried natively: small enough for the parsed
# objects of a block to stay in the processor's cache, and few where most are as usual.
_BLOCK, _FEWEST = 1024, 16


@dataclass(frozen=True, slots=True)
class _Block:
    """Records with their contents read, from which any slice of them is decoded.

    The columns of the primary key come out of `keys` for the records that `has_key` names.
    """

    records: Records
    table: TableSpec
    format: Format
    envelope: Envelope
    schemas: Schemas | None
    shape: Shape
    values: Parsed
    keys: Parsed | None
    has_key: Sequence[bool]
    metadata: dict[str, list[Any]]


def decode(records: Records, table: TableSpec, schemas: Schemas | None = None) -> Decoded:
    """Decode `records`, of a topic of `table`, whose writers' schemas are in `schemas`, if any.

    Raises RegistryUnavailable when these are needed and out of reach.
    """
    if not table.formerly:
        return joined(list(_parts(records, table, schemas)), table.schema)
    parts: list[Decoded] = []
    for start, stop, age, spec in ages(table, records):
        parts += [
            replace(found, rows=brought(found.rows, table, age))
            for found in _parts(records.slice(start, stop), spec, schemas)
        ]
    return joined(parts, table.schema)


def _parts(records: Records, table: TableSpec, schemas: Schemas | None) -> Iterator[Decoded]:
    """The records decoded natively and exactly, as they follow one another."""
    if not len(records):
        yield decode_exactly(records, table, schemas)
    at, few = 0, _FEWEST
    while at < len(records):
        found = columnwise(records, at, table, schemas)
        if found is not None:
            decoded, stop = found
            yield decoded
            few = _FEWEST if stop - at > few else few
            at = stop
        if at < len(records):
            yield decode_exactly(records.slice(at, at + few), table, schemas)
            at += few
            few = min(_BLOCK, 4 * few)


def decode_exactly(records: Records, table: TableSpec, schemas: Schemas | None = None) -> Decoded:
    """Decode records with an object for each value, whatever they are; raises as `decode`."""
    block = _read(records, table, schemas)
    runs = _runs(block)
    if len(runs) == 1:
        return _decoded(block, *runs[0])
    return joined([_decoded(block, start, stop) for start, stop in runs], table.schema)


def _read(records: Records, table: TableSpec, schemas: Schemas | None) -> _Block:
    form, envelope = FORMATS[table.format], ENVELOPES[table.envelope]
    contents = table.contents
    key = tuple(name for name in table.key if name in contents)
    shape = Shape(tuple(contents), key, table.is_keyed)
    values = form.parse(records, Reader(table, schemas, "value"))
    metadata, faults = coordinates(records, table) if table.metadata else ({}, {})
    for index, fault in faults.items():
        values.values[index] = fault
    has_key = _has_key(records, envelope, shape)
    keys = form.parse(records, Reader(table, schemas, "key")) if any(has_key) else None
    return _Block(records, table, form, envelope, schemas, shape, values, keys, has_key, metadata)


def _has_key(records: Records, envelope: Envelope, shape: Shape) -> list[bool]:
    """Whether the columns of the primary key come out of each record's key."""
    if envelope.keys == "unread" or not shape.key:
        return [False] * len(records)
    return [envelope.keys == "required" or key is not None for key in records.contents("key")]


def _runs(block: _Block) -> list[tuple[int, int]]:
    """The longest stretches of records with one writer, all of them with keys or none.

    A record without a value ends none.
    """
    values, count = block.values.writers, len(block.records)
    keys = block.keys.writers if block.keys is not None else None
    has_key = block.has_key
    if all(_is_one(writers) for writers in (values, keys)) and len(set(has_key)) <= 1:
        return [(0, count)]
    starts = [0]
    present: list[Logical | None] = [None, None]
    for index in range(count):
        found = [writers[index] if writers is not None else None for writers in (values, keys)]
        pairs = list(zip(found, present, strict=True))
        is_other = index > 0 and has_key[index] != has_key[index - 1]
        if is_other or any(
            new is not old for new, old in pairs if new is not None and old is not None
        ):
            starts.append(index)
            present = found
        else:
            present = [old if new is None else new for new, old in pairs]
    return list(pairwise([*starts, count]))


def _is_one(writers: Sequence[Logical | None] | None) -> bool:
    return writers is None or len(set(map(id, writers)) - {id(None)}) <= 1


def _decoded(block: _Block, start: int, stop: int) -> Decoded:
    """The records from index `start` up to `stop`, of one writer, decoded."""
    records, table = block.records.slice(start, stop), block.table
    values = block.values.values[start:stop]
    has_keys = any(block.has_key[start:stop])
    keys = block.keys.values[start:stop] if block.keys is not None and has_keys else None
    key_writer = _writer(block.keys, start, stop) if has_keys else None
    columns_of = plan(table, _writer(block.values, start, stop), key_writer, has_keys)
    changes = _images(block, values, keys, start)
    if isinstance(columns_of, Fault):
        # What has no value, as a delete of upserts, was not written by that schema.
        written = (owner for owner in changes.owners if values[owner] is not None)
        changes.set_aside(dict.fromkeys(written, columns_of))
        columns_of = plan(table, None, key_writer, has_keys)
    if isinstance(columns_of, Fault):
        changes.set_aside(dict.fromkeys(changes.owners, columns_of))
        empty: list[pa.Array] = [pa.array([], field.type) for field in table.schema]
        return _completed(block, records, values, changes, empty)
    metadata = {name: found[start:stop] for name, found in block.metadata.items()}
    columns = typed(changes, columns_of, metadata, table)
    if columns is None and (exact := _exact(block, records, values, keys)) is not None:
        faults = changes.faults
        changes = _images(block, *exact, start)
        changes.set_aside(faults)  # as they are worded without Decimals
        columns = typed(changes, columns_of, metadata, table)
    if columns is None:
        columns = typed_one_by_one(changes, columns_of, metadata, table)
    return _completed(block, records, values, changes, columns)


def _writer(parsed: Parsed | None, start: int, stop: int) -> Logical | None:
    if parsed is None or parsed.writers is None:
        return None
    writer = next((writer for writer in parsed.writers[start:stop] if writer is not None), None)
    return None if writer is UNDESCRIBED else writer


def _images(block: _Block, values: Sequence[Any], keys: Sequence[Any] | None, start: int) -> Images:
    """The images of a run's values and keys; its first record is that of index `start`."""
    key_of = partial(_key, block, start)
    return block.envelope.images(Contents(values, keys, key_of, block.shape))


def _key(block: _Block, start: int, owner: int) -> Any:
    """The contents of one record's key."""
    index = start + owner
    record = block.records.slice(index, index + 1)
    reader = Reader(block.table, block.schemas, "key")
    return None if record.keys is None else block.format.parse(record, reader).values[0]


def _exact(
    block: _Block, records: Records, values: Sequence[Any], keys: Sequence[Any] | None
) -> tuple[Sequence[Any], Sequence[Any] | None] | None:
    """A run's values and keys with every digit, if decimals or documents may have lost some."""
    if not any(_has_digits(field.type) for field in block.table.schema):
        return None
    exact = block.format.exact(records.values, values)
    if exact is None:
        return None
    return exact, keys and block.format.exact(records.contents("key"), keys)


def _has_digits(dtype: pa.DataType) -> bool:
    """Whether values of `dtype` hold numbers as they are written, or are lists of such."""
    if pa.types.is_list(dtype):
        return _has_digits(dtype.value_type)
    return pa.types.is_decimal128(dtype) or dtype == JSON


def _completed(
    block: _Block,
    records: Records,
    values: Sequence[Any],
    changes: Images,
    columns: list[pa.Array],
) -> Decoded:
    """The columns, completed by the metadata beside them."""
    owners = np.array(changes.owners, np.int64)
    stamps = block.envelope.stamps(values, block.table)
    ts_ms = records.times() if stamps.ts_ms is None else stamps.ts_ms
    ids, left = stamps.transactions, changes.missing
    return Decoded(
        pa.RecordBatch.from_arrays(columns, schema=block.table.schema),
        np.array(changes.diffs, np.int64),
        records.places()[owners],
        ts_ms[owners],
        stamps.order[owners] if stamps.order is not None else None,
        [left.get(i, ()) for i in range(len(owners))] if left else None,
        [ids[owner] for owner in changes.owners] if ids is not None else None,
        tuple(_rejected(records, *fault) for fault in sorted(changes.faults.items())),
        changes.tombstones,
        changes.ignored,
    )


def _rejected(records: Records, index: int, fault: Fault) -> RejectedRecord:
    return RejectedRecord(
        records.offsets[index],
        fault.reason,
        fault.message,
        records.values[index],
        records.keys[index] if records.keys is not None else None,
        records.timestamps[index] if records.timestamps is not None else None,
        records.headers[index] if records.headers is not None else None,
    )
