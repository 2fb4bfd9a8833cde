"""Binds sums, averages and percentiles of intervals, which are those of their three parts."""

import pyarrow as pa
from sqlglot import exp

from ivm.dataflow.expressions import Expression, Literal
from ivm.values.types import INTERVAL
from views.plan.scalars import call, conjunction, test
from views.sql.aggregates.occurrence import Occurrence
from views.sql.base.coercion import BIGINT, DIGITS, DOUBLE, INT, TEXT, Bound, cast
from views.sql.base.computations import Computation, Ordering

_PARTS = (("months", INT), ("days", INT), ("micros", BIGINT))


def total(o: Occurrence, node: exp.Func, value: Expression, distinct: bool) -> Bound:
    """Binds `sum(interval)` and `avg(interval)`."""
    if distinct:
        return _of_distinct(o, node, value)
    counted = o.counted(cast(value, INTERVAL))
    sums = [_sum(o, counted, part, kind) for part, kind in _PARTS]
    whole = call("make_interval", *sums, result=INTERVAL)
    if not isinstance(node, exp.Avg):
        return whole
    count = o.compute(Computation("count", counted), BIGINT)
    return call("interval_divide", whole, cast(count, DOUBLE), result=INTERVAL)


def _of_distinct(o: Occurrence, node: exp.Func, value: Expression) -> Bound:
    """The sum or average of intervals of which no two are equally long."""
    order = (Ordering(value, False, False),)
    where = _there(o, value)
    values = o.compute(Computation("list", value, order=order, where=where), pa.list_(INTERVAL))
    function = "interval_average" if isinstance(node, exp.Avg) else "interval_sum"
    return call(function, values, result=INTERVAL)


def _there(o: Occurrence, value: Expression) -> Expression:
    """The condition that a row counts, and has a value."""
    there = test("is_not_null", value)
    return there if o.condition is None else conjunction([o.condition, there])


def _sum(o: Occurrence, value: Expression, part: str, kind: pa.DataType) -> Expression:
    given = call("interval_part", Literal(part, TEXT), value, result=kind)
    result = BIGINT if kind == INT else pa.decimal128(DIGITS, 0)
    return cast(o.compute(Computation("sum", given), result), BIGINT)


def percentile(o: Occurrence, value: Expression, descending: bool, fraction: float) -> Expression:
    """Binds `percentile_cont(fraction)` of intervals: between two of them, part by part."""
    where = _there(o, value)
    order = (Ordering(value, descending, False),)
    values = o.compute(Computation("list", value, order=order, where=where), pa.list_(INTERVAL))
    return call("interval_percentile", values, Literal(fraction, DOUBLE), result=INTERVAL)
