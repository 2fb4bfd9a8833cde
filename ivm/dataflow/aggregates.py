"""Functions of many rows: aggregates, calls over windows, and the orders that they follow.

>>> total = Aggregate("sum", column=1, name="total", type=pa.int64(), nullable=True)
>>> aggregate_kind(total.function), may_be_null(total, of_nulls=False)
('linear', False)
"""

from dataclasses import dataclass
from typing import Literal as OneOf
from typing import TypeAlias, TypeGuard, assert_never, get_args

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Order:
    """One column of an ordering, ascending with NULLs last unless it says otherwise."""

    column: int
    descending: bool = False
    nulls_first: bool = False


LinearFunction: TypeAlias = OneOf[
    "count", "sum", "avg", "comoment", "bit_and", "bit_or", "bit_xor",
]  # fmt: skip
AggregateFunction: TypeAlias = OneOf[
    LinearFunction,
    "min", "max", "first", "percentile_cont", "percentile_disc", "list", "set", "join",
]  # fmt: skip

AggregateKind: TypeAlias = OneOf["linear", "first", "percentile", "collection"]


def aggregate_kind(function: AggregateFunction) -> AggregateKind:
    """Classify an aggregate by the family of operators that computes it.

    A "linear" one has a state that adds up: state(A + B) = state(A) + state(B).
    The others need the values in order: their first one, the one at a fraction, or all of them.
    """
    match function:
        case "count" | "sum" | "avg" | "comoment" | "bit_and" | "bit_or" | "bit_xor":
            return "linear"
        case "min" | "max" | "first":
            return "first"
        case "percentile_cont" | "percentile_disc":
            return "percentile"
        case "list" | "set" | "join":
            return "collection"
        case _:
            assert_never(function)


AGGREGATES: frozenset[AggregateFunction] = frozenset(get_args(AggregateFunction))
LINEAR: frozenset[LinearFunction] = frozenset(get_args(LinearFunction))
"""Functions whose states are added up."""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate applies `function` to input column `column` (None: to the row, for `count`).

    Of no value that is not NULL they are NULL, except where it says otherwise:

    - `count` counts rows, or a column's values that are not NULL, as int64.
    - `sum` and `avg` take integers, decimals and floats, and are numbers with a sign, in a type
      that holds what they take: a float only of integers and floats. What the `type` cannot hold is
      an error row. An average in decimal has the digits that a quotient has.
    - `comoment`: the sum of (x - avg x) (y - avg y) over the rows where neither x, which is
      `column`, nor y, column `other`, is NULL. A number by itself, or two floats; the sums behind
      it are exact, and it is a float64, NaN where a value is not finite.
    - `bit_and`, `bit_or` and `bit_xor` take integers and have their type: a bit is set where all
      values have it, some, or an odd number of them, copies among them.
    - `min` and `max` take any type: of booleans they are "all" and "any".
    - `first` has the value of the first row in `order`, NULL or not; of rows that tie the least.
    - `percentile_cont` and `percentile_disc`: where the fraction `parameter`, 0 to 1, of the values
      lies, in the direction of `order`, which has the one column. Continuous, between two float64
      values; or else the first value that is not before it.
    - `list` has all values, NULL among them, and `set` each distinct one once, in ascending order,
      NULL last and equal to NULL, or in `order`, ties ascending; a `set` only by the column itself.
      With the boolean column `where` they have the values of the rows where it is true, and of no
      such row they are NULL. `type` is `pa.list_` of the column's.
    - `join` has all texts that are not NULL, in the same manner, `parameter` between them.

    What has more than 1 GiB is an error row.
    """

    function: AggregateFunction
    column: int | None
    name: str
    type: pa.DataType
    nullable: bool
    other: int | None = None
    order: tuple[Order, ...] = ()
    where: int | None = None
    parameter: float | str | None = None


def may_be_null(aggregate: Aggregate, of_nulls: bool) -> bool:
    """Tell whether an aggregate may be NULL for a group of at least one row.

    `of_nulls`: its columns may be NULL.
    """
    match aggregate.function:
        case "count":
            return False
        case "list" | "set":
            return aggregate.where is not None
        case "sum" | "avg" | "comoment" | "min" | "max" | "first" | "join":
            return of_nulls or aggregate.where is not None
        case "percentile_cont" | "percentile_disc" | "bit_and" | "bit_or" | "bit_xor":
            return of_nulls or aggregate.where is not None
        case _:
            assert_never(aggregate.function)


FrameUnit: TypeAlias = OneOf["rows", "groups", "range"]
Exclusion: TypeAlias = OneOf["no others", "current row", "group", "ties"]


@dataclass(frozen=True, slots=True)
class Calendar:
    """A distance between moments: `months` of the calendar first, and then `micros`.

    A month after the last days of January is the last of February.
    """

    months: int
    micros: int


End: TypeAlias = int | float | Calendar | None


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame bounds the rows around a row that a window call reads: BETWEEN `start` AND `end`.

    Both are counted from the row on, negative before it: in rows; in groups of peers, which are
    rows that tie in the order; or, with "range", as distances in the order's only column, in days,
    microseconds, or units of its last decimal place. 0 is the row itself, with all its peers unless
    `unit` is "rows"; None is the partition's first row as `start`, its last one as `end`. `exclude`
    names those around the row that are left out: the row, it and its peers, or these alone.
    """

    unit: FrameUnit = "range"
    start: End = None
    end: End = 0
    exclude: Exclusion = "no others"

    @property
    def begins_by_row(self) -> bool:
        """Whether a frame that is not empty never begins behind its row."""
        return self.start is None or _lies(self.start, -1)

    @property
    def ends_by_row(self) -> bool:
        """Whether a frame never goes on behind its row, or that row's peers."""
        return self.end is not None and _lies(self.end, -1)

    @property
    def holds_row(self) -> bool:
        """Whether each row is in its own frame."""
        reaches = self.end is None or _lies(self.end, 1)
        return self.begins_by_row and reaches and self.exclude in ("no others", "ties")


def _lies(end: int | float | Calendar, side: int) -> bool:
    """Whether `end` is at the row itself, or on this side of it."""
    if isinstance(end, Calendar):
        return side * end.months >= 0 and side * end.micros >= 0
    return side * end >= 0


UP_TO_PEERS = Frame()
"""SQL's frame where none is given; of a window without order it is the whole partition."""


WindowFunction: TypeAlias = OneOf[
    "row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile",
    "lag", "lead",
    "first_value", "last_value", "nth_value",
    LinearFunction, "min", "max", "list", "join",
]  # fmt: skip

WindowKind: TypeAlias = OneOf["number", "neighbour", "pick", "linear", "extreme", "collection"]


def window_kind(function: WindowFunction) -> WindowKind:
    """Classify a window function by the family of operators that computes it.

    A "number" is that of the row in its partition, a "neighbour" the value of a row at a distance;
    the others are over the frame: the value of one of its rows, a sum, its extreme value, or all.
    """
    match function:
        case "row_number" | "rank" | "dense_rank" | "percent_rank" | "cume_dist" | "ntile":
            return "number"
        case "lag" | "lead":
            return "neighbour"
        case "first_value" | "last_value" | "nth_value":
            return "pick"
        case "count" | "sum" | "avg" | "comoment" | "bit_and" | "bit_or" | "bit_xor":
            return "linear"
        case "min" | "max":
            return "extreme"
        case "list" | "join":
            return "collection"
        case _:
            assert_never(function)


WINDOW_FUNCTIONS: frozenset[WindowFunction] = frozenset(get_args(WindowFunction))


def is_window_function(function: str) -> TypeGuard[WindowFunction]:
    """Whether windows have `function`, which may be the name of an aggregate."""
    return function in WINDOW_FUNCTIONS


@dataclass(frozen=True, slots=True)
class WindowCall:
    """A window call applies `function` to each row of a partition, over the rows around it.

    `row_number`, `rank` and `dense_rank` are int64, `percent_rank` and `cume_dist` float64; `ntile`
    numbers `count` buckets, as an integer type. `lag` and `lead` are the value of `column` in the
    row `count` rows before or after, and where there is none that of column `default` in the row
    itself, or NULL. The others are over `frame`: the value of `column` in its first, last or
    `count`-th row, NULL where it has none; and the aggregates of `Aggregate`, with its `other`,
    `where` and `parameter`; a `list` or `join` is in the order of the rows.

    `varies` is an int64 column to take the place of `count`: the row's own value, and for `ntile`
    that of the partition's first row where it is not NULL. Where NULL it gives NULL, and below 1,
    but for `lag` and `lead`, an error row. With `skips_nulls` only the rows count where `column` is
    not NULL, for the values of other rows.
    """

    function: WindowFunction
    column: int | None
    name: str
    type: pa.DataType
    nullable: bool
    frame: Frame = UP_TO_PEERS
    count: int = 1
    default: int | None = None
    other: int | None = None
    varies: int | None = None
    skips_nulls: bool = False
    where: int | None = None
    parameter: str | None = None

    def reads(self) -> tuple[int, ...]:
        """The columns that the call reads."""
        given = (self.column, self.default, self.other, self.varies, self.where)
        return tuple(c for c in given if c is not None)
