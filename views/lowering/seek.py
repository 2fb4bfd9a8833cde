"""Seeks: rows of constant values are read from an arrangement of their table, where there is one.

The table is joined with a row for each combination of the constants: a view, a recursion or a query
that begins at `src = 42` or `src IN (42, 43)` reads these rows and not the table.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import permutations, product
from math import prod

import pyarrow as pa

from ivm.dataflow import nodes as df
from ivm.dataflow.arrangement_order import arranged_positions
from ivm.dataflow.expressions import Call, Column, Expression, Literal, Value
from views.lowering.access import arrangement_name
from views.lowering.lowered import Lowered
from views.plan.scalars import disjuncts

_MOST_COLUMNS = 4
"""Of more columns with constants, the first are tried."""
_MOST_ROWS = 100
"""Combinations of constants that are sought."""

Constants = tuple[Value, ...]


def sought(
    lowered: Lowered, conditions: Sequence[Expression], existing: Collection[str]
) -> Lowered:
    """Keeps the rows that satisfy all of `conditions`, over numbers."""
    if not isinstance(lowered.node, df.Get):
        return lowered.filtered(conditions)
    constants: dict[int, tuple[Constants, Expression]] = {}
    for condition in conditions:
        if (found := _constants(condition)) is not None:
            column, values = found
            constants.setdefault(lowered.positions[column.index], (values, condition))
    key = _arranged(lowered.node, [*constants][:_MOST_COLUMNS], existing)
    if key is None or prod(len(constants[p][0]) for p in key) > _MOST_ROWS:
        return lowered.filtered(conditions)
    done = [constants[position][1] for position in key]
    found_rows = _joined(lowered, key, {p: values for p, (values, _) in constants.items()})
    return found_rows.filtered([c for c in conditions if c not in done])


def _constants(condition: Expression) -> tuple[Column, Constants] | None:
    """The column that `condition` holds equal to one of some constants, and these."""
    columns, values = set[Column](), dict[Value, None]()
    for part in disjuncts(condition):
        match part:
            case (
                Call(function="eq", arguments=(Column() as column, Literal() as literal))
                | Call(function="eq", arguments=(Literal() as literal, Column() as column))
            ) if _is_sought(column.type, literal):
                assert literal.value is not None
                columns.add(column)
                values[literal.value] = None
            case _:
                return None
    return (columns.pop(), tuple(values)) if len(columns) == 1 else None


def _is_sought(kind: pa.DataType, literal: Literal) -> bool:
    """Whether a constant is of a type of which equal values are one value."""
    is_text = pa.types.is_string(kind) or pa.types.is_binary(kind)
    is_number = pa.types.is_integer(kind) or pa.types.is_decimal(kind) or pa.types.is_boolean(kind)
    is_moment = pa.types.is_date(kind) or pa.types.is_timestamp(kind)
    exact = is_text or is_number or is_moment
    return exact and literal.type == kind and literal.value is not None


def _arranged(
    table: df.Get, positions: Sequence[int], existing: Collection[str]
) -> tuple[int, ...] | None:
    """The longest key of constants that the table is arranged by."""
    for width in range(len(positions), 0, -1):
        for key in permutations(positions, width):
            if arrangement_name(table, key) in existing:
                return key
    return None


def _joined(lowered: Lowered, key: tuple[int, ...], constants: Mapping[int, Constants]) -> Lowered:
    """The table joined by `key` with the rows of its constants."""
    table = lowered.node
    fields = [table.schema.field(position) for position in key]
    rows = tuple(product(*(constants[p] for p in key)))
    wanted = df.Constant(rows, pa.schema(fields))
    arrange = df.Arrange(table, key)
    outputs = tuple((field.name, i) for i, field in enumerate(arrange.schema))
    to = arranged_positions(len(table.schema), key)
    node = df.Join(df.Arrange(wanted, tuple(range(len(key)))), arrange, outputs)
    return Lowered(node, {n: to[p] for n, p in lowered.positions.items()})
