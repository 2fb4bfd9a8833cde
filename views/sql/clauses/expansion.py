"""Expands set-returning functions outside FROM: each row becomes the rows of their elements.

All calls of a query go in lockstep, as the functions of one ROWS FROM; a call whose arguments hold
others is expanded after them: `generate_series(1, unnest(a)), unnest(b)` expands `a` and `b`
together, then the series for each of the rows found. Subqueries are joined as soon as all that they
read is there.
"""

from collections.abc import Collection, Sequence

from views.plan.nodes import Plan, SortKey, Unnest
from views.plan.scalars import columns_of
from views.sql.base.coercion import BIGINT
from views.sql.base.computations import Pending, SetCall
from views.sql.base.scope import Session


def attach_ready(
    plan: Plan, pending: Sequence[Pending], missing: Collection[int]
) -> tuple[Plan, list[Pending]]:
    """Joins `plan` with the subqueries that depend on no column `missing`; lists the others."""
    unknown, waiting = set(missing), list[Pending]()
    for subquery in pending:
        if unknown.isdisjoint(subquery.reads):
            plan = subquery.attach(plan)
        else:
            unknown |= subquery.numbers
            waiting.append(subquery)
    return plan, waiting


def expand(
    session: Session, plan: Plan, calls: Sequence[SetCall], pending: Sequence[Pending]
) -> tuple[Plan, tuple[SortKey, ...]]:
    """Expands `plan` by all `calls`, joined with the subqueries; gives the order of the rows."""
    order: list[SortKey] = []
    while calls:
        made = {call.element.number for call in calls}
        plan, pending = attach_ready(plan, pending, made)
        unknown = made.union(*(subquery.numbers for subquery in pending))
        ready = [call for call in calls if unknown.isdisjoint(columns_of(call.array))]
        calls = [call for call in calls if call not in ready]
        position = session.numbers.new("ordinality", BIGINT, False)
        arrays, elements = tuple(c.array for c in ready), tuple(c.element for c in ready)
        plan = Unnest(plan, arrays, elements, position)
        order.append(SortKey(position.column, False, False))
    plan, _ = attach_ready(plan, pending, ())
    return plan, tuple(order)


def read_by(
    numbers: Collection[int], pending: Sequence[Pending], calls: Sequence[SetCall]
) -> tuple[list[Pending], list[SetCall]]:
    """Finds the subqueries and calls that make columns `numbers`, or what these depend on."""
    read = set(numbers)
    while True:
        subqueries = [p for p in pending if p.numbers & read]
        sets = [c for c in calls if c.element.number in read]
        wider = read.union(*(p.reads for p in subqueries), *(columns_of(c.array) for c in sets))
        if wider == read:
            return subqueries, sets
        read = wider
