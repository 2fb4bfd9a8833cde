"""The operations of stages that keep no state but traces; each is named for its node.

`$i` in a text is column i of the planned node's input; of an arrangement, of its collection.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from ivm.dataflow.aggregates import Order
from ivm.dataflow.expressions import Expression
from ivm.dataflow.nodes import RowFunction
from ivm.dataflow.text import columns_text, expression_text, orders_text
from ivm.expressions.program import Program
from ivm.operators.arranging.arrange import Arrange as ArrangeOperator
from ivm.operators.arranging.arrange_monotonic import ArrangeMonotonic as ArrangeMonotonicOperator
from ivm.operators.arranging.capture import CaptureArranged as CaptureArrangedOperator
from ivm.operators.arranging.capture import CaptureRows as CaptureRowsOperator
from ivm.operators.arranging.input import Input as InputOperator
from ivm.operators.base.flatten import Flatten as FlattenOperator
from ivm.operators.errors.evaluate import Evaluate as EvaluateOperator
from ivm.operators.errors.evaluate import EvaluateNew as EvaluateNewOperator
from ivm.operators.joins.delta_lookup import Lookup as LookupOperator
from ivm.operators.joins.delta_source import Changes as ChangesOperator
from ivm.operators.joins.join import Join as JoinOperator
from ivm.operators.linear.consolidate import Consolidate as ConsolidateOperator
from ivm.operators.linear.exchange import Exchange as ExchangeOperator
from ivm.operators.linear.flat_map import FlatMap as FlatMapOperator
from ivm.operators.linear.project import Project as ProjectOperator
from ivm.operators.linear.union import Union as UnionOperator
from ivm.physical.arrangement import Arranged
from ivm.physical.build import CrossingPlan, New, WholePlan
from ivm.physical.operation import Names, Operation
from ivm.physical.scopes import Planned
from ivm.rows.hashing import Partitioner
from ivm.rows.interner import Interner
from ivm.rows.layout import Layout
from ivm.rows.packing import Packing

Strings = tuple[tuple[int, bool], ...]
"""The words that hold strings, and whether they are complemented."""


# --- without state ---


@dataclass(frozen=True)
class Input(Operation, makes=InputOperator, puts_out_what_it_reads=False):
    """Rows that are fed: those of an input (`arranged`), or `constants` of a dataflow."""

    arranged: bool
    constants: int = 0

    @property
    def arguments(self) -> tuple[object, ...]:
        return (self.arranged,)

    def text(self, names: Names) -> str:
        return "of what is fed" if self.arranged else f"of {self.constants} constant rows"


@dataclass(frozen=True)
class Flatten(Operation, makes=FlattenOperator, puts_out_what_it_reads=True):
    """The rows of an arrangement, as the columns `columns`."""

    source: Arranged
    columns: Sequence[int]
    packing: Packing

    @property
    def arguments(self) -> tuple[object, ...]:
        return (self.source, self.packing)

    def text(self, names: Names) -> str:
        return f"{names(self.source.trace)} to {columns_text(self.columns)}"


@dataclass(frozen=True)
class Project(Operation, makes=ProjectOperator, puts_out_what_it_reads=True):
    """Rows with their columns moved."""

    source: Planned
    picks: Sequence[tuple[int, int]]
    packing: Packing

    @property
    def arguments(self) -> tuple[object, ...]:
        return (self.source, self.packing)

    def text(self, names: Names) -> str:
        return f"{self.source} to {columns_text(i for _, i in self.picks)}"


@dataclass(frozen=True)
class Rules:
    """Conditions, and then outputs (None: the row as it is), evaluated as one program."""

    given: pa.Schema
    predicates: tuple[Expression, ...]
    outputs: tuple[tuple[str, Expression], ...] | None
    interner: Interner

    def program(self) -> Program:
        """A program that evaluates them, for one operator, since it has scratch of its own."""
        return Program(self.given, list(self.predicates), self.outputs, self.interner)

    def __str__(self) -> str:
        where = " and ".join(f"({_expression(p)})" for p in self.predicates)
        parts = [f"where {where}"] if where else []
        if self.outputs is not None:
            made = ", ".join(f"{name} := {_expression(e)}" for name, e in self.outputs)
            parts.append(f"to ({made})")
        return " ".join(parts)


@dataclass(frozen=True)
class Evaluate(Operation, makes=EvaluateOperator, puts_out_what_it_reads=True, fallible=True):
    """Filters and a map, fused."""

    source: Planned
    rules: Rules

    @property
    def arguments(self) -> tuple[object, ...]:
        return (self.source, New(self.rules.program))

    def text(self, names: Names) -> str:
        return f"{self.source} {self.rules}"


@dataclass(frozen=True)
class EvaluateArranged(
    Operation, makes=EvaluateNewOperator, puts_out_what_it_reads=True, fallible=True
):
    """Filters and a map, fused with the reading of an arrangement."""

    source: Arranged
    rules: Rules

    @property
    def arguments(self) -> tuple[object, ...]:
        return (self.source, self.source.shape.restored, New(self.rules.program))

    def text(self, names: Names) -> str:
        return f"{names(self.source.trace)} {self.rules}"


@dataclass(frozen=True)
class FlatMap(Operation, makes=FlatMapOperator, puts_out_what_it_reads=False, fallible=True):
    """Rows by a Python function."""

    source: Planned
    function: RowFunction
    given: Layout
    wanted: Layout
    interner: Interner

    @property
    def arguments(self) -> tuple[object, ...]:
        return (self.source, self.function, self.given, self.wanted, self.interner)

    def text(self, names: Names) -> str:
        name = getattr(self.function, "__qualname__", type(self.function).__name__)
        return f"{self.source} by {name}"


@dataclass(frozen=True)
class Terms:
    """The terms of a sum, each with whether it is subtracted."""

    sources: tuple[Planned, ...]
    negated: tuple[bool, ...]

    def __str__(self) -> str:
        signs = zip(self.sources, self.negated, strict=True)
        text = " ".join(f"{'-' if negative else '+'} {source}" for source, negative in signs)
        return text.removeprefix("+ ")


@dataclass(frozen=True)
class Union(Operation, makes=UnionOperator, puts_out_what_it_reads=True):
    """A sum."""

    terms: Terms

    @property
    def arguments(self) -> tuple[object, ...]:
        return ([*self.terms.sources], self.terms.negated)

    def text(self, names: Names) -> str:
        return str(self.terms)


@dataclass(frozen=True)
class Exchange(
    Operation, makes=ExchangeOperator, puts_out_what_it_reads=True, planned_as=CrossingPlan
):
    """The columns `picks` of a sum, each row in the shard of its columns `key`.

    If it `gathers`, few rows are in the first shard instead.
    """

    terms: Terms
    key: Sequence[int]
    picks: Sequence[int]
    partitioner: Partitioner
    packing: Packing
    gathers: bool

    @property
    def arguments(self) -> tuple[object, ...]:
        given = (self.partitioner, self.packing, self.gathers)
        return ([*self.terms.sources], self.terms.negated, *given)

    def text(self, names: Names) -> str:
        few = ", few rows to the first shard" if self.gathers else ""
        return f"{self.terms} by {columns_text(self.key)} to {columns_text(self.picks)}{few}"


@dataclass(frozen=True)
class Consolidate(Operation, makes=ConsolidateOperator, puts_out_what_it_reads=True):
    """Equal updates added up."""

    source: Planned

    @property
    def arguments(self) -> tuple[object, ...]:
        return (self.source,)

    def text(self, names: Names) -> str:
        return str(self.source)


# --- arrangements ---


@dataclass(frozen=True)
class KeyOrder:
    """The columns by which a trace is sorted: a key's, then the `order` of its values, if any."""

    key: Sequence[int]
    order: Sequence[Order] = ()

    def __str__(self) -> str:
        values = f" order {orders_text(self.order)}" if self.order else ""
        return f"by {columns_text(self.key)}{values}"


@dataclass(frozen=True)
class Arrange(Operation, makes=ArrangeOperator, puts_out_what_it_reads=True, planned_as=WholePlan):
    """A trace of rows by their first `key_words` words."""

    source: Planned
    by: KeyOrder
    key_words: int
    strings: Strings

    @property
    def arguments(self) -> tuple[object, ...]:
        return (self.source, self.key_words, self.strings)

    @property
    def sealed_strings(self) -> Strings:
        return self.strings

    def text(self, names: Names) -> str:
        return f"{self.source} {self.by}"


@dataclass(frozen=True)
class ArrangeMonotonic(
    Operation, makes=ArrangeMonotonicOperator, puts_out_what_it_reads=False, planned_as=WholePlan
):
    """A trace in a loop whose rows only come, so that their rounds are not kept."""

    source: Planned
    by: KeyOrder
    key_words: int
    strings: Strings

    @property
    def arguments(self) -> tuple[object, ...]:
        return (self.source, self.key_words, self.strings)

    @property
    def sealed_strings(self) -> Strings:
        return self.strings

    def text(self, names: Names) -> str:
        return f"{self.source} {self.by}, without rounds: its rows only come"


@dataclass(frozen=True)
class CaptureArranged(
    Operation, makes=CaptureArrangedOperator, puts_out_what_it_reads=True, planned_as=WholePlan
):
    """The changes of an arrangement, kept until they are drained."""

    source: Arranged

    @property
    def arguments(self) -> tuple[object, ...]:
        return (self.source, self.source.shape.restored)

    def text(self, names: Names) -> str:
        return names(self.source.trace)


@dataclass(frozen=True)
class CaptureRows(Operation, makes=CaptureRowsOperator, puts_out_what_it_reads=True):
    """Changes that nothing arranges, kept until they are drained."""

    source: Planned

    @property
    def arguments(self) -> tuple[object, ...]:
        return (self.source,)

    def text(self, names: Names) -> str:
        return str(self.source)


# --- joins ---


@dataclass(frozen=True)
class Join(Operation, makes=JoinOperator, puts_out_what_it_reads=False):
    """Pairs of the rows of two arrangements; `outputs` are among the key's, left's, right's."""

    left: Arranged
    right: Arranged
    outputs: tuple[tuple[str, int], ...]
    packing: Packing

    @property
    def arguments(self) -> tuple[object, ...]:
        return (self.left, self.right, self.packing)

    def text(self, names: Names) -> str:
        sides = f"{names(self.left.trace)} with {names(self.right.trace)}"
        return f"{sides} to {columns_text(i for _, i in self.outputs)}"


@dataclass(frozen=True)
class Changes(Operation, makes=ChangesOperator, puts_out_what_it_reads=False):
    """A delta join's path begins: the new rows of one relation, of columns over all relations."""

    source: Arranged
    later: tuple[Arranged, ...]
    columns: Sequence[int]
    packing: Packing

    @property
    def arguments(self) -> tuple[object, ...]:
        return (self.source, self.packing, [*self.later])

    def text(self, names: Names) -> str:
        later = ", ".join(names(index.trace) for index in self.later)
        unless = f", unless {later} held nothing before" if later else ""
        return f"of {names(self.source.trace)} to {columns_text(self.columns)}{unless}"


@dataclass(frozen=True)
class Lookup(Operation, makes=LookupOperator, puts_out_what_it_reads=False):
    """A delta join's path goes on: partners by their columns `bound`, added to `total`.

    `older`: among the rows that were there before.
    """

    source: Planned
    index: Arranged
    bound: Sequence[int]
    columns: Sequence[int]
    packing: Packing
    older: bool
    total: Planned | None

    @property
    def arguments(self) -> tuple[object, ...]:
        return (self.source, self.index, self.packing, self.older, self.total)

    def text(self, names: Names) -> str:
        before = " as it was before" if self.older else ""
        added = "" if self.total is None else f", added to {self.total}"
        by = f"by {columns_text(self.bound)} to {columns_text(self.columns)}"
        return f"of {self.source} in {names(self.index.trace)}{before} {by}{added}"


def _expression(expression: Expression) -> str:
    return expression_text(expression, lambda i: f"${i}")
