"""Semijoin reduction: moves semijoins below the joins that multiply their rows.

A semijoin whose condition reads one input of an inner join moves to that input, where it keeps
fewer rows for everything above. It moves only where equalities decide, since then it is a look-up;
a condition on both rows would be tested for rows that the join drops. Nor does a semijoin move that
may fail, as it would for rows that the join drops. Below a join that keeps its left rows it moves
to the left.
"""

from dataclasses import replace

from views.plan.equalities import equalities
from views.plan.failures import may_fail
from views.plan.nodes import Filter, Join, Map, Plan
from views.plan.scalars import columns_of, substitute
from views.plan.trees import bottom_up, numbers_of
from views.rewrites.context import Context


def reduce_early(plan: Plan, context: Context) -> Plan:
    """Moves the semijoins of `plan` as far down as they go."""
    return bottom_up(plan, lambda p: _sink(p) if _is_lookup(p) else p)


def _is_lookup(plan: Plan) -> bool:
    if not (isinstance(plan, Join) and plan.kind == "semi"):
        return False
    return not equalities(plan).residual and not may_fail(plan.predicate)


def _sink(plan: Plan) -> Plan:
    """Moves the semijoin `plan` below its left input, where its rows are decided there."""
    assert isinstance(plan, Join)
    below = plan.left
    read = columns_of(plan.predicate) & numbers_of(below)
    match below:
        case Map():
            predicate = substitute(plan.predicate, {a.number: e for a, e in below.outputs})
            moved = replace(plan, left=below.input, predicate=predicate)
            return replace(below, input=_sink(moved)) if _is_lookup(moved) else plan
        case Filter():
            return replace(below, input=_sink(replace(plan, left=below.input)))
        case Join() if below.kind != "full" and read and read <= numbers_of(below.left):
            return replace(below, left=_sink(replace(plan, left=below.left)))
        case Join(kind="inner") if read and read <= numbers_of(below.right):
            return replace(below, right=_sink(replace(plan, left=below.right)))
        case _:
            return plan
