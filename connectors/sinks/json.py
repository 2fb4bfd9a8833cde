"""Changes as JSON, for lines of file topics and for messages of Kafka alike.

A delta is `{"op":"+"|"-","diff":n,"time":t,"row":{...}}` (`"error":"..."` in place of `"row"` for
a row that could not be computed); `diff` is signed and `op` is its sign. A frontier record is
`{"frontier":t,"offsets":{topic:{partition:offset}},"sources":{source:{partition:offset}}}`.
"""

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray

from connectors.columns.buffers import picked
from connectors.offsets import Offsets
from connectors.sinks.json_texts import json_texts, row_cells, value_cells
from connectors.sinks.native.cells import Cells, constant
from connectors.sinks.native.lines import blocks, lines
from connectors.sinks.net import Net
from connectors.sinks.origin import Origin
from connectors.sinks.sink import Changes


def delta_lines(changes: Changes) -> list[bytes]:
    """One delta per changed row, then those of rows that could not be computed."""
    found = lines(_of_rows(changes), len(changes.diffs))
    if changes.errors.num_rows:
        found += lines(_of_errors(changes), len(changes.error_diffs))
    return found


def delta_blocks(changes: Changes) -> list[bytes]:
    """The lines of `delta_lines`, each with a newline behind it, thousands in a block."""
    newline = constant(b"\n")
    found = blocks([*_of_rows(changes), newline], len(changes.diffs))
    if changes.errors.num_rows:
        found += blocks([*_of_errors(changes), newline], len(changes.error_diffs))
    return found


def frontier_line(time: int, offsets: Offsets) -> bytes:
    """Every delta up to `time` was published, and it reflects the records before `offsets`."""
    return orjson.dumps({"frontier": time, **offsets.told()})


def object_lines(rows: pa.RecordBatch) -> list[bytes]:
    """One object per row."""
    return lines(row_cells(rows), rows.num_rows)


def event_lines(rows: pa.RecordBatch, changed: Net, origin: Origin) -> list[bytes]:
    """Debezium's events, without the schema that Connect may put around them."""
    texts = json_texts(rows)
    return lines(
        [
            constant(b'{"before":'),
            _chosen(texts, changed.before),
            constant(b',"after":'),
            _chosen(texts, changed.after),
            constant(b',"source":' + orjson.dumps(origin.source())[:-1] + b',"time":'),
            Cells("natural", pa.array(changed.times)),
            constant(b'},"op":"'),
            Cells("verbatim", pa.array(origin.ops(changed), pa.string())),
            constant(b'","ts_ms":%d}' % origin.ts_ms),
        ],
        len(changed.times),
    )


def _chosen(texts: pa.Array, positions: NDArray[np.int64]) -> Cells:
    """The texts at these positions; `null` at -1."""
    return Cells("verbatim", texts.take(picked(positions)), absent=b"null")


def _of_rows(changes: Changes) -> list[Cells]:
    return _deltas(b"row", row_cells(changes.rows), changes.diffs, changes.times)


def _of_errors(changes: Changes) -> list[Cells]:
    texts = [value_cells(changes.errors.column(0))]
    return _deltas(b"error", texts, changes.error_diffs, changes.error_times)


def _deltas(
    label: bytes, contents: list[Cells], diffs: NDArray[np.int64], times: NDArray[np.uint64]
) -> list[Cells]:
    signed = pa.array(diffs)
    return [
        constant(b'{"op":"'),
        Cells("sign", signed),
        constant(b'","diff":'),
        Cells("integer", signed),
        constant(b',"time":'),
        Cells("natural", pa.array(times)),
        constant(b',"' + label + b'":'),
        *contents,
        constant(b"}"),
    ]
