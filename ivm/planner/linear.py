"""Planning of nodes without state: filters and maps as one program, projections, sums."""

from collections.abc import Sequence

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
    Node,
    Union,
)
from ivm.physical import operations as op
from ivm.physical.scopes import Planned
from ivm.planner.planning import Planning, signed
from ivm.rows.format import row_format
from ivm.rows.layout import Layout
from ivm.values.python_values import batch_of


def plan_get(planning: Planning, node: Get) -> Planned:
    """The rows of a collection, flattened from the arrangement that has them."""
    index = planning.stored(node)
    everything = list(range(len(node.schema)))
    form = row_format(node.schema)
    return planning.stage(form, op.Flatten(index, everything, index.packed(everything, form)))


def plan_arrange(planning: Planning, node: Arrange) -> Planned:
    """An arrangement read as a collection."""
    index = planning.arranged(node)
    columns = arrangement_order(len(node.schema), node.key)
    return planning.stage(row_format(node.schema), op.Flatten(index, columns, index.flattened()))


def plan_constant(planning: Planning, node: Constant) -> Planned:
    """Rows that are put in when the plan is built."""
    batch = batch_of(node.rows, node.schema)
    inputs = planning.stage(row_format(node.schema), op.Input(False, len(node.rows)))
    planning.constants.append((inputs.stage, Layout(node.schema), batch))
    return inputs


def plan_filter(planning: Planning, node: Filter) -> Planned:
    """The filters down from `node` as one program."""
    return _evaluated(planning, node, None)


def plan_map(planning: Planning, node: Map) -> Planned:
    """A projection where it only moves columns; else a program with the filters beneath it."""
    picks = [e.index for _, e in node.outputs if isinstance(e, Column)]
    if len(picks) == len(node.outputs) and not isinstance(node.input, Filter):
        return _projected(planning, node, picks)
    return _evaluated(planning, node.input, node)


def _projected(planning: Planning, node: Map, picks: list[int]) -> Planned:
    """The columns `picks` of the input."""
    form = row_format(node.schema)
    if index := planning.stored_rows(node.input):
        return planning.stage(form, op.Flatten(index, picks, index.packed(picks, form)))
    return planning.packed(planning.planned(node.input), [(0, i) for i in picks], form)


def _evaluated(planning: Planning, node: Node, outputs: Map | None) -> Planned:
    """The filters down from `node`, then `outputs`, as one program."""
    predicates = []
    form = row_format(node.schema if outputs is None else outputs.schema)
    while isinstance(node, Filter):
        predicates.append(node.predicate)
        node = node.input
    named = None if outputs is None else outputs.outputs
    rules = op.Rules(node.schema, tuple(predicates[::-1]), named, planning.interner)
    if index := planning.stored_rows(node):
        return planning.stage(form, op.EvaluateArranged(index, rules))
    return planning.stage(form, op.Evaluate(planning.planned(node), rules))


def plan_flat_map(planning: Planning, node: FlatMap) -> Planned:
    """Rows by a Python function."""
    given, wanted = Layout(node.input.schema), Layout(node.schema)
    source, form = planning.planned(node.input), row_format(node.schema)
    return planning.stage(form, op.FlatMap(source, node.function, given, wanted, planning.interner))


def plan_consolidate(planning: Planning, node: Consolidate) -> Planned:
    """Equal rows in one shard, and there added up."""
    everything = tuple(range(len(node.schema)))
    form = row_format(node.schema)
    source = planning.keyed(node.input, everything, list(everything), form)
    return planning.stage(form, op.Consolidate(source))


def plan_union(planning: Planning, node: Union) -> Planned:
    """A sum, from which the terms that are negated are subtracted."""
    return plan_sum(planning, node, signed(node))


def plan_sum(planning: Planning, node: Node, terms: Sequence[tuple[Node, bool]]) -> Planned:
    """`node` as the sum of `terms`, each with whether it is subtracted."""
    sources, negated = planning.terms(node, terms)
    added = op.Terms(tuple(sources), tuple(negated))
    return planning.stage(row_format(node.schema), op.Union(added))
