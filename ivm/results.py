"""What a pool answers: deltas, snapshots, and accounts of its arrangements."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Deltas:
    """Changes of one dataflow: row `i` of `rows` changed at `times[i]` by `diffs[i]` copies.

    Consolidated: no zero diff, and (row, time) is unique. Times never fall, and within a time the
    negative diffs come first: who folds rows by a key that none share never deletes a new row.
    `errors` has one utf8 column, `error`.
    """

    rows: pa.RecordBatch
    times: NDArray[np.uint64]
    diffs: NDArray[np.int64]
    errors: pa.RecordBatch
    error_times: NDArray[np.uint64]
    error_diffs: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A collection as of `time` (None: nothing was completed yet).

    Row `i` is there `counts[i]` times; `errors` counts the rows that could not be computed.
    """

    time: int | None
    rows: pa.RecordBatch
    counts: NDArray[np.int64]
    errors: int


@dataclass(frozen=True, slots=True)
class Found:
    """The rows with each of many keys; equal keys form one group.

    Row `j` of `rows` is there `counts[j]` times and has the key of group `owners[j]`, which never
    falls. The keys `order[starts[g] : starts[g + 1]]`, ascending positions of what was given, are
    those of group `g`.
    """

    rows: pa.RecordBatch
    counts: NDArray[np.int64]
    owners: NDArray[np.int64]
    order: NDArray[np.int64]
    starts: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ArrangementInfo:
    """One arrangement: `name` is what it indexes, as in `orders[customer_id]`.

    Or what operators keep beside it, by its kind: known rows, groups, rankings, totals or
    histories, as in `reached[node] (known rows)`. `records` counts the updates, rows or groups
    held, `bytes` the memory that they take, `users` lists the dataflows that read it.
    """

    name: str
    records: int
    bytes: int
    users: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Foretold:
    """An arrangement that is not there yet: how many rows it would have, and bytes."""

    name: str
    rows: int
    bytes: int


class Installed(NamedTuple):
    """What an installation found and made, by arrangement name."""

    reused: tuple[str, ...]
    created: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Forecast:
    """What an installation would find, by arrangement name, and what it would make.

    `pairs` is how many pairs of rows the largest join without a key would make.
    """

    reused: tuple[str, ...]
    foretold: tuple[Foretold, ...]
    pairs: int

    @property
    def created(self) -> tuple[str, ...]:
        """The names of what it would make."""
        return tuple(dict.fromkeys(made.name for made in self.foretold))
