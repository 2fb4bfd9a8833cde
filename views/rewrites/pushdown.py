"""Predicate push-down: tests every condition as early as its columns exist.

Conditions over both inputs of an inner join become part of the join, where lowering finds the
equalities; what they imply for one input goes down to it. A condition never moves into the optional
side of an outer join, nor below a window or a top-k other than by their keys, nor, where it may
fail, to groups before they are joined. One on a row whose elements are taken comes before they are:
it may say which rows have any. One on what a recursion passes on comes before the recursion. One on
computed columns is computed from what they are computed from, where that does not make it long:
each of a chain of queries would lengthen it, or double it.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from typing import assert_never

from ivm.dataflow.expressions import Call, Column, Expression
from views.plan.failures import may_fail
from views.plan.implied import implied
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
from views.plan.scalars import columns_of, conjunction, conjuncts, substitute, walk
from views.plan.trees import inputs, numbers_of, with_inputs
from views.rewrites.context import Context
from views.rewrites.recursion import invariant, selected

MOST_PARTS = 40
"""Calls, columns and constants of a condition that goes below what computes its columns."""


def push_filters(plan: Plan, context: Context) -> Plan:
    """Moves the conditions of `plan` as far down as they go."""
    return _pushed(plan)


@remembered
def _pushed(plan: Plan) -> Plan:
    return _push_into(plan, [])


def _push(plan: Plan, conditions: list[Expression]) -> Plan:
    """`plan`'s rows that satisfy all of `conditions`."""
    return _push_into(plan, conditions) if conditions else _pushed(plan)


def _push_into(plan: Plan, conditions: list[Expression]) -> Plan:
    match plan:
        case Filter():
            return _push(plan.input, conditions + conjuncts(plan.predicate))
        case Map():
            return _push_computed(plan, conditions)
        case Join():
            return _push_join(plan, conditions)
        case Union() | Except():
            branches = tuple(_push_branch(plan, b, conditions) for b in plan.inputs)
            return with_inputs(plan, branches)
        case Distinct():
            return Distinct(_push(plan.input, conditions))
        case TemporalFilter():
            return replace(plan, input=_push(plan.input, conditions))
        case Reduce():
            return _push_keyed(plan, conditions, {k.number for k in plan.keys})
        case TopK() | Window():
            return _push_keyed(plan, conditions, {k.index for k in plan.keys})
        case Unnest():
            own = numbers_of(plan.input)
            below = [c for c in conditions if _within(c, own)]
            above = [c for c in conditions if not _within(c, own)]
            return _filtered(replace(plan, input=_push(plan.input, below)), above)
        case Iterate():
            return _push_iterate(plan, conditions)
        case Apply():
            raise AssertionError("decorrelation comes first")
        case Get() | Constant() | Recursive():
            return _filtered(plan, conditions)
        case _:
            assert_never(plan)


def _push_computed(plan: Map, conditions: list[Expression]) -> Plan:
    values = {a.number: e for a, e in plan.outputs}
    computed = {n for n, e in values.items() if isinstance(e, Call)}
    above, below = list[Expression](), list[Expression]()
    for condition in conditions:
        if computed and _is_lengthened(condition, values, computed):
            above.append(condition)
        else:
            below.append(substitute(condition, values))
    return _filtered(replace(plan, input=_push(plan.input, below)), above)


def _is_lengthened(
    condition: Expression, values: Mapping[int, Expression], computed: Set[int]
) -> bool:
    """Whether `condition` on the `computed` among `values` would repeat much of these."""
    parts = list(walk(condition))
    read = [values[p.index] for p in parts if isinstance(p, Column) and p.index in computed]
    return bool(read) and len(parts) + sum(len(list(walk(v))) - 1 for v in read) > MOST_PARTS


def _push_keyed(plan: Reduce | TopK | Window, conditions: list[Expression], keys: set[int]) -> Plan:
    """Conditions on the keys alone drop whole groups, so they may come first."""
    below = [c for c in conditions if keys and columns_of(c) and columns_of(c) <= keys]
    above = [c for c in conditions if c not in below]
    return _filtered(replace(plan, input=_push(plan.input, below)), above)


def _push_iterate(plan: Iterate, conditions: list[Expression]) -> Plan:
    """Conditions on what the recursion passes on come before it."""
    passed = invariant(plan) if conditions else frozenset[int]()
    below = [c for c in conditions if _within(c, passed) and columns_of(c) and not may_fail(c)]
    above = [c for c in conditions if c not in below]
    begun = selected(plan, below) if below else plan
    return _filtered(with_inputs(begun, tuple(map(_pushed, inputs(begun)))), above)


def _push_branch(plan: Union | Except, branch: Plan, conditions: list[Expression]) -> Plan:
    pairs = zip(plan.attributes, branch.attributes, strict=True)
    own: dict[int, Expression] = {a.number: b.column for a, b in pairs}
    return _push(branch, [substitute(c, own) for c in conditions])


def _push_join(plan: Join, conditions: list[Expression]) -> Plan:
    left, right = numbers_of(plan.left), numbers_of(plan.right)
    on = conjuncts(plan.predicate)
    kind = plan.kind
    if kind == "full":
        joined: Plan = replace(plan, left=_push(plan.left, []), right=_push(plan.right, []))
        return _filtered(joined, conditions)
    if kind == "inner":
        on, conditions = on + conditions, []
        on += [c for side in (left, right) for c in implied(on, side) if c not in on]
    to_left = [c for c in conditions if _within(c, left)]
    above = [c for c in conditions if not _within(c, left)]
    if kind in ("inner", "semi"):
        to_left += [c for c in on if _within(c, left)]
        on = [c for c in on if not _within(c, left)]
    to_right = [c for c in on if _within(c, right) and not _is_early(c, plan.right)]
    on = [c for c in on if c not in to_right]
    joined = Join(
        kind, _push(plan.left, to_left), _push(plan.right, to_right), conjunction(on), plan.mark
    )
    return _filtered(joined, above)


def _is_early(condition: Expression, plan: Plan) -> bool:
    """Whether `condition` might fail for a group of `plan` that the join has no use for."""
    while isinstance(plan, Map):
        plan = plan.input
    return isinstance(plan, Reduce) and may_fail(condition)


def _within(condition: Expression, columns: frozenset[int]) -> bool:
    return columns_of(condition) <= columns


def _filtered(plan: Plan, conditions: Iterable[Expression]) -> Plan:
    parts = list(conditions)
    return Filter(plan, conjunction(parts)) if parts else plan
