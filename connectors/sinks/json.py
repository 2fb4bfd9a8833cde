"""Changes as JSON, for lines of file topics and for messages of Kafka alike.

A delta is `{"op":"+"|"-","diff":n,"time":t,"row":{...}}` (`"error":"..."` in place of `"row"` for
a row that could not be computed); `diff` is signed and `op` is its sign. A frontier record is
`{"frontier":t,"offsets":{topic:{partition:offset}},"sources":{source:{partition:offset}}}`.
"""

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from connectors.columns.buffers import picked
from connectors.offsets import Offsets
from connectors.sinks.json_texts import encoded, filled, join, json_texts, plain, value_texts
from connectors.sinks.net import Net
from connectors.sinks.origin import Origin
from connectors.sinks.sink import Changes

# Rows that are encoded together, so that their texts stay in the processor's cache.
_ROWS = 8192


def delta_lines(changes: Changes) -> list[bytes]:
    """One delta per changed row, then those of rows that could not be computed."""
    lines: list[bytes] = []
    for start in range(0, changes.rows.num_rows, _ROWS):
        some = slice(start, start + _ROWS)
        texts = json_texts(changes.rows.slice(start, _ROWS))
        lines += _deltas("row", texts, changes.diffs[some], changes.times[some])
    if changes.errors.num_rows:
        texts = value_texts(changes.errors.column(0))
        lines += _deltas("error", texts, changes.error_diffs, changes.error_times)
    return lines


def frontier_line(time: int, offsets: Offsets) -> bytes:
    """Every delta up to `time` was published, and it reflects the records before `offsets`."""
    return orjson.dumps({"frontier": time, **offsets.told()})


def object_lines(rows: pa.RecordBatch) -> list[bytes]:
    """One object per row."""
    lines: list[bytes] = []
    for start in range(0, rows.num_rows, _ROWS):
        lines += encoded(json_texts(rows.slice(start, _ROWS)))
    return lines


def event_lines(rows: pa.RecordBatch, changed: Net, origin: Origin) -> list[bytes]:
    """Debezium's events, without the schema that Connect may put around them."""
    texts = json_texts(rows)
    return encoded(
        join(
            '{"before":',
            _chosen(texts, changed.before),
            ',"after":',
            _chosen(texts, changed.after),
            f',"source":{orjson.dumps(origin.source()).decode()[:-1]},"time":',
            plain(pa.array(changed.times)),
            '},"op":"',
            pa.array(origin.ops(changed), texts.type),
            f'","ts_ms":{origin.ts_ms}}}',
        )
    )


def _chosen(texts: pa.Array, positions: NDArray[np.int64]) -> pa.Array:
    """The texts at these positions; `null` at -1."""
    return filled(texts.take(picked(positions)), "null")


def _deltas(
    label: str, texts: pa.Array, diffs: NDArray[np.int64], times: NDArray[np.uint64]
) -> list[bytes]:
    ops = pc.if_else(pa.array(diffs > 0), "+", "-").cast(texts.type)
    return encoded(
        join(
            '{"op":"',
            ops,
            '","diff":',
            plain(pa.array(diffs)),
            ',"time":',
            plain(pa.array(times)),
            f',"{label}":',
            texts,
            "}",
        )
    )
