"""Binds aggregates that take a group's values in order: lists, texts, percentiles, extremes.

`array_agg` and `string_agg` without ORDER BY take the values in the order of the subquery or
function in FROM, or else in ascending order, where PostgreSQL leaves it open. Of rows that tie,
`arg_min` and `arg_max` take the least value; rows where one of their arguments is NULL do not
count. `any_value` is the least. Of values that are equally frequent `mode` is the first one.
"""

from decimal import Decimal

import pyarrow as pa
from sqlglot import exp

from ivm.dataflow.expressions import Call, Expression, Literal
from ivm.values.types import INTERVAL
from views.errors import InvalidLiteral
from views.plan.nodes import AggregateFunction
from views.plan.scalars import call, predicate, test
from views.sql.aggregates import intervals
from views.sql.aggregates.hypothetical import Hypothetical, place
from views.sql.aggregates.occurrence import AggregateHandler, Argument, Occurrence, only_where
from views.sql.base.arrays import array_of
from views.sql.base.binder import name
from views.sql.base.coercion import BIGINT, DOUBLE, TEXT, Bound, cast, is_number, is_stored_in_order
from views.sql.base.computations import Computation, Ordering


def array_agg(o: Occurrence, node: exp.ArrayAgg) -> Bound:
    """Binds `array_agg([DISTINCT] x [ORDER BY …])`: NULL counts, and FILTER leaves rows out."""
    argument = o.argument(node.this)
    value = o.binder.value(argument.node)
    order = _order(o, argument, value)
    computation = Computation("list", value, argument.distinct, order=order, where=o.condition)
    made = o.compute(computation, pa.list_(value.type))
    if not pa.types.is_list(value.type):
        return made
    return call("array_matched", made, result=made.type)


def string_agg(o: Occurrence, node: exp.GroupConcat) -> Bound:
    """Binds `string_agg([DISTINCT] text, constant separator [ORDER BY …])`."""
    argument = o.argument(node.this)
    value = o.counted(o.binder.value(argument.node))
    if value.type != TEXT:
        raise o.binder.mismatch(f"string_agg() takes text, not {name(value)}; cast it", node)
    if node.args.get("separator") is None:
        raise o.binder.mismatch("string_agg() takes a separator as its second argument", node)
    separator = o.binder.value(node.args["separator"])
    if not isinstance(separator, Literal) or separator.type != TEXT:
        raise o.unsupported("a separator of string_agg() that is not a constant text")
    order = _order(o, argument, o.binder.value(argument.node), value)
    computation = Computation(
        "join", value, argument.distinct, order=order, parameter=str(separator.value or "")
    )
    return o.compute(computation, TEXT)


def _order(
    o: Occurrence, argument: Argument, value: Expression, counted: Expression | None = None
) -> tuple[Ordering, ...]:
    """Binds the order given, in which `counted`, if given, stands for `value`."""
    order = o.order_of(argument)
    if argument.distinct:
        o.check_distinct(order, value)
    return tuple(
        Ordering(counted or value, each.descending, each.nulls_first)
        if each.value == value
        else each
        for each in order
    )


def any_value(o: Occurrence, node: exp.AnyValue) -> Bound:
    """Binds `any_value(x)`: some value that is not NULL."""
    value = o.counted(o.binder.value(o.argument(node.this).node))
    return o.compute(Computation("min", value), value.type)


def extreme(o: Occurrence, node: exp.ArgMin | exp.ArgMax) -> Bound:
    """Binds `arg_min(x, y)` and `arg_max(x, y)`: x of the row with the least or greatest y."""
    if node.expression is None:
        raise o.binder.mismatch("arg_min() and arg_max() take two arguments", node)
    value, by = o.binder.value(node.this), o.counted(o.binder.value(node.expression))
    if not is_stored_in_order(by.type):
        raise o.unsupported("an order by jsonb")
    if by.nullable:
        value = only_where(test("is_not_null", by), value)
    if value.nullable:
        by = only_where(test("is_not_null", value), by)
    order = (Ordering(by, isinstance(node, exp.ArgMax), False),)
    return o.compute(Computation("first", value, order=order), value.type)


def within_group(o: Occurrence, node: exp.WithinGroup) -> Bound:
    """Binds `mode()`, `percentile_cont(f)` and `percentile_disc(f)` WITHIN GROUP (ORDER BY x).

    So are the places of rows that are not there: see `hypothetical`.
    """
    order = node.expression
    if isinstance(order, exp.Order) and isinstance(node.this, Hypothetical):
        return place(o, node.this, order.expressions)
    if not isinstance(order, exp.Order) or len(order.expressions) != 1:
        raise o.unsupported("WITHIN GROUP without one expression to order by")
    (by,) = o.ordering(tuple(order.expressions))
    value = o.counted(by.value)
    match node.this:
        case exp.Mode() if node.this.this is None:
            return _ordered(o, "mode", value, by.descending, None)
        case exp.PercentileDisc() | exp.PercentileCont():
            return _percentiles(o, node.this, node.this.this, by)
    raise o.unsupported("WITHIN GROUP of anything but mode(), percentiles, ranks and cume_dist()")


def _percentiles(
    o: Occurrence, node: exp.PercentileCont | exp.PercentileDisc, given: exp.Expr, by: Ordering
) -> Expression:
    """One percentile, or an array of them for an array of fractions; NULL of no rows."""
    if not isinstance(given, exp.Array):
        return _percentile(o, node, given, by)
    kind = DOUBLE if isinstance(node, exp.PercentileCont) and by.value.type != INTERVAL else None
    several = [
        Literal(None, kind or by.value.type)
        if isinstance(each, exp.Null)
        else _percentiles(o, node, each, by)
        for each in given.expressions
    ]
    if not several:
        raise o.unsupported("percentiles of no fractions")
    whole = array_of(several, several[0].type)
    some = o.compute(Computation("count", o.counted(by.value)), BIGINT)
    there = predicate("gt", some, Literal(0, BIGINT))
    return Call("case", (there, whole, Literal(None, whole.type)), whole.type, True)


def _percentile(
    o: Occurrence, node: exp.PercentileCont | exp.PercentileDisc, given: exp.Expr, by: Ordering
) -> Expression:
    value = o.counted(by.value)
    is_continuous = isinstance(node, exp.PercentileCont)
    if is_continuous and value.type != INTERVAL:
        if not is_number(value.type):
            raise o.binder.mismatch(
                f"percentile_cont() takes numbers or intervals, not {name(value)}", node
            )
        value = cast(value, DOUBLE)
    fraction = _fraction(o, given)
    if is_continuous and value.type == INTERVAL:
        return intervals.percentile(o, by.value, by.descending, fraction)
    function: AggregateFunction = "percentile_cont" if is_continuous else "percentile_disc"
    return _ordered(o, function, value, by.descending, fraction)


def _ordered(
    o: Occurrence,
    function: AggregateFunction,
    value: Expression,
    descending: bool,
    fraction: float | None,
) -> Expression:
    order = (Ordering(value, descending, False),)
    return o.compute(Computation(function, value, order=order, parameter=fraction), value.type)


def _fraction(o: Occurrence, node: exp.Expr) -> float:
    given = o.binder.value(node, DOUBLE)
    if not isinstance(given, Literal) or not isinstance(given.value, int | float | Decimal):
        raise o.unsupported("a percentile of a fraction that is not a constant number")
    fraction = float(given.value)
    if not 0 <= fraction <= 1:
        raise o.binder.fault(
            InvalidLiteral, f"the fraction {fraction:g} is not between 0 and 1", node
        )
    return fraction


AGGREGATES: dict[type[exp.Expr] | str, AggregateHandler] = {
    exp.ArrayAgg: AggregateHandler(array_agg, ("this", "nulls_excluded")),
    exp.GroupConcat: AggregateHandler(string_agg, ("this", "separator")),
    exp.AnyValue: AggregateHandler(any_value, ("this",)),
    exp.ArgMin: AggregateHandler(extreme, ("this", "expression")),
    exp.ArgMax: AggregateHandler(extreme, ("this", "expression")),
    exp.WithinGroup: AggregateHandler(within_group, ("this", "expression")),
}
