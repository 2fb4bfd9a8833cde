"""Outer join strengthening: makes outer joins inner, or one-sided, where padded rows are dropped.

Some columns are *required* where no row in which all of them are NULL reaches the result: a
condition above is not true of it. A join that pads them with NULL would only make rows to be
dropped.
"""

from collections.abc import Collection
from dataclasses import replace
from typing import assert_never

from ivm.dataflow.expressions import Column
from views.plan.nodes import (
    Apply,
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
    remembered,
)
from views.plan.nulls import Facts, propagates, rejects, singly
from views.plan.scalars import columns_of
from views.plan.trees import inputs, numbers_of, with_inputs
from views.rewrites.context import Context

NOTHING: Facts = frozenset()


def strengthen_joins(plan: Plan, context: Context) -> Plan:
    """Strengthens the joins of `plan` that pad rows which no result needs."""
    return _strengthened(plan)


@remembered
def _strengthened(plan: Plan) -> Plan:
    return _strengthen_by(plan, NOTHING)


def _strengthen(plan: Plan, required: Facts) -> Plan:
    """Strengthens the joins of `plan`, of whose rows the facts `required` are."""
    return _strengthen_by(plan, required) if required else _strengthened(plan)


def _strengthen_by(plan: Plan, required: Facts) -> Plan:
    match plan:
        case Filter():
            return _over(plan, required | rejects(plan.predicate))
        case Map():
            return _over(plan, _read(plan, required))
        case Join():
            return _join(plan, required)
        case Reduce():
            return _over(plan, _within(required, {k.number for k in plan.keys}))
        case TopK() | Window():
            return _over(plan, _within(required, {k.index for k in plan.keys}))
        case Distinct():
            return _over(plan, required)
        case Union():
            branches = (_renamed(required, plan, branch) for branch in plan.inputs)
            return with_inputs(plan, tuple(map(_strengthen, plan.inputs, branches)))
        case Get() | Constant() | Recursive() | TemporalFilter() | Apply():
            return _over(plan, NOTHING)
        case Except() | Unnest() | Iterate():
            return _over(plan, NOTHING)
        case _:
            assert_never(plan)


def _over(plan: Plan, required: Facts) -> Plan:
    """Strengthens the inputs of `plan` by the facts `required`."""
    return with_inputs(plan, tuple(_strengthen(i, required) for i in inputs(plan)))


def _within(required: Facts, columns: Collection[int]) -> Facts:
    """Restricts facts to `columns` alone."""
    return frozenset(fact for fact in required if fact <= frozenset(columns))


def _renamed(required: Facts, plan: Union, branch: Plan) -> Facts:
    pairs = zip(plan.attributes, branch.attributes, strict=True)
    own = {a.number: b.number for a, b in pairs}
    return frozenset(frozenset(own[n] for n in fact) for fact in required)


def _read(plan: Map, required: Facts) -> Facts:
    """Translates facts on outputs to the columns that these are computed from."""
    values = {a.number: e for a, e in plan.outputs}
    known = NOTHING
    for fact in required:
        read = [values[n] for n in fact]
        if len(read) == 1:
            known |= singly(propagates(read[0]))
        elif all(isinstance(e, Column) for e in read):
            known |= {columns_of(*read)}
    return known


def _join(plan: Join, required: Facts) -> Plan:
    left, right = numbers_of(plan.left), numbers_of(plan.right)
    of_left, of_right = _within(required, left), _within(required, right)
    on = rejects(plan.predicate)
    if plan.kind == "full" and of_right and not of_left:
        turned = Join("left", plan.right, plan.left, plan.predicate)
        return Map(_join(turned, required), tuple((a, a.column) for a in plan.attributes))
    if plan.kind == "full" and of_left:
        return _join(replace(plan, kind="left"), required)
    if plan.kind == "left" and of_right:
        return _join(replace(plan, kind="inner"), required)
    match plan.kind:
        case "inner":
            sides = of_left | _within(on, left), of_right | _within(on, right)
        case "semi":
            sides = of_left | _within(on, left), _within(on, right)
        case "full":
            sides = NOTHING, NOTHING
        case _:
            sides = of_left, _within(on, right)
    return with_inputs(plan, (_strengthen(plan.left, sides[0]), _strengthen(plan.right, sides[1])))
