"""Lowers a plan to a dataflow; each node asks its inputs only for the columns it needs."""

from collections.abc import Collection
from dataclasses import replace
from typing import assert_never

import pyarrow as pa

from ivm.dataflow import aggregates as agg
from ivm.dataflow import combinators
from ivm.dataflow import nodes as df
from ivm.dataflow.expressions import Column, Expression
from views.lowering.aggregates import reduce
from views.lowering.depth import check_depth
from views.lowering.joins import Joins
from views.lowering.lowered import Lowered
from views.lowering.priorities import prioritised
from views.lowering.seek import sought
from views.lowering.temporal_filter import temporal_filter
from views.lowering.unnest import Elements
from views.lowering.with_ties import topk_with_ties
from views.plan.nodes import (
    Apply,
    Attribute,
    Constant,
    Distinct,
    Except,
    Filter,
    Get,
    Iterate,
    Join,
    Map,
    Plan,
    Recursive,
    Reduce,
    SortKey,
    TemporalFilter,
    TopK,
    Union,
    Unnest,
    Window,
    WindowCall,
)
from views.plan.scalars import columns_of, conjuncts
from views.plan.trees import expressions, numbers_of


def lower(plan: Plan, existing: Collection[str]) -> df.Node:
    """Lowers `plan` to a dataflow with exactly its columns in order.

    `existing` names the arrangements that there are already. Raises QueryTooLarge.
    """
    numbers = [a.number for a in plan.attributes]
    lowered = Lowering(existing).lower(plan, frozenset(numbers))
    check_depth(lowered.node)
    outputs = tuple((a.name, lowered.at(a.column)) for a in plan.attributes)
    names = [a.name for a in plan.attributes]
    positions = [lowered.positions[n] for n in numbers]
    if lowered.node.schema.names == names and positions == list(range(len(names))):
        return lowered.node
    if isinstance(lowered.node, df.Map):
        renamed = zip(names, positions, strict=True)
        return df.Map(
            lowered.node.input, tuple((n, lowered.node.outputs[p][1]) for n, p in renamed)
        )
    return df.Map(lowered.node, outputs)


class Lowering:
    """Lowers the nodes of one plan."""

    def __init__(self, existing: Collection[str]) -> None:
        self.joins = Joins(self.lower, existing)
        self.existing = existing
        self._rounds: dict[str, df.Node] = {}
        self._known: dict[tuple[int, frozenset[int]], tuple[Plan, Lowered]] = {}

    def lower(self, plan: Plan, needed: frozenset[int]) -> Lowered:
        """Lowers `plan` with at least the columns `needed`, to the same node each time.

        An outer join reads its inputs more than once, and so a chain of them is a graph with many
        more paths than nodes.
        """
        asked = (id(plan), needed & numbers_of(plan))
        if asked not in self._known:
            self._known[asked] = (plan, self._lower(plan, asked[1]))
        return self._known[asked][1]

    def _lower(self, plan: Plan, needed: frozenset[int]) -> Lowered:
        match plan:
            case Get():
                return _in_order(df.Get(plan.name, _schema(plan.attributes)), plan.attributes)
            case Constant():
                return _in_order(df.Constant(plan.rows, _schema(plan.attributes)), plan.attributes)
            case Recursive():
                before = df.Recursive(plan.name, _schema(plan.attributes))
                return _in_order(self._rounds.get(plan.name, before), plan.attributes)
            case Filter():
                below = self.lower(plan.input, needed | columns_of(plan.predicate))
                return sought(below, conjuncts(plan.predicate), self.existing)
            case TemporalFilter():
                read = needed | columns_of(*plan.bounds)
                return temporal_filter(plan, self.lower(plan.input, read).narrowed(read))
            case Map():
                return self._map(plan, needed)
            case Join():
                return self.joins.join(plan, needed)
            case Reduce():
                return self._reduce(plan, needed)
            case Distinct():
                return self._distinct(plan)
            case Union():
                return self._union(plan, needed)
            case Except():
                return self._except(plan)
            case TopK():
                return self._topk(plan, needed)
            case Window():
                return self._window(plan, needed)
            case Unnest():
                return self._unnest(plan, needed)
            case Iterate():
                return self._iterate(plan)
            case Apply():
                raise AssertionError("an Apply is left over")
            case _:
                assert_never(plan)

    def _map(self, plan: Map, needed: frozenset[int]) -> Lowered:
        kept = [(a, e) for a, e in plan.outputs if a.number in needed] or [_cheapest(plan)]
        below = self.lower(plan.input, columns_of(*(e for _, e in kept)))
        computed = [(a, e) for a, e in kept if not isinstance(e, Column)]
        passed = {a.number: below.positions[e.index] for a, e in kept if isinstance(e, Column)}
        if not computed:
            return Lowered(below.node, passed)
        order = sorted(set(passed.values()))
        schema = below.node.schema
        outputs: list[tuple[str, Expression]] = [
            (schema.field(p).name, below.at_position(p)) for p in order
        ]
        outputs += [(a.name, below.at(e)) for a, e in computed]
        positions = {n: order.index(p) for n, p in passed.items()}
        positions |= {a.number: len(order) + i for i, (a, _) in enumerate(computed)}
        return Lowered(df.Map(below.node, tuple(outputs)), positions)

    def _reduce(self, plan: Reduce, needed: frozenset[int]) -> Lowered:
        read = {k.number for k in plan.keys}
        for call in plan.calls:
            if call.attribute.number in needed or call is plan.calls[0]:
                read |= columns_of(*call.reads())
        return reduce(plan, self.lower(plan.input, frozenset(read)), needed)

    def _distinct(self, plan: Distinct) -> Lowered:
        numbers = numbers_of(plan.input)
        below = self.lower(plan.input, numbers).narrowed(numbers)
        return Lowered(df.Distinct(_without_distinct(below.node)), below.positions)

    def _union(self, plan: Union, needed: frozenset[int]) -> Lowered:
        indices = [i for i, a in enumerate(plan.attributes) if a.number in needed] or [0]
        rows: list[df.Node] = []
        for branch in plan.inputs:
            own = [branch.attributes[i].number for i in indices]
            node = self.lower(branch, frozenset(own)).ordered(own)
            rows += node.inputs if isinstance(node, df.Union) else (node,)
        positions = {plan.attributes[index].number: i for i, index in enumerate(indices)}
        return Lowered(df.Union(tuple(rows)), positions)

    def _except(self, plan: Except) -> Lowered:
        left, right = (
            self.lower(side, frozenset(numbers := [a.number for a in side.attributes])).ordered(
                numbers
            )
            for side in plan.inputs
        )
        return _in_order(combinators.except_all(left, right), plan.attributes)

    def _topk(self, plan: TopK, needed: frozenset[int]) -> Lowered:
        read = needed | columns_of(*plan.keys, *(o.column for o in plan.order))
        below = self.lower(plan.input, read).narrowed(read)
        top = _top(below, plan)
        return Lowered(topk_with_ties(top) if plan.ties else top, below.positions)

    def _window(self, plan: Window, needed: frozenset[int]) -> Lowered:
        """The input with the results of those calls that are read."""
        calls = [c for c in plan.calls if c.attribute.number in needed]
        made = {c.attribute.number for c in plan.calls}
        if not calls:
            return self.lower(plan.input, needed)
        read = (needed - made) | columns_of(*expressions(replace(plan, calls=tuple(calls))))
        below = self.lower(plan.input, read).narrowed(read)
        key, order = _partition(below, plan)
        node = df.Window(below.node, key, order, tuple(_window_call(below, c) for c in calls))
        width = len(below.node.schema)
        results = {c.attribute.number: width + i for i, c in enumerate(calls)}
        return Lowered(node, {**below.positions, **results})

    def _unnest(self, plan: Unnest, needed: frozenset[int]) -> Lowered:
        below = self.lower(plan.input, needed | columns_of(*plan.arrays))
        kept = sorted((needed & numbers_of(plan.input)) & below.positions.keys())
        outputs = [(f"c{n}", below.at_position(below.positions[n])) for n in kept]
        arrays = [(f"array{i}", below.at(array)) for i, array in enumerate(plan.arrays)]
        given = df.Map(below.node, (*outputs, *arrays))
        fields = [given.schema.field(i) for i in range(len(kept))]
        fields += [
            _field(element).with_name(f"element{i}").with_nullable(True)
            for i, element in enumerate(plan.elements)
        ]
        fields += [_field(plan.position).with_name("position")]
        rows = df.FlatMap(given, Elements(len(kept), plan.outer), pa.schema(fields))
        numbers = (*kept, *(e.number for e in plan.elements), plan.position.number)
        return Lowered(rows, {n: i for i, n in enumerate(numbers)})

    def _iterate(self, plan: Iterate) -> Lowered:
        """Each body, where those before it stand for their names."""
        outside, bodies = self._rounds, dict[str, df.Node]()
        priorities, names = dict(plan.priorities), [name for name, _ in plan.bindings]
        for name, body in plan.bindings:
            self._rounds = outside | bodies
            own = [a.number for a in body.attributes]
            bodies[name] = self.lower(body, frozenset(own)).ordered(own)
            if name in priorities:
                bodies[name] = prioritised(bodies[name], priorities[name], name, names)
        self._rounds = outside
        node = df.Iterate(tuple(bodies.items()), plan.result, plan.max_rounds, plan.stops)
        return _in_order(node, plan.attributes)


def _without_distinct(node: df.Node) -> df.Node:
    """Drops from `node` each Distinct over parts that become distinct together."""
    if not isinstance(node, df.Union) or any(isinstance(i, df.Negate) for i in node.inputs):
        return node
    inputs: list[df.Node] = []
    for part in node.inputs:
        inner = part.input if isinstance(part, df.Distinct) else part
        flat = _without_distinct(inner)
        inputs += flat.inputs if isinstance(flat, df.Union) else (flat,)
    return df.Union(tuple(inputs))


def _top(below: Lowered, plan: TopK) -> df.TopK:
    key, order = _partition(below, plan)
    return df.TopK(below.node, key, order, plan.limit, plan.offset)


def _partition(
    below: Lowered, plan: TopK | Window
) -> tuple[tuple[int, ...], tuple[agg.Order, ...]]:
    """The positions of a plan's keys, and its order."""
    key = tuple(dict.fromkeys(below.positions[k.index] for k in plan.keys))
    return key, tuple(_order(below, o) for o in plan.order)


def _window_call(below: Lowered, call: WindowCall) -> agg.WindowCall:
    made = call.attribute
    column, default, other, varies, where = (
        None if c is None else below.positions[c.index]
        for c in (call.argument, call.default, call.other, call.varies, call.where)
    )
    return agg.WindowCall(
        call.function,
        column,
        made.name,
        made.type,
        made.nullable,
        call.frame,
        call.count,
        default,
        other,
        varies,
        call.skips_nulls,
        where,
        call.parameter,
    )


def _order(below: Lowered, key: SortKey) -> agg.Order:
    return agg.Order(below.positions[key.column.index], key.descending, key.nulls_first)


def _cheapest(plan: Map) -> tuple[Attribute, Expression]:
    """An output to keep where only the number of rows matters."""
    return next((o for o in plan.outputs if isinstance(o[1], Column)), plan.outputs[0])


def _in_order(node: df.Node, attributes: tuple[Attribute, ...]) -> Lowered:
    return Lowered(node, {a.number: i for i, a in enumerate(attributes)})


def _schema(attributes: tuple[Attribute, ...]) -> pa.Schema:
    return pa.schema([_field(a) for a in attributes])


def _field(attribute: Attribute) -> pa.Field:
    return pa.field(attribute.name, attribute.type, attribute.nullable)
