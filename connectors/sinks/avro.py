"""Changes as Avro, in the framing of Confluent's registry: a zero byte, the schema's id, the value.

The values have the members that `connectors.sinks.json` describes, each null where a record lacks
it. Keys and values are registered as `<topic>-key` and `<topic>-value`; a view that is made anew
with other columns registers the next version.
"""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray

from connectors.columns.buffers import picked
from connectors.offsets import Offsets
from connectors.sinks.avro_columns import (
    NULL,
    VALUE,
    mapping,
    number,
    optional,
    record_cells,
    record_schema,
    text,
    values,
)
from connectors.sinks.native.cells import Cells, constant
from connectors.sinks.native.lines import column as written
from connectors.sinks.native.lines import lines
from connectors.sinks.net import Net
from connectors.sinks.origin import Origin
from connectors.sinks.sink import Changes, Output

_OFFSETS = {"type": "map", "values": {"type": "map", "values": "long"}}


class Schemas(Protocol):
    """The registry as a writer needs it."""

    def register(self, subject: str, schema: str) -> int:
        """The id of `schema` under `subject`, where it is a version from now on."""


class AvroEncoding:
    """Encodes the changes of one view; `open` registers its schemas."""

    def __init__(self, output: Output, topic: str, envelope: str, schemas: Schemas) -> None:
        """Raises InvalidSink for a column that Avro cannot name, and as `register` does."""
        self._columns = output.schema
        self._key = pa.schema([output.schema.field(name) for name in output.key])
        row = record_schema(f"{output.name}_row", output.schema)
        value = {"delta": _delta_schema, "upsert": lambda row: row, "debezium": _event_schema}
        key = orjson.dumps(record_schema(f"{output.name}_key", self._key)).decode()
        schema = orjson.dumps(value[envelope](row)).decode()
        self._key_frame = constant(_frame(schemas.register(f"{topic}-key", key)))
        self._framing = _frame(schemas.register(f"{topic}-value", schema))
        self._frame = constant(self._framing)

    def keys(self, rows: pa.RecordBatch) -> list[bytes]:
        """The key of every row."""
        return lines([self._key_frame, *record_cells(rows, self._key)], rows.num_rows)

    def rows(self, rows: pa.RecordBatch) -> list[bytes]:
        """Every row."""
        return lines([self._frame, *record_cells(rows, self._columns)], rows.num_rows)

    def deltas(self, changes: Changes) -> list[bytes]:
        """One delta per changed row, then those of rows that could not be computed."""
        row = [constant(VALUE), *record_cells(changes.rows, self._columns), constant(NULL)]
        found = _deltas(self._frame, row, changes.diffs, changes.times)
        if changes.errors.num_rows:
            error = [constant(NULL), optional(changes.errors.column(0))]
            found += _deltas(self._frame, error, changes.error_diffs, changes.error_times)
        return found

    def frontier(self, time: int, offsets: Offsets) -> bytes:
        """Every delta up to `time` was published, and reflects the records before `offsets`."""
        told = offsets.told()
        by_topic, by_source = _positions(told["offsets"]), _positions(told["sources"])
        absent = NULL * 5  # op, diff, time, row, error
        return self._framing + absent + VALUE + number(time) + by_topic + by_source

    def events(self, rows: pa.RecordBatch, changed: Net, origin: Origin) -> list[bytes]:
        """Debezium's events."""
        encoded = written([constant(VALUE), *record_cells(rows, self._columns)], rows.num_rows)
        source = b"".join(text(value) for value in origin.texts())
        return lines(
            [
                self._frame,
                _chosen(encoded, changed.before),
                _chosen(encoded, changed.after),
                constant(source + number(origin.ts_ms)),
                _times(changed.times),
                values(pa.array(origin.ops(changed), pa.string())),
                constant(number(origin.ts_ms)),
            ],
            len(changed.times),
        )


def _deltas(
    frame: Cells,
    contents: list[Cells],
    diffs: NDArray[np.int64],
    times: NDArray[np.uint64],
) -> list[bytes]:
    """`contents` are the members row and error; frontier, offsets and sources are null."""
    signed = pa.array(diffs)
    return lines(
        [
            frame,
            constant(VALUE + number(1)),
            Cells("sign", signed),
            constant(VALUE),
            values(signed),
            constant(VALUE),
            _times(times),
            *contents,
            constant(NULL * 3),
        ],
        len(diffs),
    )


def _times(times: NDArray[np.uint64]) -> Cells:
    return values(pa.array(times.astype(np.int64)))


def _chosen(encoded: pa.Array, positions: NDArray[np.int64]) -> Cells:
    """The rows at these positions; null at -1."""
    return Cells("verbatim", encoded.take(picked(positions)), absent=NULL)


def _positions(told: Mapping[str, Mapping[str, int]]) -> bytes:
    """Positions by topic or by source."""
    partitions = {name: {p: number(end) for p, end in ends.items()} for name, ends in told.items()}
    return VALUE + mapping({name: mapping(ends) for name, ends in partitions.items()})


def _frame(identity: int) -> bytes:
    return b"\x00" + identity.to_bytes(4, "big")


def _delta_schema(row: dict[str, Any]) -> dict[str, Any]:
    members = {
        "op": "string",
        "diff": "long",
        "time": "long",
        "row": row,
        "error": "string",
        "frontier": "long",
        "offsets": _OFFSETS,
        "sources": _OFFSETS,
    }
    fields = [{"name": n, "type": ["null", t], "default": None} for n, t in members.items()]
    return {"type": "record", "name": row["name"].removesuffix("_row") + "_delta", "fields": fields}


def _event_schema(row: dict[str, Any]) -> dict[str, Any]:
    name = row["name"].removesuffix("_row")
    members = ("connector", "name", "view", "snapshot")
    source = [{"name": member, "type": "string"} for member in members]
    source += [{"name": member, "type": "long"} for member in ("ts_ms", "time")]
    fields = [
        {"name": "before", "type": ["null", row], "default": None},
        {"name": "after", "type": ["null", row["name"]], "default": None},
        {"name": "source", "type": {"type": "record", "name": f"{name}_source", "fields": source}},
        {"name": "op", "type": "string"},
        {"name": "ts_ms", "type": "long"},
    ]
    return {"type": "record", "name": f"{name}_event", "fields": fields}
