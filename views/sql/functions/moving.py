"""Moments moved by intervals, and intervals negated."""

from ivm.constants import computed
from ivm.dataflow.expressions import Expression, Literal
from ivm.values.types import INTERVAL
from views.plan.scalars import call
from views.sql.base.coercion import BIGINT, DATE, TIMESTAMP, cast

_DAY_MICROS = 86_400_000_000
_MOST_MICROS = 2**63 - 1  # of an interval, an int64


def shifted(moment: Expression, by: Expression) -> Expression:
    """Moves `moment` by an interval: months first, then days, then the rest. It is a timestamp."""
    value = cast(moment, TIMESTAMP) if moment.type == DATE else moment
    if not isinstance(by, Literal) or not isinstance(by.value, tuple):
        return call("add_interval", value, by, result=value.type)
    months, days, nanos = by.value
    micros = days * _DAY_MICROS + nanos // 1000
    if abs(micros) > _MOST_MICROS:
        return call("add_interval", value, by, result=value.type)
    if months:
        value = call("add_months", value, Literal(months, BIGINT), result=value.type)
    if micros:
        value = call("add_micros", value, Literal(micros, BIGINT), result=value.type)
    return value


def negated(value: Expression) -> Expression:
    """Binds `- interval`."""
    negative = call("interval_negate", value, result=INTERVAL)
    return computed(negative) if isinstance(value, Literal) else negative
