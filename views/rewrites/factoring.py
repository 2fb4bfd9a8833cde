"""Factoring: moves a condition that every alternative of an OR has before the OR.

`(a AND b) OR (a AND c)` is `a AND (b OR c)`, in three-valued logic too. The common condition may be
an equality that joins, or a condition on one input.
"""

from dataclasses import replace

from ivm.dataflow.expressions import Expression
from views.plan.nodes import Apply, Filter, Join, Plan
from views.plan.scalars import TRUE, conjunction, conjuncts, disjunction, disjuncts
from views.plan.trees import bottom_up
from views.rewrites.context import Context


def factor_conditions(plan: Plan, context: Context) -> Plan:
    """Takes common conditions out of the disjunctions of filters and joins of `plan`."""
    return bottom_up(plan, _factor)


def _factor(plan: Plan) -> Plan:
    if not isinstance(plan, Filter | Join | Apply):
        return plan
    predicate = conjunction(_factored(c) for c in conjuncts(plan.predicate))
    return plan if predicate == plan.predicate else replace(plan, predicate=predicate)


def _factored(condition: Expression) -> Expression:
    alternatives = [conjuncts(a) for a in disjuncts(condition)]
    common = [c for c in alternatives[0] if all(c in other for other in alternatives[1:])]
    if len(alternatives) == 1 or not common:
        return condition
    rest = [conjunction(c for c in parts if c not in common) for parts in alternatives]
    if TRUE in rest:
        return conjunction(common)
    return conjunction([*common, disjunction(rest)])
