"""Nodes of the logical plan: the relational algebra of a query, without a choice of maintenance.

A node bears the name of the node of `ivm.dataflow.nodes` that it is lowered to; where the two
differ, both docstrings say so. Every column that a node makes has a number that is unique in the
whole plan, and an expression's `Column.index` is such a number, not a position. So a rewrite may
move an expression anywhere its columns are visible without changing it; lowering turns numbers into
positions at the very end. All nodes denote bags of rows, except where they say otherwise.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal as OneOf
from typing import TypeAlias, TypeVar, assert_never

import pyarrow as pa

from ivm.dataflow import aggregates as agg
from ivm.dataflow.aggregates import UP_TO_PEERS, Frame, WindowFunction
from ivm.dataflow.expressions import Column, Expression, Value
from views.plan.scalars import TRUE


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column of a node: its number in the plan, and the name it has in the query."""

    number: int
    name: str
    type: pa.DataType
    nullable: bool

    @property
    def column(self) -> Column:
        """The expression that reads this column."""
        return Column(self.number, self.type, self.nullable)

    def widened(self) -> "Attribute":
        """Makes the column nullable, as where a join may fill in NULL."""
        return replace(self, nullable=True)


class Remembering:
    """A base of the nodes, on which answers about a node and all below it are kept (`remembered`).

    A node may lie on many paths of a plan, and below many that ask the same of it.
    """

    __slots__ = ("__dict__",)


@dataclass(frozen=True, slots=True)
class Get(Remembering):
    """Reads the rows of a table or view; `key` numbers columns with unique values, or is empty."""

    name: str
    attributes: tuple[Attribute, ...]
    key: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Constant(Remembering):
    """Makes constant rows."""

    rows: tuple[tuple[Value | None, ...], ...]
    attributes: tuple[Attribute, ...]


@dataclass(frozen=True, slots=True)
class Filter(Remembering):
    """Keeps the rows for which `predicate` is true."""

    input: "Plan"
    predicate: Expression

    attributes: tuple[Attribute, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", self.input.attributes)


@dataclass(frozen=True, slots=True)
class TemporalFilter(Remembering):
    """Keeps each row while the present moment is at or after `begin` and before `end`.

    Both are of type timestamptz; None is no bound, and a row with a NULL bound is never there. The
    dataflow's node of this name reads events instead: a row at its begin, its negation at its end.
    """

    input: "Plan"
    begin: Expression | None
    end: Expression | None

    attributes: tuple[Attribute, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", self.input.attributes)

    @property
    def bounds(self) -> tuple[Expression, ...]:
        """The bounds that are given."""
        return tuple(bound for bound in (self.begin, self.end) if bound is not None)


@dataclass(frozen=True, slots=True)
class Map(Remembering):
    """Computes exactly the columns `outputs`, or passes them on under their own number."""

    input: "Plan"
    outputs: tuple[tuple[Attribute, Expression], ...]

    attributes: tuple[Attribute, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", tuple(attribute for attribute, _ in self.outputs))


JoinKind: TypeAlias = OneOf["inner", "left", "full", "semi", "anti", "mark"]


def joined(
    kind: JoinKind,
    left: tuple[Attribute, ...],
    right: tuple[Attribute, ...],
    mark: Attribute | None,
) -> tuple[Attribute, ...]:
    """Lists the columns of a join of two inputs."""
    match kind:
        case "inner":
            return left + right
        case "left":
            return left + tuple(a.widened() for a in right)
        case "full":
            return tuple(a.widened() for a in left + right)
        case "mark":
            assert mark is not None
            return (*left, mark)
        case "semi" | "anti":
            return left
        case _:
            assert_never(kind)


@dataclass(frozen=True, slots=True)
class Join(Remembering):
    """Pairs rows of `left` and `right` that satisfy `predicate`, by `kind`.

    `semi` and `anti` keep the left rows that have a partner, or none; `mark` keeps every left row
    and adds the column `mark`: whether it has a partner (true or false, never NULL).
    """

    kind: JoinKind
    left: "Plan"
    right: "Plan"
    predicate: Expression
    mark: Attribute | None = None

    attributes: tuple[Attribute, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        made = joined(self.kind, self.left.attributes, self.right.attributes, self.mark)
        object.__setattr__(self, "attributes", made)


@dataclass(frozen=True, slots=True)
class Apply(Remembering):
    """Joins `left` with `right`, which is evaluated for each left row and may read its columns.

    Never `full`. Rewriting leaves none of these. `guard` reads the left alone: where it does not
    hold, the right side's values are not read and may be any, or NULL; but to evaluate it for such
    a row might fail. Under a guard the right side of `inner` has one row.
    """

    kind: JoinKind
    left: "Plan"
    right: "Plan"
    predicate: Expression
    mark: Attribute | None = None
    guard: Expression = TRUE

    attributes: tuple[Attribute, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        made = joined(self.kind, self.left.attributes, self.right.attributes, self.mark)
        object.__setattr__(self, "attributes", made)


AggregateFunction: TypeAlias = OneOf[agg.AggregateFunction, "mode"]


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """Computes `function` over the values of column `argument` (None: over rows), as `attribute`.

    `distinct`: each value once. The functions are those of `ivm.dataflow.aggregates.Aggregate`,
    which defines `other`, `order`, `where` and `parameter`, and `mode`: the most frequent value, of
    several the first in `order`.
    """

    attribute: Attribute
    function: AggregateFunction
    argument: Column | None
    distinct: bool = False
    other: Column | None = None
    order: tuple["SortKey", ...] = ()
    where: Column | None = None
    parameter: float | str | None = None

    def reads(self) -> tuple[Column, ...]:
        """Lists the columns that the call reads."""
        given = (self.argument, self.other, self.where, *(o.column for o in self.order))
        return tuple(c for c in given if c is not None)


@dataclass(frozen=True, slots=True)
class Reduce(Remembering):
    """Makes one row for each combination of the columns `keys`; without keys, exactly one row.

    The dataflow's node of this name has no row where its input is empty, with or without a key.
    """

    input: "Plan"
    keys: tuple[Attribute, ...]
    calls: tuple[AggregateCall, ...]

    attributes: tuple[Attribute, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "attributes", self.keys + tuple(call.attribute for call in self.calls)
        )


@dataclass(frozen=True, slots=True)
class Distinct(Remembering):
    """Keeps every row once, where NULL equals NULL."""

    input: "Plan"

    attributes: tuple[Attribute, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", self.input.attributes)


@dataclass(frozen=True, slots=True)
class Union(Remembering):
    """Adds up the inputs, whose columns correspond by position to `attributes`."""

    inputs: tuple["Plan", ...]
    attributes: tuple[Attribute, ...]


@dataclass(frozen=True, slots=True)
class Except(Remembering):
    """Keeps each row as often as it is in the first input beyond its count in the second.

    The columns of both inputs correspond by position to `attributes`.
    """

    inputs: tuple["Plan", "Plan"]
    attributes: tuple[Attribute, ...]


@dataclass(frozen=True, slots=True)
class SortKey:
    """A column of an ordering, with its direction and the place of its NULLs."""

    column: Column
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class TopK(Remembering):
    """Keeps, for each combination of the columns `keys`, the rows `offset` to `offset + limit`.

    With `ties` there are also the rows after these that equal the last of them in `order`.
    """

    input: "Plan"
    keys: tuple[Column, ...]
    order: tuple[SortKey, ...]
    limit: int | None
    offset: int = 0
    ties: bool = False

    attributes: tuple[Attribute, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", self.input.attributes)


@dataclass(frozen=True, slots=True)
class WindowCall:
    """Computes `function` over a window, as `attribute` (`ivm.dataflow.aggregates.WindowCall`)."""

    attribute: Attribute
    function: WindowFunction
    argument: Column | None = None
    default: Column | None = None
    count: int = 1
    frame: Frame = UP_TO_PEERS
    other: Column | None = None
    varies: Column | None = None
    skips_nulls: bool = False
    where: Column | None = None
    parameter: str | None = None

    def reads(self) -> tuple[Column, ...]:
        """Lists the columns that the call reads."""
        given = (self.argument, self.default, self.other, self.varies, self.where)
        return tuple(c for c in given if c is not None)


@dataclass(frozen=True, slots=True)
class Window(Remembering):
    """Adds to every row the results of `calls` over the rows of equal `keys`, in `order`.

    Rows that tie are in the order of their other columns, so that each call's answer is determined.
    """

    input: "Plan"
    keys: tuple[Column, ...]
    order: tuple[SortKey, ...]
    calls: tuple[WindowCall, ...]

    attributes: tuple[Attribute, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "attributes", (*self.input.attributes, *(c.attribute for c in self.calls))
        )


@dataclass(frozen=True, slots=True)
class Unnest(Remembering):
    """Makes, for each row of `input`, a row for each element of the `arrays`, expressions over it.

    The arrays go in lockstep: row i has in `elements` the i-th element of each, or NULL after its
    last, and i, from 1, as its `position`. NULL has no elements; `outer`: a row without elements is
    kept, once, with NULLs.
    """

    input: "Plan"
    arrays: tuple[Expression, ...]
    elements: tuple[Attribute, ...]
    position: Attribute
    outer: bool = False

    attributes: tuple[Attribute, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "attributes", (*self.input.attributes, *self.elements, self.position)
        )


@dataclass(frozen=True, slots=True)
class Recursive(Remembering):
    """Reads, inside the bodies of an `Iterate`, the rows that `name` has so far."""

    name: str
    attributes: tuple[Attribute, ...]


@dataclass(frozen=True, slots=True)
class Iterate(Remembering):
    """The fixed point of `bindings`: `result`, once no name changes any more, all empty at first.

    In every round the bodies are evaluated in order, and each replaces the rows of its name: so a
    body reads earlier names as of the same round, and others, itself among them, as of the round
    before. (The dataflow's node of this name reads the round before for every name.) More than
    `max_rounds` are an error; if it `stops`, they are not begun instead. A body that is a
    `Distinct` makes a set. The columns of a body correspond by position to those of the `Recursive`
    that read it, and those of `result` to `attributes`. Where a name has one of `priorities`, an
    expression over its columns by position, the rows that come from outside the recursion enter in
    ascending order of it.
    """

    bindings: tuple[tuple[str, "Plan"], ...]
    result: str
    attributes: tuple[Attribute, ...]
    max_rounds: int | None = None
    stops: bool = False
    priorities: tuple[tuple[str, Expression], ...] = ()

    @property
    def body(self) -> "Plan":
        """The body of `result`."""
        return dict(self.bindings)[self.result]


Plan: TypeAlias = (
    Get
    | Constant
    | Filter
    | TemporalFilter
    | Map
    | Join
    | Apply
    | Reduce
    | Distinct
    | Union
    | Except
    | TopK
    | Window
    | Unnest
    | Recursive
    | Iterate
)

Of = TypeVar("Of", bound=Plan)
Answer = TypeVar("Answer")


def remembered(ask: Callable[[Of], Answer]) -> Callable[[Of], Answer]:
    """Makes `ask`, whose answer depends on a plan alone, be asked once of each node.

    >>> sides = remembered(lambda plan: [plan])
    >>> row = Constant((), ())
    >>> sides(row) is sides(row)
    True
    """

    name = f"{ask.__module__}.{ask.__name__}"

    def answer(plan: Of) -> Answer:
        known = plan.__dict__
        if name not in known:
            known[name] = ask(plan)
        made: Answer = known[name]
        return made

    return answer
