"""The engine's only face: what `views`, `connectors` and `api` may call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ivm.dataflow import Node

@dataclass(frozen=True, slots=True)
class Deltas:
    """Changes of one dataflow: row `i` of `rows` changed at `times[i]` by `diffs[i]` copies.

    Consolidated for each run: no zero diff, and (row, time) is unique. `errors` has one utf8 column, `error`.
    """

    rows: pa.RecordBatch
    times: NDArray[np.uint64]
    diffs: NDArray[np.int64]
    errors: pa.RecordBatch
    error_times: NDArray[np.uint64]
    error_diffs: NDArray[np.int64]

@dataclass(frozen=True, slots=True)
class Snapshot:
    """A collection as of `time` (None: nothing was completed yet): row `i` is present `counts[i]` times.

    `errors` counts the rows that could not be computed.
    """

    time: int | None
    rows: pa.RecordBatch
    counts: NDArray[np.int64]
    errors: int

@dataclass(frozen=True, slots=True)
class ArrangementInfo:
    """One arrangement: `name` is what it indexes, as in `orders[customer_id]`.

    `records` counts the updates held, `bytes` the memory of their batches,
    `users` the dataflows that read it.
    """

    name: str
    records: int
    bytes: int
    users: tuple[str, ...]

@dataclass(frozen=True, slots=True)
class Installed:
    """What an installation found and made, by arrangement name."""

    reused: tuple[str, ...]
    created: tuple[str, ...]

class Pool:
    """Workers that maintain dataflows; safe to call from several threads.

    `feed`, `advance`, `install` and `drop` exclude one another; `peek`, `scan` and
    `arrangements` run beside them and see the last completed frontier.
    """

    def __init__(self, workers: int = 1, max_rounds: int = 10_000) -> None: ...
    @property
    def frontier(self) -> int:
        """Every time below is complete; the pool starts at 0."""

    def create_input(self, name: str, schema: pa.Schema, key: Sequence[str]) -> None:
        """Declare an input and arrange it by its primary key `key` (raises DuplicateName)."""

    def drop_input(self, name: str) -> None:
        """Forget an input and its arrangement (raises UnknownCollection, InUse)."""

    def feed(
        self,
        name: str,
        rows: pa.RecordBatch,
        diffs: NDArray[np.int64],
        times: NDArray[np.uint64] | int,
    ) -> None:
        """Queue updates at times not below the frontier (raises SchemaMismatch, TimeInPast)."""

    def advance(self, frontier: int) -> None:
        """Complete every time below `frontier`: run all dataflows on what was fed.

        Raises TimeInPast, and NoFixedPoint naming the dataflow, which is then stopped; others go on.
        """

    def install(self, name: str, node: Node, key: Sequence[str]) -> Installed:
        """Maintain `node` as collection `name`, arranged for look-ups by the columns `key`.

        It is hydrated from existing arrangements as of `frontier - 1` before the call returns; its
        first deltas are that snapshot. Raises DuplicateName, UnknownCollection, SchemaMismatch,
        Unsupported, NoFixedPoint.
        """

    def drop(self, name: str) -> None:
        """Stop a dataflow and free the arrangements that only it used (raises UnknownCollection, InUse)."""

    def drain(self, name: str) -> Deltas:
        """Take the deltas of dataflow `name` since the last call (or since it was installed)."""

    def peek(self, name: str, key: Mapping[str, object]) -> Snapshot:
        """The rows of input or dataflow `name` with these column values.

        Uses any arrangement whose key is exactly these columns; raises NotIndexed, naming those there are.
        """

    def scan(self, name: str) -> Snapshot:
        """All rows of an input or dataflow."""

    def arrangements(self) -> list[ArrangementInfo]: ...

    def explain(self, node: Node, key: Sequence[str]) -> Installed:
        """What `install` would reuse and create, without doing so."""
