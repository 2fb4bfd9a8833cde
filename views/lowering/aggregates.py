"""Aggregates as reductions.

Those that count each value once are reductions over distinct values, one for each argument, joined
with the rest on the grouping key. An aggregate without grouping key has exactly one row: a row of
NULLs, which no aggregate counts, joins its input.
"""

from collections.abc import Sequence

import pyarrow as pa

from ivm import dataflow as df
from ivm.expressions import Column, Expression
from views.lowering.access import Access, arranged_positions
from views.lowering.joins import joined, mapped
from views.lowering.lowered import Lowered
from views.plan.nodes import Aggregate, AggregateCall
from views.plan.scalars import TRUE

_CONSTANT_KEY = -1
"""The number of the constant that stands in for a grouping key where parts are joined on it."""


def aggregate(plan: Aggregate, given: Lowered, needed: frozenset[int]) -> Lowered:
    """The groups of `given`, the lowered input, with the aggregates `needed`."""
    calls = [c for c in plan.calls if c.attribute.number in needed]
    if not plan.keys and not calls:
        calls = list(plan.calls[:1])
    if not calls:
        keys = [k.number for k in plan.keys]
        node = df.Distinct(given.ordered(keys))
        return Lowered(node, {n: i for i, n in enumerate(keys)})
    whole = [c for c in calls if not c.distinct]
    by_argument = dict.fromkeys(c.argument for c in calls if c.distinct)
    parts = [whole] if whole else []
    parts += [[c for c in calls if c.distinct and c.argument == a] for a in by_argument]
    constant_key = not plan.keys and len(parts) > 1
    reduced = [_reduce(plan, given, part, constant_key) for part in parts]
    result = reduced[0]
    keys = [k.number for k in plan.keys] or [_CONSTANT_KEY]
    for other in reduced[1:]:
        sides = [_by_key(side, keys) for side in (result, other)]
        result = joined(sides[0], sides[1], [*result.positions, *other.positions])
    return result


def _by_key(lowered: Lowered, keys: Sequence[int]) -> Access:
    """A reduction's result, arranged by its grouping key."""
    arrange = df.Arrange(lowered.node, tuple(lowered.positions[k] for k in keys))
    to = arranged_positions(arrange)
    return Access(arrange, {n: to[p] for n, p in lowered.positions.items()})


def _reduce(
    plan: Aggregate, given: Lowered, calls: Sequence[AggregateCall], constant_key: bool
) -> Lowered:
    """One reduction, of calls that all count each value once, or none do."""
    single = not plan.keys
    outputs: list[tuple[str, Expression]] = [(k.name, given.at(k.column)) for k in plan.keys]
    if constant_key:
        outputs.append(("one", TRUE))
    width = len(outputs)
    columns: dict[Column | None, int] = {} if single else {None: -1}
    for call in calls:
        if call.argument not in columns:
            columns[call.argument] = len(outputs)
            value = TRUE if call.argument is None else given.at(call.argument)
            outputs.append((call.attribute.name or call.function, value))
    if not outputs:
        outputs.append(("row", TRUE))
    node = mapped(given.node, outputs)
    if single:
        node = df.Concat((node, _nulls(node.schema, constant_key)))
    if calls[0].distinct:
        node = df.Distinct(node)
    aggregates = tuple(
        df.Aggregate(
            c.function,
            None if columns[c.argument] < 0 else columns[c.argument],
            c.attribute.name or c.function,
            c.attribute.type,
            c.attribute.nullable,
        )
        for c in calls
    )
    numbers = [_CONSTANT_KEY] if constant_key else [k.number for k in plan.keys]
    positions = {n: i for i, n in enumerate(numbers)}
    positions |= {c.attribute.number: width + i for i, c in enumerate(calls)}
    return Lowered(df.Reduce(node, tuple(range(width)), aggregates), positions)


def _nulls(schema: pa.Schema, constant_key: bool) -> df.Constant:
    """One row of NULLs, but for the constant key."""
    keys = 1 if constant_key else 0
    row = tuple(True if i < keys else None for i in range(len(schema)))
    fields = [f if i < keys else f.with_nullable(True) for i, f in enumerate(schema)]
    return df.Constant((row,), pa.schema(fields))
