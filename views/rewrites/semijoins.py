"""Semijoins: replaces marks that a filter requires, and nothing else reads.

`mark` joins come from EXISTS and IN. Where a filter requires the mark, or its negation, and nothing
else reads it, the join becomes `semi` or `anti`.
"""

from dataclasses import replace

from ivm.dataflow.expressions import Call, Column, Expression
from views.plan.nodes import Filter, Join, Map, Plan
from views.plan.scalars import columns_of, conjunction, conjuncts
from views.plan.trees import bottom_up
from views.rewrites.context import Context


def semijoins(plan: Plan, context: Context) -> Plan:
    """Makes `semi` and `anti` joins of the marks that filters require."""
    return bottom_up(plan, lambda p: _require(p) if isinstance(p, Filter) else p)


def _require(plan: Filter) -> Plan:
    below = plan.input
    kept: list[Expression] = []
    parts = conjuncts(plan.predicate)
    for part in parts:
        number, wanted = _mark(part)
        alone = number is not None and sum(number in columns_of(p) for p in parts) == 1
        found = _without(below, number, wanted) if alone and number is not None else None
        if found is None:
            kept.append(part)
        else:
            below = found
    return Filter(below, conjunction(kept)) if kept else below


def _mark(condition: Expression) -> tuple[int | None, bool]:
    """The column that `condition` is, or is the negation of."""
    if isinstance(condition, Call) and condition.function == "not":
        number, wanted = _mark(condition.arguments[0])
        return number, not wanted
    return (condition.index, True) if isinstance(condition, Column) else (None, True)


def _without(plan: Plan, number: int, wanted: bool) -> Plan | None:
    """`plan` with only rows whose mark `number` is `wanted`, and without it, if it is a mark."""
    match plan:
        case Join(kind="mark", mark=mark) if mark is not None and mark.number == number:
            return replace(plan, kind="semi" if wanted else "anti", mark=None)
        case Join() if plan.kind != "full" and number not in columns_of(plan.predicate):
            left = _without(plan.left, number, wanted)
            return None if left is None else replace(plan, left=left)
        case Filter() if number not in columns_of(plan.predicate):
            below = _without(plan.input, number, wanted)
            return None if below is None else replace(plan, input=below)
        case Map():
            outputs = tuple((a, e) for a, e in plan.outputs if a.number != number)
            if number in columns_of(*(e for _, e in outputs)):
                return None
            below = _without(plan.input, number, wanted)
            return None if below is None else Map(below, outputs)
        case _:
            return None
