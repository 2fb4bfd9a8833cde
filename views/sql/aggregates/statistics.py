"""Binds variances, standard deviations, correlations and regressions.

All come of sums of products of deviations, which the engine computes exactly and rounds once, so
that no digits cancel and the order in which rows come and go does not matter. They are double
precision, of exact numbers too, where PostgreSQL has numeric: 17 digits of any magnitude.
"""

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from ivm.dataflow.expressions import Call, Expression, Literal
from views.plan.scalars import predicate, test
from views.sql.aggregates.occurrence import AggregateHandler, Occurrence, only_where
from views.sql.base.binder import name
from views.sql.base.coercion import BIGINT, DOUBLE, Bound, cast, is_number, promoted
from views.sql.base.computations import Computation

_ZERO, _ONE = Literal(0.0, DOUBLE), Literal(1.0, DOUBLE)
_POPULATION = (exp.VariancePop, exp.StddevPop)
_DEVIATIONS = (exp.Stddev, exp.StddevPop, exp.StddevSamp)


def spread(o: Occurrence, node: exp.Func) -> Bound:
    """Binds `var_pop`, `var_samp` and their roots, of any number."""
    argument = o.argument(node.this)
    o.ordering(argument.order)
    value = _number(o, argument.node)
    exact = not pa.types.is_floating(value.type)
    value = o.counted(cast(value, promoted(value.type) if exact else DOUBLE))
    moment = o.compute(Computation("comoment", value, argument.distinct), DOUBLE)
    count = o.compute(Computation("count", value, argument.distinct), BIGINT)
    variance = _mean(moment, count, 0 if isinstance(node, _POPULATION) else 1)
    return _root(variance) if isinstance(node, _DEVIATIONS) else variance


def _number(o: Occurrence, node: exp.Expr) -> Expression:
    value = o.binder.value(node, DOUBLE)
    if not is_number(value.type):
        raise o.binder.mismatch(f"a number is needed here, not {name(value)}", node)
    return value


@dataclass(frozen=True, slots=True)
class Pairs:
    """Computes over the rows in which neither of two numbers is NULL."""

    occurrence: Occurrence
    y: Expression
    x: Expression

    @property
    def count(self) -> Expression:
        return self.occurrence.compute(Computation("count", self.y), BIGINT)

    def mean(self, value: Expression) -> Expression:
        """Computes the average of `x` or `y`."""
        return self.occurrence.compute(Computation("avg", value), DOUBLE)

    def moment(self, one: Expression, other: Expression) -> Expression:
        """Computes the sum of products of deviations of `x` or `y`, each with one of them."""
        second = None if one == other else other
        return self.occurrence.compute(Computation("comoment", one, other=second), DOUBLE)


def _paired(result: Callable[[Pairs], Expression]) -> AggregateHandler:
    """A function of (y, x), both double precision."""

    def bind(o: Occurrence, node: exp.Func) -> Bound:
        if node.expression is None:
            raise o.binder.mismatch("two numbers are needed here", node)
        if isinstance(node.this, exp.Distinct):
            raise o.unsupported("DISTINCT of several columns in an aggregate")
        argument = o.argument(node.expression)
        o.ordering(argument.order)
        y = o.counted(cast(_number(o, node.this), DOUBLE))
        x = cast(_number(o, argument.node), DOUBLE)
        if y.nullable:
            x = only_where(test("is_not_null", y), x)
        if x.nullable:
            y = only_where(test("is_not_null", x), y)
        return result(Pairs(o, y, x))

    return AggregateHandler(bind, ("this", "expression"))


def _mean(moment: Expression, count: Expression, less: int) -> Expression:
    """`moment / (count - less)`, NULL where there are not more rows than `less`."""
    rows: Expression = cast(count, DOUBLE)
    if less:
        rows = Call("subtract", (rows, Literal(float(less), DOUBLE)), DOUBLE, False)
    enough = predicate("gt", count, Literal(less, BIGINT))
    return only_where(enough, _over(moment, rows))


def _over(one: Expression, other: Expression) -> Expression:
    return Call("divide", (one, other), DOUBLE, True)


def _times(one: Expression, other: Expression) -> Expression:
    return Call("multiply", (one, other), DOUBLE, True)


def _root(value: Expression) -> Expression:
    return Call("sqrt", (value,), DOUBLE, True)


def _varies(value: Expression) -> Expression:
    return predicate("ne", value, _ZERO)


def _correlation(p: Pairs) -> Expression:
    xx, yy = p.moment(p.x, p.x), p.moment(p.y, p.y)
    both = predicate("and", _varies(xx), _varies(yy))
    return only_where(both, _over(p.moment(p.x, p.y), _times(_root(xx), _root(yy))))


def _slope(p: Pairs) -> Expression:
    xx = p.moment(p.x, p.x)
    return only_where(_varies(xx), _over(p.moment(p.x, p.y), xx))


def _intercept(p: Pairs) -> Expression:
    rise = _times(_slope(p), p.mean(p.x))
    return Call("subtract", (p.mean(p.y), rise), DOUBLE, True)


def _determination(p: Pairs) -> Expression:
    xx, yy, xy = p.moment(p.x, p.x), p.moment(p.y, p.y), p.moment(p.x, p.y)
    share = _over(_times(_over(xy, xx), xy), yy)
    fitted = Call("case", (_varies(yy), share, _ONE), DOUBLE, True)
    return only_where(_varies(xx), fitted)


_ONE_NUMBER = AggregateHandler(spread, ("this",))
AGGREGATES: dict[type[exp.Expr] | str, AggregateHandler] = {
    exp.Stddev: _ONE_NUMBER,
    exp.StddevPop: _ONE_NUMBER,
    exp.StddevSamp: _ONE_NUMBER,
    exp.Variance: _ONE_NUMBER,
    exp.VariancePop: _ONE_NUMBER,
    exp.Corr: _paired(_correlation),
    exp.CovarPop: _paired(lambda p: _mean(p.moment(p.x, p.y), p.count, 0)),
    exp.CovarSamp: _paired(lambda p: _mean(p.moment(p.x, p.y), p.count, 1)),
    exp.RegrAvgx: _paired(lambda p: p.mean(p.x)),
    exp.RegrAvgy: _paired(lambda p: p.mean(p.y)),
    exp.RegrCount: _paired(lambda p: p.count),
    exp.RegrIntercept: _paired(_intercept),
    exp.RegrR2: _paired(_determination),
    exp.RegrSlope: _paired(_slope),
    exp.RegrSxx: _paired(lambda p: p.moment(p.x, p.x)),
    exp.RegrSxy: _paired(lambda p: p.moment(p.x, p.y)),
    exp.RegrSyy: _paired(lambda p: p.moment(p.y, p.y)),
}
