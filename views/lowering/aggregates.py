"""Lowers aggregates to reductions.

Those that count each value once are reductions over distinct values, one for each argument, joined
with the rest on the grouping key. An aggregate without grouping key has exactly one row: a row of
NULLs, which no aggregate counts, joins its input.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from ivm.dataflow import aggregates as agg
from ivm.dataflow import combinators
from ivm.dataflow import nodes as df
from ivm.dataflow.arrangement_order import arranged_positions
from ivm.dataflow.expressions import Column, Expression
from views.lowering.access import Access
from views.lowering.joins import joined, mapped
from views.lowering.lowered import Lowered
from views.plan.nodes import AggregateCall, Reduce
from views.plan.scalars import TRUE

_CONSTANT_KEY = -1
"""The number of the constant that stands in for a grouping key where parts are joined on it."""


def reduce(plan: Reduce, given: Lowered, needed: frozenset[int]) -> Lowered:
    """Groups `given`, the lowered input, and computes the aggregates `needed`."""
    calls = [c for c in plan.calls if c.attribute.number in needed]
    if not plan.keys and not calls:
        calls = list(plan.calls[:1])
    if not calls:
        keys = [k.number for k in plan.keys]
        node = df.Distinct(given.ordered(keys))
        return Lowered(node, {n: i for i, n in enumerate(keys)})
    parts = _parts(calls)
    constant_key = not plan.keys and len(parts) > 1
    reduced = [_reduce(plan, given, part, constant_key) for part in parts]
    result = reduced[0]
    keys = [k.number for k in plan.keys] or [_CONSTANT_KEY]
    for other in reduced[1:]:
        sides = [_by_key(side, keys) for side in (result, other)]
        result = joined(sides[0], sides[1], [*result.positions, *other.positions])
    return result


def _by_key(lowered: Lowered, keys: Sequence[int]) -> Access:
    """Arranges a reduction's result by its grouping key."""
    arrange = df.Arrange(lowered.node, tuple(lowered.positions[k] for k in keys))
    to = arranged_positions(len(arrange.input.schema), arrange.key)
    return Access(arrange, {n: to[p] for n, p in lowered.positions.items()})


def _parts(calls: Sequence[AggregateCall]) -> list[list[AggregateCall]]:
    """Splits calls among reductions: distinct ones by the values counted once, each mode alone."""
    once = [c for c in calls if c.distinct and c.function != "list"]
    modes = [c for c in calls if c.function == "mode"]
    whole = [c for c in calls if c not in once and c not in modes]
    by_values = dict.fromkeys(frozenset(c.reads()) for c in once)
    parts = [whole] if whole else []
    parts += [[c for c in once if frozenset(c.reads()) == v] for v in by_values]
    return parts + [[c] for c in modes]


def _reduce(
    plan: Reduce, given: Lowered, calls: Sequence[AggregateCall], constant_key: bool
) -> Lowered:
    """Lowers one part of the calls to a reduction."""
    single = not plan.keys
    outputs: list[tuple[str, Expression]] = [(k.name, given.at(k.column)) for k in plan.keys]
    if constant_key:
        outputs.append(("one", TRUE))
    width = len(outputs)
    rows = _Rows(given, outputs)
    aggregates = tuple(_aggregate(rows, call, single) for call in calls)
    node = mapped(given.node, outputs or [("row", TRUE)])
    if single:
        node = df.Union((node, _nulls(node.schema, constant_key)))
    if calls[0].distinct and calls[0].function != "list":
        node = df.Distinct(node)
    if calls[0].function == "mode":
        node, aggregates = _counted(node, width, aggregates[0])
    numbers = [_CONSTANT_KEY] if constant_key else [k.number for k in plan.keys]
    positions = {n: i for i, n in enumerate(numbers)}
    positions |= {c.attribute.number: width + i for i, c in enumerate(calls)}
    return Lowered(combinators.reduce(node, tuple(range(width)), aggregates), positions)


@dataclass(frozen=True, slots=True)
class _Rows:
    """The columns of the rows that a reduction reads: grouping keys, then arguments, each once."""

    given: Lowered
    outputs: list[tuple[str, Expression]]
    places: dict[Column | None, int] = field(default_factory=dict)

    def place(self, column: Column | None, name: str) -> int:
        """Finds or adds the position of `column`; None stands for a constant true."""
        if column not in self.places:
            self.places[column] = len(self.outputs)
            value = TRUE if column is None else self.given.at(column)
            self.outputs.append((name, value))
        return self.places[column]


def _aggregate(rows: _Rows, call: AggregateCall, single: bool) -> agg.Aggregate:
    """Translates `call` over `rows`, in which a row of NULLs does not count if `single`."""
    name = call.attribute.name or call.function
    column = where = None
    if call.argument is not None or single:
        column = rows.place(call.argument, name)
    if call.where is not None or (call.function == "list" and single):
        where = rows.place(call.where, "where")
    return agg.Aggregate(
        _function(call),
        column,
        name,
        call.attribute.type,
        call.attribute.nullable,
        None if call.other is None else rows.place(call.other, name),
        tuple(
            agg.Order(rows.place(o.column, "order"), o.descending, o.nulls_first)
            for o in call.order
        ),
        where,
        call.parameter,
    )


def _function(call: AggregateCall) -> agg.AggregateFunction:
    if call.function == "mode":
        return "first"
    if call.function == "list" and call.distinct:
        return "set"
    return call.function


def _counted(
    node: df.Node, width: int, mode: agg.Aggregate
) -> tuple[df.Node, tuple[agg.Aggregate, ...]]:
    """The mode as the first of the values counted by themselves; NULL, counted as none, is last."""
    assert mode.column is not None
    count = agg.Aggregate("count", mode.column, "count", pa.int64(), False)
    counts = df.Reduce(node, (*range(width), mode.column), (count,))
    order = (agg.Order(width + 1, descending=True), agg.Order(width, mode.order[0].descending))
    return counts, (replace(mode, column=width, order=order),)


def _nulls(schema: pa.Schema, constant_key: bool) -> df.Constant:
    """One row of NULLs, but for the constant key."""
    keys = 1 if constant_key else 0
    row = tuple(True if i < keys else None for i in range(len(schema)))
    fields = [f if i < keys else f.with_nullable(True) for i, f in enumerate(schema)]
    return df.Constant((row,), pa.schema(fields))
