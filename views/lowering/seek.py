"""Seeks: rows of constant values are read from an arrangement of their table, where there is one.

The table is joined with a row of the constants: a view, a recursion or a query that begins at
`src = 42` reads the rows of 42 and not the table.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import permutations

import pyarrow as pa

from ivm.dataflow import nodes as df
from ivm.dataflow.arrangement_order import arranged_positions
from ivm.dataflow.expressions import Call, Column, Expression, Literal
from ivm.values.types import INTERVAL
from views.lowering.access import arrangement_name
from views.lowering.lowered import Lowered

_MOST_COLUMNS = 4
"""Of more columns with constants, the first are tried."""


def sought(
    lowered: Lowered, conditions: Sequence[Expression], existing: Collection[str]
) -> Lowered:
    """Keeps the rows that satisfy all of `conditions`, over numbers."""
    if not isinstance(lowered.node, df.Get):
        return lowered.filtered(conditions)
    constants = {
        lowered.positions[column.index]: (literal, condition)
        for condition in conditions
        for column, literal in _equals_constant(condition)
    }
    key = _arranged(lowered.node, [*constants][:_MOST_COLUMNS], existing)
    if key is None:
        return lowered.filtered(conditions)
    done = [constants[position][1] for position in key]
    found = _joined(lowered, key, {p: literal for p, (literal, _) in constants.items()})
    return found.filtered([c for c in conditions if c not in done])


def _equals_constant(condition: Expression) -> Iterator[tuple[Column, Literal]]:
    """The column and the constant of a condition that holds them equal."""
    match condition:
        case (
            Call(function="eq", arguments=(Column() as column, Literal() as literal))
            | Call(function="eq", arguments=(Literal() as literal, Column() as column))
        ):
            comparable = not pa.types.is_floating(column.type) and column.type != INTERVAL
            if comparable and literal.value is not None and literal.type == column.type:
                yield column, literal


def _arranged(
    table: df.Get, positions: Sequence[int], existing: Collection[str]
) -> tuple[int, ...] | None:
    """The longest key of constants that the table is arranged by."""
    for width in range(len(positions), 0, -1):
        for key in permutations(positions, width):
            if arrangement_name(table, key) in existing:
                return key
    return None


def _joined(lowered: Lowered, key: tuple[int, ...], constants: Mapping[int, Literal]) -> Lowered:
    """The table joined by `key` with the row of its constants."""
    table = lowered.node
    fields = [table.schema.field(position) for position in key]
    row = df.Constant((tuple(constants[p].value for p in key),), pa.schema(fields))
    arrange = df.Arrange(table, key)
    outputs = tuple((field.name, i) for i, field in enumerate(arrange.schema))
    to = arranged_positions(len(table.schema), key)
    node = df.Join(df.Arrange(row, tuple(range(len(key)))), arrange, outputs)
    return Lowered(node, {n: to[p] for n, p in lowered.positions.items()})
