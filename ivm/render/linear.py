"""Planning of nodes without state: filters and maps as one program, projections, sums."""

from collections.abc import Sequence

from ivm.dataflow import Arrange, Concat, Consolidate, Constant, Filter, FlatMap, Get, Map, Node
from ivm.expressions import Column
from ivm.operators.concat import Concat as ConcatOperator
from ivm.operators.consolidate import Consolidate as ConsolidateOperator
from ivm.operators.fallible import Evaluate, EvaluateNew
from ivm.operators.flat_map import FlatMap as FlatMapOperator
from ivm.operators.flatten import Flatten
from ivm.operators.input import Input
from ivm.render.building import New, Several, Source
from ivm.render.planning import Planning, signed
from ivm.render.scopes import Planned
from ivm.rows.format import row_format
from ivm.rows.layout import Layout
from ivm.rows.program import Program
from ivm.rows.values import batch_of


def plan_get(planning: Planning, node: Get) -> Planned:
    """The rows of a collection, flattened from the arrangement that has them."""
    index = planning.stored(node)
    everything = list(range(len(node.schema)))
    form = row_format(node.schema)
    return planning.stage(form, Flatten, index.trace, index.packed(everything, form))


def plan_arrange(planning: Planning, node: Arrange) -> Planned:
    """An arrangement read as a collection."""
    index = planning.arranged(node)
    return planning.stage(row_format(node.schema), Flatten, index.trace, index.flattened())


def plan_constant(planning: Planning, node: Constant) -> Planned:
    """Rows that are put in when the plan is built."""
    batch = batch_of(node.rows, node.schema)
    inputs = planning.stage(row_format(node.schema), Input, False)
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
    if index := planning.lying_anyhow(node.input):
        return planning.stage(form, Flatten, index.trace, index.packed(picks, form))
    return planning.packed(planning.planned(node.input), [(0, i) for i in picks], form)


def _evaluated(planning: Planning, node: Node, outputs: Map | None) -> Planned:
    """The filters down from `node`, then `outputs`, as one program."""
    predicates = []
    form = row_format(node.schema if outputs is None else outputs.schema)
    while isinstance(node, Filter):
        predicates.append(node.predicate)
        node = node.input
    named = None if outputs is None else outputs.outputs
    given, interner = node.schema, planning.interner
    program = New(lambda: Program(given, predicates[::-1], named, interner))
    if index := planning.lying_anyhow(node):
        return planning.fallible(form, EvaluateNew, index.trace, index.shape.restored, program)
    return planning.fallible(form, Evaluate, planning.planned(node), program)


def plan_flat_map(planning: Planning, node: FlatMap) -> Planned:
    """Rows by a Python function."""
    given, wanted = Layout(node.input.schema), Layout(node.schema)
    parts = (planning.planned(node.input), node.function, given, wanted, planning.interner)
    return planning.fallible(row_format(node.schema), FlatMapOperator, *parts)


def plan_consolidate(planning: Planning, node: Consolidate) -> Planned:
    """Equal rows in one shard, and there added up."""
    everything = tuple(range(len(node.schema)))
    form = row_format(node.schema)
    source = planning.keyed(node.input, everything, list(everything), form)
    return planning.stage(form, ConsolidateOperator, source)


def plan_concat(planning: Planning, node: Concat) -> Planned:
    """A sum, from which the terms that are negated are subtracted."""
    return plan_sum(planning, node, signed(node))


def plan_sum(planning: Planning, node: Node, terms: Sequence[tuple[Node, bool]]) -> Planned:
    """`node` as the sum of `terms`, each with whether it is subtracted."""
    sources, negated = planning.terms(node, terms)
    added = Several([Source(source.stage) for source in sources])
    return planning.stage(row_format(node.schema), ConcatOperator, added, tuple(negated))
