"""Partial sums: what processes may add up before rows travel to the owners of their keys.

>>> from ivm.dataflow.nodes import Get
>>> sales = Get("sales", pa.schema([("city", pa.string()), ("pieces", pa.int64())]))
>>> pieces = Aggregate("sum", 1, "pieces", pa.decimal128(38, 0), nullable=True)
>>> least = Aggregate("min", 1, "least", pa.int64(), nullable=True)
>>> summed_columns(Reduce(sales, (0,), (pieces,)))
(1,)
>>> summed_columns(Reduce(sales, (0,), (least,))) is None
True
"""

from dataclasses import replace

import pyarrow as pa

from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.exchange_node import Exchange
from ivm.dataflow.expressions import Column
from ivm.dataflow.nodes import Map, Node, Reduce

MOST_DIGITS = 38
"""Digits of the widest decimal."""


def adds_up(node: Reduce, aggregate: Aggregate) -> bool:
    """Whether an aggregate is the sum of what it is of parts of its rows, to the digit.

    Not where a part could leave a type that the whole would not, nor in floats, whose sums are
    rounded once.
    """
    if aggregate.function == "count":
        return True
    if aggregate.function != "sum" or aggregate.column is None:
        return False
    taken = node.input.schema.field(aggregate.column).type
    if pa.types.is_decimal(aggregate.type):
        return aggregate.type.precision == MOST_DIGITS and not pa.types.is_floating(taken)
    return pa.types.is_int64(aggregate.type) and pa.types.is_integer(taken) and taken.bit_width < 64


def sum_of_parts(node: Reduce) -> Reduce:
    """The reduction of rows that are `node` of parts of its input."""
    first = len(node.key)
    sums = (
        Aggregate("sum", first + i, a.name, a.type, a.nullable)
        for i, a in enumerate(node.aggregates)
    )
    return Reduce(node, tuple(range(first)), tuple(sums))


def summed_columns(node: Reduce) -> tuple[int, ...] | None:
    """The columns of whose values a reduction asks but for the sums, which are exact.

    None where it asks for more than counts, sums and averages.
    """
    if not all(a.function in ("count", "sum", "avg") and a.where is None for a in node.aggregates):
        return None
    asked = {a.column for a in node.aggregates if a.column is not None} - set(node.key)
    return tuple(column for column in sorted(asked) if _is_exact(node.input.schema.types[column]))


def narrowed(node: Reduce) -> Reduce:
    """The same reduction, of the columns alone that it asks for: what else differs is not seen."""
    given = node.input.schema
    asked = {a.column for a in node.aggregates if a.column is not None} | set(node.key)
    if len(asked) == len(given):
        return node
    kept = sorted(asked)
    outputs = (
        (given.field(i).name, Column(i, given.field(i).type, given.field(i).nullable)) for i in kept
    )
    aggregates = (
        a if a.column is None else replace(a, column=kept.index(a.column)) for a in node.aggregates
    )
    return Reduce(
        Map(node.input, tuple(outputs)), tuple(map(kept.index, node.key)), tuple(aggregates)
    )


def combined(node: Node, summed: tuple[int, ...]) -> Node:
    """`node`, whose rows may travel as fewer if it is an exchange: see Exchange."""
    moves = isinstance(node, Exchange) and not node.everywhere
    return replace(node, summed=summed) if moves else node


def _is_exact(type_: pa.DataType) -> bool:
    return pa.types.is_signed_integer(type_) or pa.types.is_decimal(type_)
