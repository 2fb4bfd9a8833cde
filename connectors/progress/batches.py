"""Timed batches: the pipeline hands over the updates of one logical time, over all tables.

A `TimedBatch` is a consistent cut: all tables share one clock, and `offsets` says which records of
every partition are reflected once the batch has been applied.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from connectors.offsets import Offsets
from connectors.tables.spec import TableSpec
from ivm.cluster.dealing import Owners


@dataclass(frozen=True, slots=True, order=True)
class Range:
    """The records `[first, end)` of one partition; `table` is the stream that reads its topic."""

    table: str
    topic: str
    partition: int
    first: int
    end: int


@dataclass(frozen=True, slots=True, order=True)
class Correction:
    """A quarantined record that takes effect after all; `digest` names the bytes that are used."""

    table: str
    topic: str
    partition: int
    offset: int
    digest: str


@dataclass(frozen=True, slots=True)
class Run:
    """The number of updates that come from one partition of a stream's topic."""

    stream: str
    topic: str
    partition: int
    count: int


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a table's updates, in their order: one run after another.

    `spec` is a stream of the table, of which all are alike but for their topics. `order` and
    `missing` are those of `connectors.decode.Decoded`.
    """

    spec: TableSpec
    runs: tuple[Run, ...]
    offsets: NDArray[np.int64]
    order: NDArray[np.uint64] | None = None
    missing: pa.Array | None = None

    def place(self, index: int) -> tuple[Run, int]:
        """The run of one update, and its offset."""
        ends = np.cumsum([run.count for run in self.runs])
        run = self.runs[int(np.searchsorted(ends, index, side="right"))]
        return run, int(self.offsets[index])


@dataclass(frozen=True, slots=True)
class TableUpdates:
    """Row `i` of `rows` changes by `diffs[i]` copies (+1 or -1), in the order of offsets.

    In a keyed table it is set (+1), or deleted by its key (-1), or all rows are (0). `rows` has the
    table's declared schema, or is of references to rows that have it (`ivm.cluster.dealing`).
    `ts_ms[i]` is the record's envelope `ts_ms` (milliseconds since the epoch), 0 where the envelope
    has none. `times` are None where all happen at the batch's time.
    """

    rows: pa.RecordBatch
    diffs: NDArray[np.int64]
    ts_ms: NDArray[np.int64]
    origin: Origin
    times: NDArray[np.uint64] | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of records by their outcome; each record has exactly one.

    Changes that repeat earlier ones are among the changes: they are known where they are applied.
    """

    changes: int = 0
    tombstones: int = 0
    ignored: int = 0
    rejected: int = 0

    @property
    def records(self) -> int:
        """All of them."""
        return self.changes + self.tombstones + self.ignored + self.rejected

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.changes + other.changes,
            self.tombstones + other.tombstones,
            self.ignored + other.ignored,
            self.rejected + other.rejected,
        )


@dataclass(frozen=True, slots=True)
class TimedBatch:
    """All that happens at logical time `time`; times rise strictly, the first is 1.

    `tables` holds only tables with updates. `offsets` is cumulative: the positions of every source
    after this batch. `records` counts input records, those quarantined and ignored
    included. `committed`: the journal says that the deltas of this time are published already (a
    replay after a restart), so the batch must be applied and its deltas thrown away. `moment` is
    when the time was given, in microseconds since the epoch; a batch may say nothing else. A batch
    of `corrections` holds nothing but their updates: these are older than what is reflected, and
    are to be applied all the same. It has no ranges. `counts` says, by table, what became of the
    records.
    """

    time: int
    tables: Mapping[str, TableUpdates]
    ranges: tuple[Range, ...]
    offsets: Offsets
    records: int
    rejected: int
    committed: bool
    moment: int
    corrections: tuple[Correction, ...] = ()
    counts: Mapping[str, Counts] = field(default_factory=dict)


class Receiver(Protocol):
    """The consumer of the pipeline (the composition root)."""

    def receive(self, batch: TimedBatch) -> None:
        """Apply one batch; called in order of time, on one thread at a time.

        On return the batch is applied and, unless it was `committed`, its deltas are durable and
        `Journal.commit` has been called. An exception stops the pipeline: its state becomes
        `failed`, and only a restart of the process goes on.
        """


class RowOwners(Protocol):
    """The processes of a cluster to which tasks bring rows, in parcels that updates refer to."""

    @property
    def owners(self) -> Owners | None:
        """The processes, as tasks know them; None before there are any."""

    def release(self, parcels: Collection[int]) -> None:
        """Take note that nothing further comes of these parcels."""

    def keep(self, parcels: Collection[int]) -> None:
        """Take note that nothing comes of any other parcel; no task brings one just now."""
