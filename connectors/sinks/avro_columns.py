"""Typed columns as Avro: the schema of a row, and its values in Avro's binary form.

A record in Avro is its fields one after another, so rows are encoded column by column and joined;
no Python object is made for a value.

| column | Avro |
| --- | --- |
| int8 to int32, uint8, uint16 | int |
| int64, uint32 | long |
| uint64 | bytes, decimal(20, 0) |
| decimal128(p, s) | bytes, decimal(p, s) |
| float32, float64, bool, utf8, binary | float, double, boolean, string, bytes |
| date32 | int, date |
| time64 | long, time-micros |
| timestamp | long, timestamp-micros with a zone, local-timestamp-micros without |
| uuid | string, uuid |
| interval, json | string |
| list | array |

A nullable column is a union of null, which is its default, and its type.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from connectors.columns.buffers import binaries, contents
from connectors.errors import InvalidSink
from connectors.sinks.json_rows import json_values
from connectors.sinks.json_texts import filled
from ivm.values.types import INTERVAL, JSON, UUID

BYTES = pa.large_binary()

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NULL, _VALUE = b"\x00", b"\x02"  # the branches of a union with null first
_WIDE = pa.decimal128(20, 0)


def record_schema(name: str, columns: pa.Schema) -> dict[str, Any]:
    """The schema of a row (raises InvalidSink for a column that Avro cannot name)."""
    fields: list[dict[str, Any]] = []
    for column in columns:
        if not _NAME.fullmatch(column.name):
            raise InvalidSink(
                f"column {column.name!r} is no name in Avro (letters, digits and '_'); rename it "
                "in the query, or use format json"
            )
        kind = value_schema(column.type)
        if column.nullable:
            fields.append({"name": column.name, "type": ["null", kind], "default": None})
        else:
            fields.append({"name": column.name, "type": kind})
    return {"type": "record", "name": name, "fields": fields}


def value_schema(dtype: pa.DataType) -> Any:
    """The schema of a value of this type."""
    if pa.types.is_decimal128(dtype):
        return _logical("bytes", "decimal", precision=dtype.precision, scale=dtype.scale)
    if pa.types.is_timestamp(dtype):
        return _logical("long", "timestamp-micros" if dtype.tz else "local-timestamp-micros")
    if isinstance(dtype, pa.ListType):
        item = value_schema(dtype.value_type)
        return {"type": "array", "items": ["null", item]}
    return _NAMED[dtype]


def _logical(kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "logicalType": name, **more}


_NAMED: dict[pa.DataType, Any] = {
    pa.bool_(): "boolean",
    pa.int8(): "int",
    pa.int16(): "int",
    pa.int32(): "int",
    pa.int64(): "long",
    pa.uint8(): "int",
    pa.uint16(): "int",
    pa.uint32(): "long",
    pa.uint64(): _logical("bytes", "decimal", precision=20, scale=0),
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.binary(): "bytes",
    pa.date32(): _logical("int", "date"),
    pa.time64("us"): _logical("long", "time-micros"),
    INTERVAL: "string",
    UUID: _logical("string", "uuid"),
    JSON: "string",
}


def records(batch: pa.RecordBatch, columns: pa.Schema) -> pa.Array:
    """Every row in Avro's binary form, under `record_schema` of `columns`."""
    if not batch.num_columns:
        return pa.array([b""] * batch.num_rows, BYTES)
    fields = zip(batch.columns, columns, strict=True)
    return joined(*(optional(c) if f.nullable else values(c) for c, f in fields))


def joined(*parts: bytes | pa.Array) -> pa.Array:
    """These bytes one after another, row by row; a constant stands in every row."""
    arrays: list[Any] = [pa.scalar(p, BYTES) if isinstance(p, bytes) else p for p in parts]
    found: pa.Array = pc.binary_join_element_wise(*arrays, pa.scalar(b"", BYTES))
    return found


def optional(column: pa.Array) -> pa.Array:
    """Every element as a union of null and its type."""
    encoded = joined(_VALUE, values(column))
    if not column.null_count:
        return encoded
    found: pa.Array = pc.if_else(column.is_valid(), encoded, pa.scalar(_NULL, BYTES))
    return found


def values(column: pa.Array) -> pa.Array:
    """Every element; in place of NULL, anything."""
    dtype = column.type
    if isinstance(column, pa.ListArray):
        return _arrays(column)
    if dtype in (UUID, INTERVAL):
        column = pa.array(json_values(column), pa.string())
    elif isinstance(column, pa.ExtensionArray):
        column = column.storage
    elif dtype == pa.uint64():
        column = column.cast(_WIDE)
    if pa.types.is_decimal128(column.type):
        return _decimals(column)
    if pa.types.is_string(column.type) or pa.types.is_binary(column.type):
        data: Any = filled(column.cast(pa.binary()), b"").cast(BYTES)
        return joined(varints(pc.binary_length(data).to_numpy()), data)
    if pa.types.is_boolean(dtype):
        return _cells(filled(column, False).cast(pa.uint8()).to_numpy())
    if pa.types.is_floating(dtype):
        return _cells(filled(column, 0).to_numpy())
    if not pa.types.is_integer(dtype):
        column = column.cast(pa.int32() if pa.types.is_date32(dtype) else pa.int64())
    return varints(filled(column, 0).cast(pa.int64()).to_numpy())


def text(value: str) -> bytes:
    """A string."""
    data = value.encode()
    return number(len(data)) + data


def number(value: int) -> bytes:
    """An int or a long."""
    encoded: bytes = varints(np.array([value], np.int64))[0].as_py()
    return encoded


def mapping(encoded: Mapping[str, bytes]) -> bytes:
    """A map, of values that are encoded already."""
    if not encoded:
        return b"\x00"
    entries = b"".join(text(key) + value for key, value in encoded.items())
    return number(len(encoded)) + entries + b"\x00"


def varints(numbers: NDArray[np.int64]) -> pa.Array:
    """Numbers in zigzag and groups of seven bits, the least first."""
    zigzag = ((numbers << 1) ^ (numbers >> 63)).view(np.uint64)
    shifts = np.arange(0, 70, 7, dtype=np.uint64)
    groups = np.zeros((len(numbers), 10), np.uint8)
    lengths = np.ones(len(numbers), np.int64)
    for place, shift in enumerate(shifts):
        rest = zigzag >> shift
        if place and not rest.any():
            break
        groups[:, place] = (rest & np.uint64(0x7F)).astype(np.uint8)
        lengths = np.where(rest > 0, place + 1, lengths)
    places = np.arange(10)
    groups |= np.where(places < lengths[:, None] - 1, 0x80, 0).astype(np.uint8)
    return _sliced(groups[places < lengths[:, None]], lengths)


def _decimals(column: pa.Array) -> pa.Array:
    """Two's complement, big end first, always in 16 bytes."""
    data = contents(column, 1, np.uint8)
    cells = data[column.offset * 16 : (column.offset + len(column)) * 16].reshape(-1, 16)
    return joined(number(16), _cells(np.ascontiguousarray(cells[:, ::-1])))


def _cells(data: NDArray[Any]) -> pa.Array:
    """The bytes of each row of `data`."""
    width = data.nbytes // max(len(data), 1)
    return _sliced(data, np.full(len(data), width))


def _sliced(data: NDArray[Any], lengths: NDArray[np.int64]) -> pa.Array:
    ends = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    return binaries(ends, data)


def _arrays(column: "pa.ListArray[Any]") -> pa.Array:
    """The count of elements, these, and an end; without elements only the end."""
    elements = optional(column.values)
    ends = contents(elements, 1, np.int64)[elements.offset :]
    offsets = column.offsets.to_numpy()
    listed = binaries(ends[offsets], contents(elements, 2, np.uint8))
    counts = np.diff(offsets).astype(np.int64)
    whole = joined(varints(counts), listed, b"\x00")
    found: pa.Array = pc.if_else(pa.array(counts > 0), whole, pa.scalar(b"\x00", BYTES))
    return found


def bytes_of(array: pa.Array) -> Sequence[bytes]:
    """The elements as Python has them."""
    found: list[Any] = array.to_pylist()
    return found
