"""Results of a pool's calls: deltas, snapshots, look-ups, and accounts of its arrangements."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Deltas:
    """Changes of one dataflow: row `i` of `rows` changed at `times[i]` by `diffs[i]` copies.

    Consolidated: no zero diff, and (row, time) is unique. Times never fall, and within a time the
    negative diffs come first: a fold of rows by a unique key never deletes a new row.
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
    """The account of one arrangement: `name` is its collection and key: `orders[customer_id]`.

    Or of the state that operators keep beside it, by its kind: known rows, groups, rankings,
    totals or histories, as in `reached[node] (known rows)`. `records` counts the updates, rows or
    groups held, `bytes` the memory that they take, `users` lists the dataflows that read it.
    """

    name: str
    records: int
    bytes: int
    users: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Foretold:
    """The estimate of an arrangement that is not there yet: its rows and its bytes."""

    name: str
    rows: int
    bytes: int


class Installed(NamedTuple):
    """The names of the arrangements that an installation reused, and of those that it made."""

    reused: tuple[str, ...]
    created: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Forecast:
    """The forecast of an installation: the arrangements that it would reuse, and those to make.

    `pairs` is the number of pairs of rows that the largest join without a key would make.
    """

    reused: tuple[str, ...]
    foretold: tuple[Foretold, ...]
    pairs: int

    @property
    def created(self) -> tuple[str, ...]:
        """The names of the arrangements that it would make."""
        return tuple(dict.fromkeys(made.name for made in self.foretold))
