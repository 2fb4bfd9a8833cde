"""Operations that several planners make: inputs, programs, moves of rows, arrangements, captures.

An operation that one planner makes stands beside it, and bears the name of its node.

`$i` in a text is column i of the planned node's input; of an arrangement, of its collection.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from ivm.dataflow.aggregates import Order
from ivm.dataflow.expressions import Expression
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
from ivm.operators.linear.exchange import Exchange as ExchangeOperator
from ivm.operators.linear.project import Project as ProjectOperator
from ivm.physical.arrangement import Arranged
from ivm.physical.build import CrossingPlan, New, WholePlan
from ivm.physical.operation import Names, Operation
from ivm.physical.scopes import Planned
from ivm.rows.hashing import Partitioner
from ivm.rows.interner import Interner
from ivm.rows.packing import Packing

Strings = tuple[tuple[int, bool], ...]
"""The words that hold strings, and whether they are complemented."""


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
class Terms:
    """The terms of a sum, each with whether it is subtracted."""

    sources: tuple[Planned, ...]
    negated: tuple[bool, ...]

    def __str__(self) -> str:
        signs = zip(self.sources, self.negated, strict=True)
        text = " ".join(f"{'-' if negative else '+'} {source}" for source, negative in signs)
        return text.removeprefix("+ ")


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


def _expression(expression: Expression) -> str:
    return expression_text(expression, lambda i: f"${i}")
