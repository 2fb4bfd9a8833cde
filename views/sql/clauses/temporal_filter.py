"""Temporal filters: binds conditions that compare now() with an expression of the row.

Such a condition lets a row in at one moment and out at another, independent of the present: it is
bound to these moments. now() may stand nowhere else, since a view would change at every tick.
"""

from collections.abc import Iterable, Iterator

from sqlglot import exp

from ivm.dataflow.expressions import Call, Expression, Literal
from ivm.values.types import INTERVAL
from views.errors import UnsupportedSql
from views.plan.scalars import call, disjunction, test
from views.sql.base.binder import Binder, Handler
from views.sql.base.coercion import BIGINT, TIMESTAMPTZ, cast, is_temporal
from views.sql.functions.moving import negated, shifted
from views.sql.source.text import QUERIES

# The comparison that says the same with its sides exchanged.
_EXCHANGED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
}
_HINT = (
    "now() other than compared by <, <=, > or >= with an expression of the row, in a condition of "
    "WHERE that AND joins to the others,"
)


def reads_clock(node: exp.Expr) -> bool:
    """Tells whether `node` itself, not a query in it, reads now()."""
    if isinstance(node, exp.CurrentTimestamp):
        return True
    parts = (part for part in node.iter_expressions() if not isinstance(part, QUERIES))
    return any(reads_clock(part) for part in parts)


def conjuncts(condition: exp.Expr) -> Iterator[exp.Expr]:
    """Yields the conditions that AND joins, in their order."""
    match condition:
        case exp.Paren() if reads_clock(condition):
            yield from conjuncts(condition.this)
        case exp.And():
            for part in condition.flatten():
                yield from conjuncts(part)
        case exp.Between() if reads_clock(condition) and not condition.args.get("symmetric"):
            value, low, high = (condition.args[name] for name in ("this", "low", "high"))
            yield exp.GTE(this=value, expression=low)
            yield exp.LTE(this=value, expression=high)
        case _:
            yield condition


def bounds(
    binder: Binder, conditions: Iterable[exp.Expr]
) -> tuple[Expression | None, Expression | None]:
    """Finds the begin and the end of the time in which all `conditions`, over now(), hold."""
    begins: list[Expression] = []
    ends: list[Expression] = []
    for condition in conditions:
        comparison, moment = _moment(binder, condition)
        inclusive = comparison in (exp.GTE, exp.LT)
        moment = moment if inclusive else _moved(moment, 1)
        (begins if comparison in (exp.GT, exp.GTE) else ends).append(moment)
    return _extreme("greatest", begins), _extreme("least", ends)


def _moment(b: Binder, condition: exp.Expr) -> tuple[type[exp.Expr], Expression]:
    """The comparison of now(), as its left side, and the moment that it is compared with."""
    comparison = type(condition)
    if comparison not in _EXCHANGED:
        raise b.session.source.unsupported(_HINT, condition)
    clock, other = condition.this, condition.expression
    if reads_clock(other):
        comparison, clock, other = _EXCHANGED[comparison], other, clock
    if reads_clock(other):
        raise b.session.source.unsupported(_HINT, condition)
    intervals = list(_beside(b, clock))
    moment = b.value(other, TIMESTAMPTZ)
    if not is_temporal(moment.type):
        raise b.mismatch("now() is compared with a timestamp", other)
    moment = cast(moment, TIMESTAMPTZ)
    for interval in intervals:
        moment = shifted(moment, interval)
    return comparison, moment


def _beside(b: Binder, clock: exp.Expr) -> Iterator[Expression]:
    """Yields the intervals to add to both sides of a comparison, so that now() stands alone."""
    match clock:
        case exp.CurrentTimestamp():
            b.session.source.only(clock, ())
        case exp.Paren():
            yield from _beside(b, clock.this)
        case exp.Add():
            now, by = clock.left, clock.right
            if not reads_clock(now):
                now, by = by, now
            yield negated(_interval(b, by))
            yield from _beside(b, now)
        case exp.Sub() if reads_clock(clock.left):
            yield _interval(b, clock.right)
            yield from _beside(b, clock.left)
        case _:
            raise b.session.source.unsupported(_HINT, clock)


def _interval(b: Binder, node: exp.Expr) -> Expression:
    """A constant interval of days and less: by a month no moment can be moved there and back."""
    value = b.value(node, INTERVAL)
    if isinstance(value, Literal) and value.type == INTERVAL and isinstance(value.value, tuple):
        months, _, _ = value.value
        if months == 0:
            return value
    raise b.fault(
        UnsupportedSql,
        "beside now() stands a constant interval of days, hours or less; add any other to the "
        "row's timestamp instead",
        node,
    )


def _moved(moment: Expression, micros: int) -> Expression:
    return call("add_micros", moment, Literal(micros, BIGINT), result=TIMESTAMPTZ)


def _extreme(function: str, moments: list[Expression]) -> Expression | None:
    """The latest beginning or the earliest end; NULL where one is: no condition is true then."""
    if len(moments) < 2:
        return moments[0] if moments else None
    extreme = Call(function, tuple(moments), TIMESTAMPTZ, False)
    nulls = [test("is_null", m) for m in moments if m.nullable]
    if not nulls:
        return extreme
    nothing = Literal(None, TIMESTAMPTZ)
    return Call("case", (disjunction(nulls), nothing, extreme), TIMESTAMPTZ, True)


def _misplaced(b: Binder, node: exp.CurrentTimestamp) -> Expression:
    raise b.session.source.unsupported(_HINT, node)


HANDLERS: dict[type[exp.Expr] | str, Handler] = {exp.CurrentTimestamp: Handler(_misplaced, ())}
