"""Interval spans: normalises intervals where equal ones must be one value.

PostgreSQL's `1 month` equals `30 days`. Comparisons say so themselves; grouping, DISTINCT and the
like ask the engine for equal rows, and so get intervals in normal form. A group of equal intervals
thus shows that form, where PostgreSQL shows any of them.
"""

from collections.abc import Collection
from dataclasses import replace
from typing import assert_never

from ivm.dataflow.expressions import Call, Column, Expression
from ivm.values.types import INTERVAL
from views.plan.nodes import (
    Apply,
    Attribute,
    Constant,
    Distinct,
    Except,
    Filter,
    Get,
    Iterate,
    Join,
    Map,
    Plan,
    Recursive,
    Reduce,
    TemporalFilter,
    TopK,
    Union,
    Unnest,
    Window,
)
from views.plan.trees import Numbers, bottom_up, numbers_of
from views.rewrites.context import Context


def normalise_spans(plan: Plan, context: Context) -> Plan:
    """Puts intervals in normal form wherever rows of `plan` are compared as a whole."""
    return bottom_up(plan, lambda each: _normalised(each, context.numbers))


def _normalised(plan: Plan, numbers: Numbers) -> Plan:
    match plan:
        case Reduce():
            read = {k.number for k in plan.keys}
            same = (c for c in plan.calls if c.distinct or c.function == "mode")
            read |= {column.index for call in same for column in call.reads()}
            return replace(plan, input=_normal(plan.input, read))
        case Distinct():
            return replace(plan, input=_normal(plan.input, numbers_of(plan.input)))
        case Except():
            left, right = (_normal(i, numbers_of(i)) for i in plan.inputs)
            return replace(plan, inputs=(left, right))
        case Iterate():
            bodies = ((n, _normal(b, numbers_of(b))) for n, b in plan.bindings)
            return replace(plan, bindings=tuple(bodies))
        case TopK() | Window():
            return _keyed(plan, numbers)
        case Get() | Constant() | Filter() | TemporalFilter() | Map() | Join() | Apply():
            return plan
        case Union() | Unnest() | Recursive():
            return plan
        case _:
            assert_never(plan)


def _form(value: Column) -> Expression:
    return Call("interval_normal", (value,), INTERVAL, value.nullable)


def _normal(plan: Plan, columns: Collection[int]) -> Plan:
    """`plan` with the intervals among `columns` in normal form."""
    found = {a.number for a in plan.attributes if a.type == INTERVAL and a.number in columns}
    if not found:
        return plan
    outputs = ((a, _form(a.column) if a.number in found else a.column) for a in plan.attributes)
    return Map(plan, tuple(outputs))


def _keyed(plan: TopK | Window, numbers: Numbers) -> Plan:
    """Groups `plan` by the normal forms of its keys, and orders by them, as further columns."""
    compared = dict.fromkeys((*plan.keys, *(o.column for o in plan.order)))
    made: dict[int, Attribute] = {
        k.index: numbers.fresh("span", k) for k in compared if k.type == INTERVAL
    }
    if not made:
        return plan
    kept = tuple((a, a.column) for a in plan.input.attributes)
    forms = tuple((made[k.index], _form(k)) for k in compared if k.index in made)

    def form(column: Column) -> Column:
        return made[column.index].column if column.index in made else column

    keys = tuple(map(form, plan.keys))
    order = tuple(replace(o, column=form(o.column)) for o in plan.order)
    below = replace(plan, input=Map(plan.input, kept + forms), keys=keys, order=order)
    return Map(below, tuple((a, a.column) for a in plan.attributes))
