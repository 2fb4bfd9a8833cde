"""Planning of rows on one side of a bound: a comparison of all rows with the one row of a sum.

In a dataflow this is a join without a key, a filter that compares a column of each side, and a
projection to columns of one side. Where the other side has one row, a change of it concerns the
rows between its old value and its new one, and no pair is made.
"""

from dataclasses import dataclass

import pyarrow as pa

from ivm.dataflow.arrangement_order import arrangement_order
from ivm.dataflow.expressions import Call, Column
from ivm.dataflow.nodes import Arrange, Exchange, Filter, Join, Map, Node, Reduce
from ivm.operators.joins.bounded_rows import BoundedRows as BoundedRowsOperator
from ivm.physical.build import Every, TracePlan
from ivm.physical.operation import Names, Operation
from ivm.physical.operations import KeyOrder
from ivm.physical.scopes import Planned
from ivm.planner.planning import Planning
from ivm.rows.format import followed_by, row_format, string_words
from ivm.rows.packing import Packing

_TURNED = {"gt": "lt", "ge": "le", "lt": "gt", "le": "ge"}
"""Comparisons, and those of the sides in the other order."""

_SIGNS = {"gt": ">", "ge": ">=", "lt": "<", "le": "<="}


@dataclass(frozen=True)
class BoundedRows(Operation, makes=BoundedRowsOperator, puts_out_what_it_reads=False):
    """The rows of a trace by a value whose `comparison` with a bound holds."""

    trace: TracePlan
    by: KeyOrder
    bounds: Planned
    comparison: str
    packing: Packing

    @property
    def arguments(self) -> tuple[object, ...]:
        above, equal = self.comparison in ("gt", "ge"), self.comparison in ("ge", "le")
        return (self.trace, Every(self.bounds.stage), above, equal, self.packing)

    def text(self, names: Names) -> str:
        return f"{names(self.trace)} {self.by} {_SIGNS[self.comparison]} {self.bounds}"


@dataclass(frozen=True)
class _Compared:
    """`column` of `rows` is compared with `bound` of the `one` row; `outputs` are of `rows`."""

    rows: Node
    column: int
    one: Node
    bound: int
    comparison: str
    outputs: list[int]


def plan_bounded_rows(planning: Planning, node: Map) -> Planned | None:
    """The rows of a side of a join on one side of the other's one value; None if it is no such."""
    found = _compared(node) if planning.scope.parent is None else None
    if found is None:
        return None
    fields = list(found.rows.schema)
    others = [i for i in dict.fromkeys(found.outputs) if i != found.column]
    key, val = row_format([fields[found.column]]), row_format([fields[i] for i in others])
    together, taken = followed_by(key, val), [found.column, *others]
    strings = string_words([fields[i].type for i in taken], together)
    by = KeyOrder((found.column,))
    trace = planning.sealed(planning.moved(found.rows, taken, together), by, key.words, strings)
    bounds = planning.moved(found.one, [found.bound], key)
    form = row_format(node.schema)
    places = [(0, 0) if i == found.column else (1, others.index(i)) for i in found.outputs]
    packing = Packing((key, val), places, form)
    return planning.stage(form, BoundedRows(trace, by, bounds, found.comparison, packing))


def _compared(node: Map) -> _Compared | None:
    """Recognise the projection of a comparison of two sides without a key, one of one row."""
    picks = [e.index for _, e in node.outputs if isinstance(e, Column)]
    if len(picks) < len(node.outputs) or not picks or not isinstance(node.input, Filter):
        return None
    predicate, join = node.input.predicate, node.input.input
    if not isinstance(join, Join) or join.left.is_keyed:
        return None
    if not isinstance(predicate, Call) or predicate.function not in _TURNED:
        return None
    sides = [a for a in predicate.arguments if isinstance(a, Column) and _is_in_order(a)]
    if len(sides) < 2 or sides[0].type != sides[1].type:
        return None
    lefts, keys = len(join.left.schema), len(join.left.key)
    places = [join.outputs[i][1] for i in (*picks, *(a.index for a in sides))]
    of_left = [place < lefts for place in places]
    if len(set(of_left[:-1])) == 1 and of_left[-1] != of_left[-2]:
        rows, bound, comparison = -2, -1, predicate.function
    elif len({*of_left[:-2], of_left[-1]}) == 1 and of_left[-1] != of_left[-2]:
        rows, bound, comparison = -1, -2, _TURNED[predicate.function]
    else:
        return None
    own, other = (join.left, join.right) if of_left[rows] else (join.right, join.left)
    if not _has_one_row(other.input):
        return None
    columns = [
        _column(join.left, place) if left else _column(join.right, place - lefts + keys)
        for place, left in zip(places, of_left, strict=True)
    ]
    return _Compared(
        own.input, columns[rows], other.input, columns[bound], comparison, columns[:-2]
    )


def _is_in_order(column: Column) -> bool:
    """Whether values compare as their words do, and none is NULL."""
    kind = column.type
    numbers = pa.types.is_signed_integer(kind) or pa.types.is_decimal128(kind)
    return not column.nullable and (
        numbers or pa.types.is_date32(kind) or pa.types.is_timestamp(kind)
    )


def _has_one_row(node: Node) -> bool:
    """Whether a collection has one row at most by its form: an aggregate of all rows."""
    while isinstance(node, Map | Filter | Exchange):
        node = node.input
    return isinstance(node, Reduce) and not node.key


def _column(side: Arrange, place: int) -> int:
    """The column of what is arranged at a place of the arrangement."""
    return arrangement_order(len(side.schema), side.key)[place]
