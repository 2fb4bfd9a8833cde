"""Binds aggregates: the clause that they stand in collects them, its query computes them.

Of integers up to 32 bits a sum is int64; of int64 and decimals it has 38 digits and keeps the
scale; of floats it is one of the same width. An average of exact numbers has the digits that
PostgreSQL gives it, of 20 after the point.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from ivm.dataflow.expressions import Expression
from ivm.values.types import INTERVAL
from views.errors import GroupingError
from views.plan.nodes import AggregateFunction
from views.plan.scalars import columns_of
from views.sql.aggregates import documents, intervals, ordered, statistics
from views.sql.aggregates.occurrence import TRUE_ROW, AggregateHandler, Occurrence, ordering_of
from views.sql.base.binder import Binder, Handler, key_of, name
from views.sql.base.coercion import (
    BIGINT,
    BOOL,
    DIGITS,
    DOUBLE,
    INT,
    TIME,
    Bound,
    Untyped,
    cast,
    is_number,
    is_stored_in_order,
    scale_of,
)
from views.sql.base.coercion import promoted as promoted_type
from views.sql.base.computations import Computation, Ordering
from views.sql.base.digits import average

_MOST_BITS = 31  # keys of grouping(), whose result is an int32


@dataclass(frozen=True, slots=True)
class _Taken:
    """The arguments that an aggregate takes, and the refusal of others with {} for their type."""

    fits: Callable[[pa.DataType], bool]
    refusal: str


_ANY = _Taken(lambda kind: True, "")
_ORDERED = _Taken(
    lambda kind: is_stored_in_order(kind) and not pa.types.is_struct(kind),
    "cannot take the min or max of {}",
)
_NUMBER = _Taken(
    lambda kind: is_number(kind) or kind in (INTERVAL, TIME), "cannot take a sum or average of {}"
)
_INTEGER = _Taken(pa.types.is_integer, "bits are those of an integer, not of {}")
_CONDITION = _Taken(lambda kind: kind == BOOL, "a condition is needed here, not {}")
_FUNCTIONS: dict[type[exp.Expr] | str, tuple[AggregateFunction, _Taken]] = {
    exp.Count: ("count", _ANY),
    exp.Sum: ("sum", _NUMBER),
    exp.Avg: ("avg", _NUMBER),
    exp.Min: ("min", _ORDERED),
    exp.Max: ("max", _ORDERED),
    exp.BitwiseAndAgg: ("bit_and", _INTEGER),
    exp.BitwiseOrAgg: ("bit_or", _INTEGER),
    exp.BitwiseXorAgg: ("bit_xor", _INTEGER),
    exp.LogicalAnd: ("min", _CONDITION),
    exp.LogicalOr: ("max", _CONDITION),
    "every": ("min", _CONDITION),
}
_IDEMPOTENT: frozenset[AggregateFunction] = frozenset(("min", "max", "bit_and", "bit_or"))
"""Aggregates to which copies of a value make no difference."""


def aggregate(b: Binder, node: exp.Expr, only_if: exp.Expr | None = None) -> Bound:
    """Binds an aggregate of this query or one around it, over the rows where `only_if` holds."""
    handler = AGGREGATES[key_of(node)]
    b.session.source.only(node, handler.reads)
    occurrence = Occurrence.of(b, node, only_if)
    bound = handler.bind(occurrence, node)
    assert not isinstance(bound, Untyped)
    b.read |= columns_of(bound)
    occurrence.aggregates().pending.extend(occurrence.binder.pending)
    return bound


def simple(o: Occurrence, node: exp.Func) -> Bound:
    """Binds an aggregate of one argument whose order does not matter, or `count(*)`."""
    function, taken = _FUNCTIONS[key_of(node)]
    value, distinct = _argument(o, node, taken)
    if function == "count" and value is None:
        counted = None if o.condition is None else o.counted(TRUE_ROW)
        return o.compute(Computation("count", counted), BIGINT)
    assert value is not None
    if taken is _NUMBER and not is_number(value.type):
        return intervals.total(o, node, value, distinct)
    counted = o.counted(value)
    if function == "count" and not counted.nullable and not distinct and not o.over_groups:
        return o.compute(Computation("count", None), BIGINT)
    distinct = distinct and function not in _IDEMPOTENT
    return o.compute(Computation(function, counted, distinct), result_type(function, value.type))


def _argument(o: Occurrence, node: exp.Func, taken: _Taken) -> tuple[Expression | None, bool]:
    """Binds the aggregated value (None: rows), and tells whether each value counts once."""
    named = isinstance(node, exp.Anonymous)
    given = node.expressions if named else [node.this, *node.expressions]
    if isinstance(node, exp.Count) and len(given) == 1 and isinstance(given[0], exp.Star):
        return None, False
    if len(given) != 1 or given[0] is None:
        raise o.unsupported("an aggregate of other than one argument")
    argument = o.argument(given[0])
    o.ordering(argument.order)
    value = o.binder.value(argument.node)
    if not taken.fits(value.type):
        raise o.binder.mismatch(taken.refusal.format(name(value)), argument.node)
    if taken is _NUMBER and is_number(value.type):
        value = cast(value, promoted_type(value.type))
    return value, argument.distinct


def result_type(function: AggregateFunction, argument: pa.DataType) -> pa.DataType:
    """Gives the type of an aggregate over values of type `argument`."""
    if function == "count":
        return BIGINT
    if function in _IDEMPOTENT or function == "bit_xor":
        return argument
    if pa.types.is_floating(argument):
        return argument if function == "sum" else DOUBLE
    if function == "avg":
        return average(argument)
    scale = scale_of(argument)
    if pa.types.is_integer(argument) and argument.bit_width <= 32:
        return BIGINT
    return pa.decimal128(DIGITS, scale)


def grouping(b: Binder, node: exp.Grouping) -> Bound:
    """Binds `grouping(keys…)`: a bit for each, the last one lowest, set where it is left out."""
    if b.aggregates is None:
        raise b.fault(GroupingError, f"grouping() cannot stand in {b.clause}", node)
    if b.enclosing is not None:
        raise b.fault(GroupingError, "grouping() is no window function", node)
    inner = b.sibling("an argument of grouping()")
    if not 1 <= len(node.expressions) <= _MOST_BITS:
        raise b.session.source.unsupported(f"grouping() of other than 1 to {_MOST_BITS} keys", node)
    keys = tuple(inner.value(key) for key in node.expressions)
    if keys not in b.aggregates.groupings:
        b.aggregates.groupings[keys] = (b.session.numbers.new("grouping", INT, False), node)
    return b.aggregates.groupings[keys][0].column


def filtered(b: Binder, node: exp.Filter) -> Bound:
    """Binds `aggregate FILTER (WHERE condition)`."""
    if key_of(node.this) not in AGGREGATES:
        raise b.session.source.unsupported("FILTER of anything but an aggregate", node)
    return aggregate(b, node.this, node.expression.this)


def ordering(b: Binder, nodes: Sequence[exp.Ordered]) -> tuple[Ordering, ...]:
    """Binds the sort keys of an ORDER BY, by expressions."""
    return tuple(ordering_of(b, node, b.value(node.this)) for node in nodes)


_WHOLE = ("this", "expressions", "big_int")
AGGREGATES: dict[type[exp.Expr] | str, AggregateHandler] = {
    **{kind: AggregateHandler(simple, _WHOLE) for kind in _FUNCTIONS},
    **ordered.AGGREGATES,
    **statistics.AGGREGATES,
    **documents.AGGREGATES,
}
HANDLERS: dict[type[exp.Expr] | str, Handler] = {
    **{kind: Handler(aggregate, handler.reads) for kind, handler in AGGREGATES.items()},
    exp.Grouping: Handler(grouping, ("expressions",)),
    exp.Filter: Handler(filtered, ("this", "expression")),
}
