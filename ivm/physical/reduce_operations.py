"""The operations of reductions: a tactic for where they stand, and the logic of their groups.

At the root sums keep a state for each group, and whatever needs values in order walks a trace of
them; in loops both need the join closure of times, for which histories are kept.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import pyarrow as pa

from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.text import aggregate_text
from ivm.operators.aggregates.aggregate import Logic
from ivm.operators.aggregates.array_agg import ArrayAgg
from ivm.operators.aggregates.linear import Accumulation
from ivm.operators.aggregates.ordering import Ordering
from ivm.operators.aggregates.percentile import Percentile
from ivm.operators.aggregates.string_agg import StringAgg
from ivm.operators.aggregates.top_k import TopK
from ivm.operators.errors.evaluate import Settle as SettleOperator
from ivm.operators.errors.split_errors import Settling
from ivm.operators.reductions.accumulable import Accumulate as AccumulateOperator
from ivm.operators.reductions.accumulable import AccumulateNew as AccumulateNewOperator
from ivm.operators.reductions.accumulable_in_loop import (
    AccumulateInLoop as AccumulateInLoopOperator,
)
from ivm.operators.reductions.distinct_monotonic import (
    DistinctMonotonic as DistinctMonotonicOperator,
)
from ivm.operators.reductions.in_loop import Reduce as ReduceOperator
from ivm.operators.reductions.ordered import Select as SelectOperator
from ivm.physical.arrangement import Arranged
from ivm.physical.build import New, TracePlan
from ivm.physical.operation import Names, Operation, State
from ivm.physical.operations import KeyOrder, Strings
from ivm.physical.scopes import Planned
from ivm.rows.format import Format, is_interned
from ivm.rows.hashing import Partitioner
from ivm.rows.interner import Interner
from ivm.rows.layout import Layout
from ivm.rows.packing import Packing

GROUPS = State("groups", "groups", "groups", "groups")


# --- the logic of groups ---


class LogicPlan(ABC):
    """The logic of a planned reduction: makes a `Logic`, which keeps scratch, for each operator."""

    @abstractmethod
    def make(self) -> Logic:
        """A new one."""

    @abstractmethod
    def __str__(self) -> str: ...


@dataclass(frozen=True)
class Ordered:
    """Rows of a key and then values in an ordered format; `types` are of the columns of both."""

    source: Planned
    by: KeyOrder
    owners: Partitioner
    key_format: Format
    values: Format
    types: tuple[pa.DataType, ...]
    interner: Interner

    def ordering(self) -> Ordering:
        """The order of a key's values."""
        strings = [is_interned(t) for t in self.types[len(self.types) - len(self.values.places) :]]
        return Ordering(self.values, strings, self.interner)


@dataclass(frozen=True)
class SelectionPlan(LogicPlan):
    """Those of a group's rows from `offset` on, `limit` at most if it is not None."""

    given: Ordered
    offset: int
    limit: int | None

    def make(self) -> Logic:
        return TopK(self.given.ordering(), self.offset, self.limit)

    def __str__(self) -> str:
        if self.limit is None:
            return f"rows from {self.offset} on" if self.offset else "rows that are there"
        if self.offset:
            return f"rows {self.offset} to {self.offset + self.limit}"
        return f"first {self.limit}"


@dataclass(frozen=True)
class PercentilePlan(LogicPlan):
    """The value at a `fraction` of a group, or between the two beside it."""

    given: Ordered
    aggregate: Aggregate
    fraction: float
    continuous: bool

    def make(self) -> Logic:
        given = self.given
        return Percentile(given.ordering(), given.values, self.fraction, self.continuous)

    def __str__(self) -> str:
        return named_text(self.aggregate)


@dataclass(frozen=True)
class CollectionPlan(LogicPlan):
    """All values of a group, the one `column` among those given, as a list or a text."""

    given: Ordered
    aggregate: Aggregate
    column: int
    results: Format
    too_long: int

    def make(self) -> Logic:
        a, given = self.aggregate, self.given
        condition = -1 if a.where is None else 0
        parts = (self.column, condition, self.results, self.too_long, given.interner)
        if a.function == "join":
            separator = str(a.parameter or "").encode()
            return StringAgg(given.ordering(), given.values, *parts, separator=separator)
        distinct = a.function == "set"
        return ArrayAgg(given.ordering(), given.values, *parts, type=a.type, distinct=distinct)

    def __str__(self) -> str:
        return named_text(self.aggregate)


@dataclass(frozen=True)
class AccumulationPlan(LogicPlan):
    """Sums of a group's values; `moved` are the `aggregates` over the columns of `fields`.

    Without any, a group is one row while its rows count for more than none.
    """

    aggregates: tuple[Aggregate, ...]
    moved: list[Aggregate]
    fields: list[pa.Field]
    values: Format
    results: Format
    overflow: int

    def make(self) -> Accumulation:
        return Accumulation(self.moved, self.fields, self.values, self.results, self.overflow)

    def __str__(self) -> str:
        return ", ".join(map(named_text, self.aggregates)) or "each once"


def named_text(a: Aggregate) -> str:
    """An aggregate with the name of its column, as in `total := sum($1)`."""
    return f"{a.name} := {aggregate_text(a)}"


# --- the tactics ---


@dataclass(frozen=True)
class DistinctMonotonic(
    Operation,
    makes=DistinctMonotonicOperator,
    puts_out_what_it_reads=True,
    state=State("known rows", "groups", "groups", "groups"),
):
    """Each row once, from its first time on, of rows that only come: those met are known."""

    source: Planned
    strings: Strings
    owners: Partitioner

    @property
    def arguments(self) -> tuple[object, ...]:
        return (self.source, self.strings, self.owners)

    def text(self, names: Names) -> str:
        return f"{self.source}, by known rows: its rows only come"


@dataclass(frozen=True)
class SettlingPlan:
    """Rows made of a key and results by `packing`; `naming` makes those that errors name."""

    packing: Packing
    naming: Packing
    named: Layout
    interner: Interner

    def make(self) -> Settling:
        """A new one, which keeps scratch."""
        return Settling(self.packing, self.naming, self.named, self.interner)


@dataclass(frozen=True)
class Accumulate(
    Operation,
    makes=AccumulateOperator,
    puts_out_what_it_reads=True,
    fallible=True,
    state=GROUPS,
):
    """Sums at the root: a state for each group, and no history."""

    source: Planned
    by: KeyOrder
    sums: "Sums"

    @property
    def arguments(self) -> tuple[object, ...]:
        return (self.source, *self.sums.arguments)

    def text(self, names: Names) -> str:
        return f"{self.source} {self.by}: {self.sums.logic}"


@dataclass(frozen=True)
class AccumulateArranged(
    Operation,
    makes=AccumulateNewOperator,
    puts_out_what_it_reads=True,
    fallible=True,
    state=GROUPS,
):
    """The same of rows as an arrangement has them; `by_key` if its keys are those of the groups."""

    source: Arranged
    by: KeyOrder
    packing: Packing
    by_key: bool
    sums: "Sums"

    @property
    def arguments(self) -> tuple[object, ...]:
        return (self.source, self.packing, self.by_key, *self.sums.arguments)

    def text(self, names: Names) -> str:
        keys = ", key by key" if self.by_key else ""
        return f"{names(self.source.trace)} {self.by}{keys}: {self.sums.logic}"


@dataclass(frozen=True)
class Sums:
    """The arguments that both of these are made with, after the rows that they read."""

    owners: Partitioner
    key_words: int
    logic: AccumulationPlan
    strings: Strings
    settling: SettlingPlan

    @property
    def arguments(self) -> tuple[object, ...]:
        """In the order of the operators' parameters."""
        made = New(self.logic.make), self.strings, New(self.settling.make)
        return (self.owners, self.key_words, *made)


@dataclass(frozen=True)
class ReduceOrdered(
    Operation,
    makes=SelectOperator,
    puts_out_what_it_reads=True,
    state=State("rankings", "groups", "debts", None),
):
    """A reduction at the root that walks the values of changed groups in order."""

    trace: TracePlan
    by: KeyOrder
    owners: Partitioner
    logic: LogicPlan

    @property
    def arguments(self) -> tuple[object, ...]:
        return (self.trace, self.owners, New(self.logic.make))

    def text(self, names: Names) -> str:
        return f"{names(self.trace)} {self.by}: {self.logic}"


@dataclass(frozen=True)
class ReduceInLoop(
    Operation,
    makes=ReduceOperator,
    puts_out_what_it_reads=True,
    state=State("histories", "curves", "curves", "curves"),
):
    """A reduction by any logic at times that are not in line, for which histories are kept."""

    source: Planned
    by: KeyOrder
    key_words: int
    logic: LogicPlan
    strings: Strings
    owners: Partitioner

    @property
    def arguments(self) -> tuple[object, ...]:
        return (self.source, self.key_words, New(self.logic.make), self.strings, self.owners)

    def text(self, names: Names) -> str:
        return f"{self.source} {self.by}, by histories: {self.logic}"


@dataclass(frozen=True)
class AccumulateInLoop(
    Operation,
    makes=AccumulateInLoopOperator,
    puts_out_what_it_reads=True,
    state=State("histories", "groups", "groups", "histories"),
):
    """Sums in a loop that is in no other, for which histories of states are kept."""

    source: Planned
    by: KeyOrder
    key_words: int
    logic: AccumulationPlan
    strings: Strings
    owners: Partitioner

    @property
    def arguments(self) -> tuple[object, ...]:
        return (self.source, self.key_words, New(self.logic.make), self.strings, self.owners)

    def text(self, names: Names) -> str:
        return f"{self.source} {self.by}, by histories of states: {self.logic}"


@dataclass(frozen=True)
class Settle(Operation, makes=SettleOperator, puts_out_what_it_reads=True, fallible=True):
    """Rows and errors apart, of rows of a key, an error and results."""

    source: Planned
    key_words: int
    settling: SettlingPlan

    @property
    def arguments(self) -> tuple[object, ...]:
        return (self.source, self.key_words, New(self.settling.make))

    def text(self, names: Names) -> str:
        return f"{self.source}, rows and errors apart"
