"""Changes as JSON that Kafka Connect reads with its types: a schema beside the payload.

The form is that of Connect's JsonConverter with `schemas.enable`: `{"schema":...,"payload":...}`,
for keys as for values. Types that Connect lacks bear the names that Debezium gives them, which its
sink for databases knows. NaN and infinities are NULL, since JSON has no such numbers and the
converter would read their texts as 0.

| column | Connect | named |
| --- | --- | --- |
| int8, uint8, int16 | int16 | |
| uint16, int32; uint32, int64 | int32; int64 | |
| uint64, decimal128(p, s) | bytes | `org.apache.kafka.connect.data.Decimal` |
| float32, float64, bool, utf8, binary | float, double, boolean, string, bytes | |
| date32 | int32 | `io.debezium.time.Date` |
| time64 | int64 | `io.debezium.time.MicroTime` |
| timestamp without a zone | int64 | `io.debezium.time.MicroTimestamp` |
| timestamp with a zone | string | `io.debezium.time.ZonedTimestamp` |
| json, uuid | string | `io.debezium.data.Json`, `io.debezium.data.Uuid` |
| interval | string | |
| list | array | |

The payloads have the members that `connectors.sinks.json` describes.
"""

from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from connectors.columns.buffers import binaries, contents
from connectors.offsets import Offsets
from connectors.sinks import json
from connectors.sinks.json_rows import json_values
from connectors.sinks.net import Net
from connectors.sinks.origin import Origin
from connectors.sinks.sink import Changes, Output
from ivm.results import Deltas
from ivm.values.types import INTERVAL, JSON, UUID

Schema = dict[str, Any]

_WIDE = pa.decimal128(20, 0)
_PLAIN: dict[pa.DataType, str] = {
    pa.bool_(): "boolean",
    pa.int8(): "int16",
    pa.uint8(): "int16",
    pa.int16(): "int16",
    pa.uint16(): "int32",
    pa.int32(): "int32",
    pa.uint32(): "int64",
    pa.int64(): "int64",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.binary(): "bytes",
    INTERVAL: "string",
}
_NAMED: dict[pa.DataType, tuple[str, str]] = {
    pa.date32(): ("int32", "io.debezium.time.Date"),
    pa.time64("us"): ("int64", "io.debezium.time.MicroTime"),
    JSON: ("string", "io.debezium.data.Json"),
    UUID: ("string", "io.debezium.data.Uuid"),
}


class ConnectEncoding:
    """Encodes the changes of one view, with the schemas of its columns and of its envelope."""

    def __init__(self, output: Output, topic: str, envelope: str) -> None:
        row = _struct(output.schema)
        key = _struct(pa.schema([output.schema.field(name) for name in output.key]))
        value = {"delta": _delta, "upsert": _row, "debezium": _event}[envelope]
        self._key, self._value = _opening(key), _opening(value(row, topic))

    def keys(self, rows: pa.RecordBatch) -> list[bytes]:
        """The key of every row."""
        return _closed(self._key, json.object_lines(carried(rows)))

    def rows(self, rows: pa.RecordBatch) -> list[bytes]:
        """Every row."""
        return _closed(self._value, json.object_lines(carried(rows)))

    def deltas(self, changes: Changes) -> list[bytes]:
        """One delta per changed row, then those of rows that could not be computed."""
        rows = carried(changes.rows)
        errors = changes.errors, changes.error_times, changes.error_diffs
        return _closed(
            self._value, json.delta_lines(Deltas(rows, changes.times, changes.diffs, *errors))
        )

    def frontier(self, time: int, offsets: Offsets) -> bytes:
        """Every delta up to `time` was published, and reflects the records before `offsets`."""
        return self._value + json.frontier_line(time, offsets) + b"}"

    def events(self, rows: pa.RecordBatch, changed: Net, origin: Origin) -> list[bytes]:
        """Debezium's events."""
        return _closed(self._value, json.event_lines(carried(rows), changed, origin))


def carried(rows: pa.RecordBatch) -> pa.RecordBatch:
    """The rows by types whose JSON is that of Connect's types."""
    columns = [_carried(column) for column in rows.columns]
    return pa.RecordBatch.from_arrays(columns, names=rows.schema.names)


def _carried(column: pa.Array) -> pa.Array:
    dtype = column.type
    if isinstance(column, pa.ListArray):
        whole = column.take(np.arange(len(column)))  # it may be a part of another
        return pa.ListArray.from_arrays(whole.offsets, _carried(whole.values), mask=whole.is_null())
    if dtype in (UUID, INTERVAL):
        return pa.array(json_values(column), pa.string())
    if dtype == pa.uint64():
        column = column.cast(_WIDE)
    if pa.types.is_decimal128(column.type):
        return _unscaled(column)
    if pa.types.is_floating(dtype):
        numbers: pa.Array = pc.if_else(pc.is_finite(column), column, pa.scalar(None, dtype))
        return numbers
    if pa.types.is_date32(dtype):
        return column.cast(pa.int32())
    if pa.types.is_time(dtype) or (pa.types.is_timestamp(dtype) and dtype.tz is None):
        return column.cast(pa.int64())
    return column


def _unscaled(column: pa.Array) -> pa.Array:
    """The unscaled numbers in two's complement, big end first, in 16 bytes."""
    data = contents(column, 1, np.uint8)
    cells = data[column.offset * 16 : (column.offset + len(column)) * 16].reshape(-1, 16)
    ends = np.arange(0, 16 * len(column) + 1, 16)
    found = binaries(ends, cells[:, ::-1]).cast(pa.binary())
    numbers: pa.Array = pc.if_else(column.is_valid(), found, pa.scalar(None, pa.binary()))
    return numbers


def _struct(columns: pa.Schema) -> Schema:
    fields = [
        _value(f.type) | {"field": f.name, "optional": f.nullable or pa.types.is_floating(f.type)}
        for f in columns
    ]
    return {"type": "struct", "fields": fields, "optional": False}


def _value(dtype: pa.DataType) -> Schema:
    """The schema of a value of this type."""
    if dtype == pa.uint64():
        dtype = _WIDE
    if pa.types.is_decimal128(dtype):
        parameters = {"scale": str(dtype.scale), "connect.decimal.precision": str(dtype.precision)}
        name = "org.apache.kafka.connect.data.Decimal"
        return {"type": "bytes", "name": name, "version": 1, "parameters": parameters}
    if pa.types.is_timestamp(dtype):
        if dtype.tz is None:
            return _named("int64", "io.debezium.time.MicroTimestamp")
        return _named("string", "io.debezium.time.ZonedTimestamp")
    if isinstance(dtype, pa.ListType):
        return {"type": "array", "items": _value(dtype.value_type) | {"optional": True}}
    if dtype in _NAMED:
        return _named(*_NAMED[dtype])
    return {"type": _PLAIN[dtype]}


def _named(kind: str, name: str) -> Schema:
    return {"type": kind, "name": name, "version": 1}


def _row(row: Schema, topic: str) -> Schema:
    """The schema of an upsert."""
    return row


def _delta(row: Schema, topic: str) -> Schema:
    """The schema of a delta or a frontier: what the one lacks the other has."""
    ends = {"type": "map", "keys": {"type": "string"}, "values": {"type": "int64"}}
    positions = {"type": "map", "keys": {"type": "string"}, "values": ends}
    members: list[tuple[str, Schema]] = [
        ("op", {"type": "string"}),
        ("diff", {"type": "int64"}),
        ("time", {"type": "int64"}),
        ("row", row),
        ("error", {"type": "string"}),
        ("frontier", {"type": "int64"}),
        ("offsets", positions),
        ("sources", positions),
    ]
    fields = [schema | {"field": name, "optional": True} for name, schema in members]
    return {"type": "struct", "fields": fields, "optional": False}


def _event(row: Schema, topic: str) -> Schema:
    """The schema of Debezium's event, whose name tells its sink that it is one."""
    members = [(name, "string") for name in ("connector", "name", "view", "snapshot")]
    members += [("ts_ms", "int64"), ("time", "int64")]
    source = [{"type": kind, "field": name, "optional": False} for name, kind in members]
    fields = [
        row | {"field": "before", "optional": True},
        row | {"field": "after", "optional": True},
        {"type": "struct", "fields": source, "field": "source", "optional": False},
        {"type": "string", "field": "op", "optional": False},
        {"type": "int64", "field": "ts_ms", "optional": True},
    ]
    return {"type": "struct", "name": f"{topic}.Envelope", "fields": fields, "optional": False}


def _opening(schema: Schema) -> bytes:
    """The bytes before a payload."""
    return b'{"schema":' + orjson.dumps(schema) + b',"payload":'


def _closed(opening: bytes, payloads: list[bytes]) -> list[bytes]:
    return [opening + payload + b"}" for payload in payloads]
