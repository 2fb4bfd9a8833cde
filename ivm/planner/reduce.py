"""Planning of reductions: chooses the operator, and the format that lets it stop early.

At the root sums take a state for each group and selections walk ordered values; inside loops both
need the join closure of times, which `ivm.operators.reductions.in_loop` provides for any logic.
"""

import math
from dataclasses import replace
from typing import assert_never

import pyarrow as pa

from ivm.dataflow.aggregates import LINEAR, Aggregate, Order, aggregate_kind, may_be_null
from ivm.dataflow.arrangement_order import arrangement_order
from ivm.dataflow.nodes import Distinct, Node, Reduce, Threshold, TopK, project
from ivm.errors import Unsupported
from ivm.physical import reduce_operations as op
from ivm.physical.operations import KeyOrder
from ivm.physical.scopes import Planned
from ivm.planner.planning import Planners, Planning
from ivm.rows.format import (
    Format,
    followed_by,
    ordered_format,
    row_format,
    string_words,
)
from ivm.rows.interner import pinned_word_of
from ivm.rows.layout import Layout
from ivm.rows.packing import Packing

OVERFLOW = b"numeric value out of range in a sum or average"
TOO_LONG = b"a list or text of more than 1 GiB"


def plan_distinct(planning: Planning, node: Distinct) -> Planned:
    """One copy of each row."""
    return _bounded(planning, node.input, 1)


def plan_threshold(planning: Planning, node: Threshold) -> Planned:
    """As many copies of each row as its limit allows."""
    return _bounded(planning, node.input, node.limit)


def _bounded(planning: Planning, node: Node, limit: int | None) -> Planned:
    """The whole row is the key, and the first `limit` of its copies are kept.

    At the root a row that is kept once has a state, its count, and its copies no trace.
    """
    picks = tuple(range(len(node.schema)))
    if limit == 1 and picks and planning.only_grows(node):
        return _known(planning, node)
    if limit == 1 and picks and planning.scope.depth == 1:
        return _accumulated(planning, Reduce(node, picks, ()))
    return _selected(planning, node, picks, (), limit, 0, node.schema, picks)


def _known(planning: Planning, node: Node) -> Planned:
    """Every row once, of a collection that only grows."""
    form = row_format(node.schema)
    picks = list(range(len(node.schema)))
    source = planning.keyed(node, picks, picks, form)
    strings = string_words(node.schema.types, form)
    owners = planning.owners(node.schema, form)
    return planning.stage(form, op.DistinctMonotonic(source, strings, owners))


def plan_top_k(planning: Planning, node: TopK) -> Planned:
    """Values ordered by the order's columns, then by the others, ascending."""
    others = arrangement_order(len(node.schema), node.key)[len(node.key) :]
    order = {o.column: o for o in reversed(node.order) if o.column in others}
    ordering = [order[o.column] for o in node.order if o.column in order]
    unique = list(dict.fromkeys(ordering))
    unique += [Order(i) for i in others if i not in order]
    places = [*node.key, *(o.column for o in unique)]
    picks = tuple(places.index(i) for i in range(len(node.schema)))
    return _selected(
        planning, node.input, node.key, tuple(unique), node.limit, node.offset, node.schema, picks
    )


def plan_reduce(planning: Planning, node: Reduce) -> Planned:
    """Linear aggregates together, or one of another kind by itself."""
    for a in node.aggregates:
        given = [node.input.schema.field(c) for c in (a.column, a.other) if c is not None]
        if not a.nullable and may_be_null(a, any(column.nullable for column in given)):
            raise Unsupported(f"the {a.function} {a.name!r} may be NULL, but is said not to be")
    if not node.aggregates:
        return planning.planned(Distinct(project(node.input, node.key)))
    first, *others = node.aggregates
    if others and any(a.function not in LINEAR for a in node.aggregates):
        raise Unsupported(
            "aggregates of several kinds in one Reduce: ivm.dataflow.combinators.reduce"
        )
    match aggregate_kind(first.function):
        case "linear":
            return _accumulated(planning, node)
        case "collection":
            return _gathered(planning, node, first)
        case "percentile":
            return _percentile(planning, node, first)
        case "first":
            return _first(planning, node, first)
        case kind:
            assert_never(kind)


def _first(planning: Planning, node: Reduce, a: Aggregate) -> Planned:
    """The value of the first row: a top-1 of the order's columns and then the value."""
    assert a.column is not None
    _gives(a, node.input.schema.field(a.column).type)
    order = a.order or (Order(a.column, descending=a.function == "max"),)
    places, order = _with_value(order, a.column)
    value = project(node.input, (*node.key, *(o.column for o in order)))
    keys = tuple(range(len(node.key)))
    moved = tuple(replace(o, column=len(keys) + i) for i, o in enumerate(order))
    picks = (*keys, len(keys) + places)
    return _selected(planning, value, keys, moved, 1, 0, node.schema, picks)


def _selected(
    planning: Planning,
    node: Node,
    key: tuple[int, ...],
    order: tuple[Order, ...],
    limit: int | None,
    offset: int,
    schema: pa.Schema,
    picks: tuple[int, ...],
) -> Planned:
    """The selected rows of each group; column i is `picks[i]` of (key, ordered columns)."""
    given = _ordered(planning, node, key, order)
    selection = op.SelectionPlan(given, offset, limit)
    reduced = _reduced(planning, given, selection, given.source.format)
    return planning.packed(reduced, [(0, i) for i in picks], row_format(schema))


def _percentile(planning: Planning, node: Reduce, a: Aggregate) -> Planned:
    assert a.column is not None
    kind = node.input.schema.field(a.column).type
    fraction = math.nan if isinstance(a.parameter, str) else float(a.parameter or 0)
    continuous = a.function == "percentile_cont"
    _gives(a, kind)
    if not 0 <= fraction <= 1 or (continuous and kind != pa.float64()):
        raise Unsupported(f"a {a.function} of {kind} at {a.parameter!r}")
    descending = any(o.descending for o in a.order)
    given = _ordered(planning, node.input, node.key, (Order(a.column, descending),))
    percentile = op.PercentilePlan(given, a, fraction, continuous)
    reduced = _reduced(planning, given, percentile, given.source.format)
    picks = [(0, i) for i in range(len(node.key) + 1)]
    return planning.packed(reduced, picks, row_format(node.schema))


def _gathered(planning: Planning, node: Reduce, a: Aggregate) -> Planned:
    assert a.column is not None
    kind = node.input.schema.field(a.column).type
    _gives(a, kind if a.function == "join" else pa.list_(kind))
    column, order = _with_value(a.order, a.column)
    where = () if a.where is None else (Order(a.where),)
    given = _ordered(planning, node.input, node.key, (*where, *order))
    results = ordered_format([pa.field(a.name, a.type, a.nullable)], [False], [False])
    too_long = pinned_word_of(planning.interner, TOO_LONG)
    collection = op.CollectionPlan(given, a, len(where) + column, results, too_long)
    form = Format(given.key_format.words + 1 + results.words, ())
    reduced = _reduced(planning, given, collection, form)
    return _settled(planning, node, reduced, given.key_format, results)


def _ordered(
    planning: Planning, node: Node, key: tuple[int, ...], order: tuple[Order, ...]
) -> op.Ordered:
    """`node`'s rows as keys and the columns of `order`, which sort as words do."""
    schema = node.schema
    key_format = row_format([schema.field(i) for i in key])
    fields = [schema.field(o.column) for o in order]
    values = ordered_format(
        fields, [o.descending for o in order], [o.nulls_first for o in order], prefixed=True
    )
    taken = [*key, *(o.column for o in order)]
    together = followed_by(key_format, values)
    if planning.scope.depth > 1:
        source = planning.keyed(node, key, taken, together)
    else:
        source = planning.moved(node, taken, together)
    owners = planning.owners(pa.schema([schema.field(i) for i in key]), key_format)
    types = tuple(schema.field(i).type for i in taken)
    by = KeyOrder(key, order)
    return op.Ordered(source, by, owners, key_format, values, types, planning.interner)


def _reduced(planning: Planning, given: op.Ordered, logic: op.LogicPlan, form: Format) -> Planned:
    """The reduction of the stage `given` by `logic`, with rows of format `form`."""
    words, strings = given.key_format.words, string_words(given.types, given.source.format)
    if planning.scope.depth > 1:
        in_loop = op.ReduceInLoop(given.source, given.by, words, logic, strings, given.owners)
        return planning.stage(form, in_loop)
    trace = planning.sealed(given.source, given.by, words, strings)
    return planning.stage(form, op.ReduceOrdered(trace, given.by, given.owners, logic))


def _accumulated(planning: Planning, node: Reduce) -> Planned:
    given = node.input.schema
    key_format = row_format([given.field(i) for i in node.key])
    read = {i for a in node.aggregates for i in (a.column, a.other)}
    used = sorted(i for i in read if i is not None)
    fields = [given.field(i) for i in used]
    plain = [False] * len(used)
    values = ordered_format(fields, plain, plain)
    outputs = [pa.field(a.name, a.type, a.nullable) for a in node.aggregates]
    plain = [False] * len(outputs)
    results = ordered_format(outputs, plain, plain)
    together, taken = followed_by(key_format, values), [*node.key, *used]
    moved = [_moved(a, used) for a in node.aggregates]
    types = [given.field(i).type for i in taken]
    overflow = pinned_word_of(planning.interner, OVERFLOW)
    owners = planning.owners(pa.schema([given.field(i) for i in node.key]), key_format)
    sums = op.AccumulationPlan(node.aggregates, moved, fields, values, results, overflow)
    if planning.scope.depth > 1:
        source = planning.keyed(node.input, node.key, taken, together)
        operation = op.AccumulateInLoop if planning.scope.depth == 2 else op.ReduceInLoop
        strings = string_words(types, together)
        by, words = KeyOrder(node.key), key_format.words
        in_loop = operation(source, by, words, sums, strings, owners)
        form = Format(key_format.words + 1 + results.words, ())
        return _settled(planning, node, planning.stage(form, in_loop), key_format, results)
    strings = string_words(types[: len(node.key)], key_format)
    settling = _settling(planning, node, key_format, results)
    parts = op.Sums(owners, key_format.words, sums, strings, settling)
    return _summed(planning, node, taken, together, parts)


def _summed(
    planning: Planning, node: Reduce, taken: list[int], together: Format, sums: op.Sums
) -> Planned:
    """At the root: states of groups, of the columns `taken` in the format `together`."""
    form, by = row_format(node.schema), KeyOrder(node.key)
    index = planning.stored_by(node.input, node.key)
    if index is None:
        source = planning.keyed(node.input, node.key, taken, together)
        return planning.stage(form, op.Accumulate(source, by, sums))
    packing = index.packed(taken, together, planning.interner)
    by_key = index.node.key == node.key
    return planning.stage(form, op.AccumulateArranged(index, by, packing, by_key, sums))


def _settled(
    planning: Planning, node: Reduce, reduced: Planned, key_format: Format, results: Format
) -> Planned:
    settling = _settling(planning, node, key_format, results)
    return planning.stage(row_format(node.schema), op.Settle(reduced, key_format.words, settling))


def _settling(
    planning: Planning, node: Reduce, key_format: Format, results: Format
) -> op.SettlingPlan:
    """Rows of `node` made of keys and results."""
    picks = [(0, i) for i in range(len(node.key))]
    picks += [(1, i) for i in range(len(node.aggregates))]
    packing = Packing((key_format, results), picks, row_format(node.schema))
    named = Layout(pa.schema(list(node.schema)[: len(node.key)]))
    naming = Packing((key_format,), picks[: len(node.key)], row_format(named.schema))
    return op.SettlingPlan(packing, naming, named, planning.interner)


def _gives(a: Aggregate, type_: pa.DataType) -> None:
    """Raise Unsupported for an aggregate of another type than it has."""
    if a.type != type_:
        raise Unsupported(f"a {a.function} of type {type_} as {a.type}")


def _with_value(order: tuple[Order, ...], value: int) -> tuple[int, tuple[Order, ...]]:
    """`order` with each column once and `value` among them, and the place of that."""
    first = {o.column: o for o in reversed((*order, Order(value)))}
    columns = list(dict.fromkeys([*(o.column for o in order), value]))
    return columns.index(value), tuple(first[c] for c in columns)


def _moved(a: Aggregate, used: list[int]) -> Aggregate:
    column = None if a.column is None else used.index(a.column)
    other = None if a.other is None else used.index(a.other)
    return replace(a, column=column, other=other)


PLANNERS: Planners = {
    Reduce: plan_reduce,
    Distinct: plan_distinct,
    Threshold: plan_threshold,
    TopK: plan_top_k,
}
