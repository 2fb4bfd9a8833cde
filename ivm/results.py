"""Results of a pool's calls: deltas, snapshots, look-ups, and accounts of its arrangements."""

from dataclasses import dataclass, field
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


class Hydrating(NamedTuple):
    """The dataflow `name` catches up: `done` of its `of` operators have taken all that there was.

    What has come in since is not counted: the operators take it in rounds that get ever shorter.
    """

    name: str
    done: int
    of: int


@dataclass(frozen=True, slots=True)
class ArrangementInfo:
    """The account of one arrangement: `name` is its collection and key: `orders[customer_id]`.

    Or of the state that operators keep beside it, by its kind: known rows, groups, rankings,
    totals or histories, as in `reached[node] (known rows)`. `records` counts the updates, rows or
    groups held, `bytes` the memory that they take, `users` lists the dataflows that read it.
    `seconds` estimates what making an arrangement has taken; state has a part in that. `unmerged`
    counts the updates of an arrangement that lie in other batches than the largest of their shard.
    """

    name: str
    records: int
    bytes: int
    users: tuple[str, ...]
    seconds: float | None = field(default=None, compare=False)
    unmerged: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class RoundClass:
    """The rounds of a loop from `first` to `last` (None: all later ones) that ran in a step.

    There were `rounds` of them; `changes` counts the changes of the loop's names that they began
    with.
    """

    first: int
    last: int | None
    rounds: int
    changes: int


@dataclass(frozen=True, slots=True)
class LoopInfo:
    """The account of a loop: the rounds that it ran, and the number of the last one it reached.

    All since it was installed; those of one step at most; and those of the last step in which it
    ran, `classes` among them. A loop within a loop runs rounds in each round of that.
    """

    rounds: int
    most_rounds: int
    last_round: int
    step_rounds: int
    step_last_round: int
    classes: tuple[RoundClass, ...]


@dataclass(frozen=True, slots=True)
class TimedStep:
    """An operator's share of the step at `time`: the rows that it put out, and how long it took."""

    time: int
    rows: int | None
    seconds: float


@dataclass(frozen=True, slots=True)
class OperatorInfo:
    """The account of one operator of an installed dataflow, in all shards.

    `number`, `kind` and `text` are those of its line in the physical plan; `loop` is the number of
    the loop that it is in, and `arrangement` what it helps to make, unless it delivers the result.
    It reads the operators `reads`, and the arrangements `uses` that are not of this plan. `rows`
    counts the updates that it has put out (None: what it makes is told elsewhere), `seconds`
    estimates the time that it has taken since it was installed, with those in a loop. `step` is
    the last one that was timed.
    """

    number: int
    kind: str
    text: str
    loop: int | None
    arrangement: str | None
    reads: tuple[int, ...]
    uses: tuple[str, ...]
    rows: int | None
    bytes: int
    seconds: float
    step: TimedStep | None
    rounds: LoopInfo | None


@dataclass(frozen=True, slots=True)
class ReusedInfo:
    """An arrangement that a dataflow found when it was installed: made for others, kept once."""

    name: str
    rows: int
    bytes: int
    seconds: float
    users: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Operators:
    """The accounts of a dataflow's operators, in the order of its physical plan."""

    reused: tuple[ReusedInfo, ...]
    operators: tuple[OperatorInfo, ...]


class Spent(NamedTuple):
    """The cost of all operators of a dataflow since it was installed: seconds, and rounds."""

    seconds: float
    rounds: int


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
