"""What the pipeline hands over: the updates of one logical time, over all tables.

A `TimedBatch` is a consistent cut: all tables share one clock, and `offsets` says which records of
every partition are reflected once the batch has been applied.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

# topic -> partition -> the offset after the last one reflected
Offsets = Mapping[str, Mapping[int, int]]


@dataclass(frozen=True, slots=True, order=True)
class Range:
    """The records `[first, end)` of one partition of a table's topic."""

    table: str
    topic: str
    partition: int
    first: int
    end: int


@dataclass(frozen=True, slots=True)
class TableUpdates:
    """Row `i` of `rows` changes by `diffs[i]` copies (+1 or -1), in the order of offsets.

    `rows` has the table's declared schema. `ts_ms[i]` is the record's envelope `ts_ms`
    (milliseconds since the epoch), 0 where the envelope has none.
    """

    rows: pa.RecordBatch
    diffs: NDArray[np.int64]
    ts_ms: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TimedBatch:
    """All that happens at logical time `time`; times rise strictly, the first is 1.

    `tables` holds only tables with updates. `offsets` is cumulative: the position of every
    partition after this batch. `records` counts input records, those quarantined and ignored
    included. `committed`: the journal says that the deltas of this time are published already (a
    replay after a restart), so the batch must be applied and its deltas thrown away. `moment` is
    when the time was given, in microseconds since the epoch; a batch may say nothing else.
    """

    time: int
    tables: Mapping[str, TableUpdates]
    ranges: tuple[Range, ...]
    offsets: Offsets
    records: int
    rejected: int
    committed: bool
    moment: int


class Receiver(Protocol):
    """The consumer of the pipeline (the composition root)."""

    def receive(self, batch: TimedBatch) -> None:
        """Apply one batch; called in order of time, on one thread at a time.

        On return the batch is applied and, unless it was `committed`, its deltas are durable and
        `Journal.commit` has been called. An exception stops the pipeline: its state becomes
        `failed`, and only a restart of the process goes on.
        """
