"""Planning of nodes without state: filters and maps as one program, projections, sums."""

from collections.abc import Sequence
from dataclasses import dataclass

from ivm.dataflow.arrangement_order import arrangement_order
from ivm.dataflow.expressions import Column
from ivm.dataflow.nodes import (
    Arrange,
    Consolidate,
    Constant,
    Filter,
    FlatMap,
    Get,
    Map,
    Negate,
    Node,
    RowFunction,
    Union,
)
from ivm.operators.linear.consolidate import Consolidate as ConsolidateOperator
from ivm.operators.linear.flat_map import FlatMap as FlatMapOperator
from ivm.operators.linear.union import Union as UnionOperator
from ivm.physical.operation import Names, Operation
from ivm.physical.operations import Evaluate, EvaluateArranged, Flatten, Input, Rules, Terms
from ivm.physical.scopes import Planned
from ivm.planner.bounded_rows import plan_bounded_rows
from ivm.planner.planning import Planners, Planning, signed
from ivm.rows.format import row_format
from ivm.rows.interner import Interner
from ivm.rows.layout import Layout
from ivm.values.python_values import batch_of


@dataclass(frozen=True)
class FlatMapOperation(
    Operation, makes=FlatMapOperator, puts_out_what_it_reads=False, fallible=True
):
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
class UnionOperation(Operation, makes=UnionOperator, puts_out_what_it_reads=True):
    """A sum."""

    terms: Terms

    @property
    def arguments(self) -> tuple[object, ...]:
        return ([*self.terms.sources], self.terms.negated)

    def text(self, names: Names) -> str:
        return str(self.terms)


@dataclass(frozen=True)
class ConsolidateOperation(Operation, makes=ConsolidateOperator, puts_out_what_it_reads=True):
    """Equal updates added up."""

    source: Planned

    @property
    def arguments(self) -> tuple[object, ...]:
        return (self.source,)

    def text(self, names: Names) -> str:
        return str(self.source)


def plan_get(planning: Planning, node: Get) -> Planned:
    """The rows of a collection, flattened from the arrangement that has them."""
    index = planning.stored(node)
    everything = list(range(len(node.schema)))
    form = row_format(node.schema)
    return planning.stage(form, Flatten(index, everything, index.packed(everything, form)))


def plan_arrange(planning: Planning, node: Arrange) -> Planned:
    """An arrangement read as a collection."""
    index = planning.arranged(node)
    columns = arrangement_order(len(node.schema), node.key)
    return planning.stage(row_format(node.schema), Flatten(index, columns, index.flattened()))


def plan_constant(planning: Planning, node: Constant) -> Planned:
    """Rows that are put in when the plan is built."""
    batch = batch_of(node.rows, node.schema)
    inputs = planning.stage(row_format(node.schema), Input(False, len(node.rows)))
    planning.constants.append((inputs.stage, Layout(node.schema), batch))
    return inputs


def plan_filter(planning: Planning, node: Filter) -> Planned:
    """The filters down from `node` as one program."""
    return _evaluated(planning, node, None)


def plan_map(planning: Planning, node: Map) -> Planned:
    """A projection where it only moves columns; else a program with the filters beneath it."""
    if isinstance(node.input, Filter) and (rows := plan_bounded_rows(planning, node)):
        return rows
    picks = [e.index for _, e in node.outputs if isinstance(e, Column)]
    if len(picks) == len(node.outputs) and not isinstance(node.input, Filter):
        return _projected(planning, node, picks)
    return _evaluated(planning, node.input, node)


def _projected(planning: Planning, node: Map, picks: list[int]) -> Planned:
    """The columns `picks` of the input."""
    return planning.moved(node.input, picks, row_format(node.schema))


def _evaluated(planning: Planning, node: Node, outputs: Map | None) -> Planned:
    """The filters down from `node`, then `outputs`, as one program."""
    predicates = []
    form = row_format(node.schema if outputs is None else outputs.schema)
    while isinstance(node, Filter):
        predicates.append(node.predicate)
        node = node.input
    named = None if outputs is None else outputs.outputs
    rules = Rules(node.schema, tuple(predicates[::-1]), named, planning.interner)
    if index := planning.stored_rows(node):
        return planning.stage(form, EvaluateArranged(index, rules))
    return planning.stage(form, Evaluate(planning.planned(node), rules))


def plan_flat_map(planning: Planning, node: FlatMap) -> Planned:
    """Rows by a Python function."""
    given, wanted = Layout(node.input.schema), Layout(node.schema)
    source, form = planning.planned(node.input), row_format(node.schema)
    operation = FlatMapOperation(source, node.function, given, wanted, planning.interner)
    return planning.stage(form, operation)


def plan_consolidate(planning: Planning, node: Consolidate) -> Planned:
    """Equal rows in one shard, and there added up."""
    everything = tuple(range(len(node.schema)))
    form = row_format(node.schema)
    source = planning.keyed(node.input, everything, list(everything), form)
    return planning.stage(form, ConsolidateOperation(source))


def plan_union(planning: Planning, node: Union) -> Planned:
    """A sum, from which the terms that are negated are subtracted."""
    return _sum(planning, node, signed(node))


def plan_negate(planning: Planning, node: Negate) -> Planned:
    """A sum of one term, which is subtracted."""
    return _sum(planning, node, [(node.input, True)])


def _sum(planning: Planning, node: Node, terms: Sequence[tuple[Node, bool]]) -> Planned:
    """`node` as the sum of `terms`, each with whether it is subtracted."""
    sources, negated = planning.terms(node, terms)
    added = Terms(tuple(sources), tuple(negated))
    return planning.stage(row_format(node.schema), UnionOperation(added))


PLANNERS: Planners = {
    Get: plan_get,
    Constant: plan_constant,
    Filter: plan_filter,
    Map: plan_map,
    FlatMap: plan_flat_map,
    Consolidate: plan_consolidate,
    Union: plan_union,
    Negate: plan_negate,
    Arrange: plan_arrange,
}
