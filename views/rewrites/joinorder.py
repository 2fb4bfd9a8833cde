"""Join order: inner joins follow the equalities, so that a comma in FROM is no cross product.

Within a group of inner joins the first input stays first; then comes, each time, the earliest
input that an equality connects to those before it. Nothing is estimated: the order of FROM is
kept wherever it is already connected.
"""

from ivm.expressions import Call, Expression
from views.plan.nodes import Join, Plan
from views.plan.scalars import columns_of, conjunction
from views.plan.trees import Numbers, inner_members, inputs, numbers_of, with_inputs


def order_joins(plan: Plan, numbers: Numbers) -> Plan:
    """`plan` with connected inner joins."""
    if not (isinstance(plan, Join) and plan.kind == "inner"):
        return with_inputs(plan, tuple(order_joins(i, numbers) for i in inputs(plan)))
    members, conditions = inner_members(plan)
    return _chain([order_joins(m, numbers) for m in members], conditions)


def _chain(members: list[Plan], conditions: list[Expression]) -> Plan:
    plan, *rest = members
    while rest:
        joined = numbers_of(plan)
        following = next((m for m in rest if _connects(conditions, joined, m)), rest[0])
        rest.remove(following)
        visible = joined | numbers_of(following)
        later = frozenset(n for member in rest for n in numbers_of(member))
        ready = [c for c in conditions if _is_local(c, visible, later)]
        conditions = [c for c in conditions if c not in ready]
        plan = Join("inner", plan, following, conjunction(ready))
    return plan


def _connects(conditions: list[Expression], joined: frozenset[int], member: Plan) -> bool:
    own = numbers_of(member)
    for condition in conditions:
        if isinstance(condition, Call) and condition.function in ("eq", "is_not_distinct"):
            one, other = (columns_of(a) for a in condition.arguments)
            for x, y in ((one, other), (other, one)):
                if x and y and x <= joined and y <= own:
                    return True
    return False


def _is_local(condition: Expression, visible: frozenset[int], later: frozenset[int]) -> bool:
    """Whether no later member, with the columns `later`, is needed for `condition`."""
    read = columns_of(condition)
    return not read & later or read <= visible
