"""A view that is made anew over an altered table, and how it differs from before.

Wider types may say the same value in another text (1.50 is 1.5000), and what was out of range may
be none any more: rows and errors of before are taken back where they are not there any more.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from connectors.sinks.json import object_lines
from ivm.dataflow.nodes import Node
from ivm.results import Deltas, Snapshot


@dataclass(frozen=True, slots=True)
class Remade:
    """A view's name, its dataflow anew and its key of look-ups (None: its rows are not kept).

    `compares`: its rows may differ from before; else they are the same.
    """

    name: str
    node: Node
    key: Sequence[str] | None
    compares: bool


def difference(before: Snapshot, errors: Mapping[str, int], now: Deltas, time: int) -> list[Deltas]:
    """The deltas from the rows and errors of before to those of now: one or, of two types, two.

    What is taken back comes first. Texts tell the rows that stay. `now` has the view whole.
    """
    old = Counter(dict.fromkeys(object_lines(before.rows), 0))
    for line, count in zip(object_lines(before.rows), before.counts.tolist(), strict=True):
        old[line] += count
    lines = object_lines(now.rows)
    new = Counter(dict.fromkeys(lines, 0))
    for line, count in zip(lines, now.diffs.tolist(), strict=True):
        new[line] += count
    faults: Counter[str] = Counter()
    for message, count in zip(
        now.errors.column(0).to_pylist(), now.error_diffs.tolist(), strict=True
    ):
        faults[str(message)] += count
    gone = [old[line] != new[line] for line in object_lines(before.rows)]
    come = [old[line] != new[line] for line in lines]
    parts = [
        _deltas(before.rows, -before.counts, gone, Counter(errors) - faults, -1, time),
        _deltas(now.rows, now.diffs, come, faults - Counter(errors), 1, time),
    ]
    return parts if before.rows.schema != now.rows.schema else [_joined(*parts)]


def _joined(one: Deltas, other: Deltas) -> Deltas:
    return Deltas(
        _stacked(one.rows, other.rows),
        np.concatenate((one.times, other.times)),
        np.concatenate((one.diffs, other.diffs)),
        _stacked(one.errors, other.errors),
        np.concatenate((one.error_times, other.error_times)),
        np.concatenate((one.error_diffs, other.error_diffs)),
    )


def _deltas(
    rows: pa.RecordBatch,
    diffs: NDArray[np.int64],
    chosen: list[bool],
    faults: Mapping[str, int],
    sign: int,
    time: int,
) -> Deltas:
    mask = np.array(chosen, bool)
    kept = rows.filter(pa.array(mask))
    counts = np.array([sign * n for n in faults.values()], np.int64)
    errors = pa.record_batch({"error": pa.array(list(faults), pa.string())})
    return Deltas(kept, _at(time, len(kept)), diffs[mask], errors, _at(time, len(faults)), counts)


def _stacked(one: pa.RecordBatch, other: pa.RecordBatch) -> pa.RecordBatch:
    columns: list[pa.Array] = [
        pa.concat_arrays(pair) for pair in zip(one.columns, other.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=one.schema)


def _at(time: int, count: int) -> NDArray[np.uint64]:
    return np.full(count, time, np.uint64)
