"""Functions of intervals, and those of moments that give or take one."""

import math
from collections.abc import Callable
from decimal import Decimal
from functools import reduce

from ivm.dataflow.expressions import Call
from ivm.expressions.python.script import Script, constant
from ivm.values.calendar import SECOND
from ivm.values.interval_text import fitted, qualifier
from ivm.values.intervals import (
    add,
    age,
    divide,
    elapsed,
    justify_days,
    justify_hours,
    justify_interval,
    moved,
    moved_clock,
    multiply,
    negate,
    normal,
    span,
    trunc_division,
)
from ivm.values.types import Interval


def fit_interval(call: Call) -> Callable[[Interval], Interval]:
    """Make the function that keeps the fields of an interval that a constant names."""
    kept = qualifier(str(constant(call, 1)))
    return lambda value: fitted(value, kept)


def part(call: Call) -> Callable[[Interval], int]:
    """Make the function that gives the months, the days or the microseconds of an interval."""
    at = Interval._fields.index(str(constant(call, 0)))
    return lambda value: value[at]


def percentile(values: list[Interval], fraction: float) -> Interval:
    """Give the interval at a fraction of the ordered `values`, between two of them if need be."""
    at = fraction * (len(values) - 1)
    low, high = values[math.floor(at)], values[math.ceil(at)]
    return add(low, multiply(add(high, negate(low)), at - math.floor(at)))


def _distinct(values: list[Interval]) -> list[Interval]:
    """Give the intervals of ordered `values` of which none is as long as the one before."""
    return [value for i, value in enumerate(values) if not i or span(value) != span(values[i - 1])]


def sum_of_distinct(values: list[Interval]) -> Interval:
    """Add up ordered `values`, of those that are equally long the first."""
    return reduce(add, _distinct(values))


def average_of_distinct(values: list[Interval]) -> Interval:
    """Divide that sum by how many there are."""
    return divide(sum_of_distinct(values), len(_distinct(values)))


def zone_offset(value: Interval) -> Interval:
    """Give an interval in whole seconds, which may be a zone's offset (raises ValueError)."""
    if value.months or value.days:
        raise ValueError(value)
    seconds, _ = trunc_division(value.micros, SECOND)
    return Interval(0, 0, seconds * SECOND)


SCRIPTS: dict[str, Script] = {
    "fit_interval": Script(fit_interval, ("interval", "text"), made=True, constants=(1,)),
    "interval_part": Script(part, ("text", "interval"), made=True, constants=(0,)),
    "interval_average": Script(average_of_distinct, ("list",)),
    "interval_percentile": Script(percentile, ("list", "float")),
    "interval_sum": Script(sum_of_distinct, ("list",)),
    "zone_offset": Script(zone_offset, ("interval",)),
    "interval_span": Script(lambda value: Decimal(span(value)), ("interval",)),
    "interval_normal": Script(normal, ("interval",)),
    "interval_add": Script(add, ("interval", "interval")),
    "interval_negate": Script(negate, ("interval",)),
    "interval_multiply": Script(multiply, ("interval", "float")),
    "interval_divide": Script(divide, ("interval", "float")),
    "justify_hours": Script(justify_hours, ("interval",)),
    "justify_days": Script(justify_days, ("interval",)),
    "justify_interval": Script(justify_interval, ("interval",)),
    "elapsed": Script(elapsed, ("timestamp", "timestamp")),
    "clock_difference": Script(lambda a, b: Interval(0, 0, a - b), ("time", "time")),
    "add_interval": Script(moved, ("timestamp", "interval")),
    "add_interval_to_time": Script(moved_clock, ("time", "interval")),
    "age": Script(age, ("timestamp", "timestamp")),
    "make_interval": Script(Interval, ("signed", "signed", "signed")),
}
