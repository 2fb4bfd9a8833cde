"""Typed columns as Avro: the schema of a row, and its values in Avro's binary form.

A record in Avro is its fields one after another, which are written natively out of the buffers of
their columns; no Python object is made for a value.

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
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connectors.columns.buffers import binaries, contents
from connectors.errors import InvalidSink
from connectors.sinks.json_rows import json_values
from connectors.sinks.native.cells import Cells, constant
from connectors.sinks.native.lines import column as written
from connectors.sinks.native.lines import lines
from ivm.values.types import INTERVAL, JSON, UUID

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
NULL, VALUE = b"\x00", b"\x02"  # the branches of a union with null first
_UNSIGNED = pa.decimal128(20, 0)


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


def record_cells(batch: pa.RecordBatch, columns: pa.Schema) -> list[Cells]:
    """The cells of every row in Avro's binary form, under `record_schema` of `columns`."""
    fields = zip(batch.columns, columns, strict=True)
    return [optional(column) if field.nullable else values(column) for column, field in fields]


def optional(column: pa.Array) -> Cells:
    """Every element as a union of null and its type."""
    return values(column, before=VALUE, absent=NULL)


def values(column: pa.Array, before: bytes = b"", absent: bytes | None = None) -> Cells:
    """Every element with these bytes before it; `absent` stands for NULL, by default anything."""
    form, content = _form(column)
    return Cells(form, content, before=before, absent=absent)


def _form(column: pa.Array) -> tuple[str, pa.Array]:
    """The native form of the elements, and a column that has them so."""
    dtype = column.type
    if isinstance(column, pa.ListArray):
        return "verbatim", _arrays(column)
    if dtype in (UUID, INTERVAL):
        column = pa.array(json_values(column), pa.string())
    elif isinstance(column, pa.ExtensionArray):
        column = column.storage
    elif dtype == pa.uint64():
        column = column.cast(_UNSIGNED)
    if pa.types.is_decimal128(column.type):
        return "wide", column
    if pa.types.is_string(column.type) or pa.types.is_binary(column.type):
        return "varbytes", column
    if pa.types.is_boolean(dtype):
        return "bit", column
    return ("fixed" if pa.types.is_floating(dtype) else "varint"), column


def text(value: str) -> bytes:
    """A string."""
    data = value.encode()
    return number(len(data)) + data


def number(value: int) -> bytes:
    """An int or a long."""
    return lines([Cells("varint", pa.array([value], pa.int64()))], 1)[0]


def mapping(encoded: Mapping[str, bytes]) -> bytes:
    """A map, of values that are encoded already."""
    if not encoded:
        return b"\x00"
    entries = b"".join(text(key) + value for key, value in encoded.items())
    return number(len(encoded)) + entries + b"\x00"


def _arrays(column: "pa.ListArray[Any]") -> pa.Array:
    """The count of elements, these, and an end; without elements only the end."""
    offsets = column.offsets.to_numpy()
    elements = written([optional(column.values)], len(column.values))
    listed = binaries(contents(elements, 1, np.int64)[offsets], contents(elements, 2, np.uint8))
    counts = np.diff(offsets).astype(np.int64)
    whole = written(
        [
            Cells("varint", pa.array(counts, mask=counts == 0), absent=b""),
            Cells("verbatim", listed),
            constant(b"\x00"),
        ],
        len(column),
    )
    valid: Any = column.is_valid()
    found: pa.Array = pc.if_else(valid, whole, pa.scalar(None, whole.type))
    return found
