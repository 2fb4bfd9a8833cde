"""Top-k recognition: turns a filter on `row_number()` or `rank()` into a TopK below the window.

`row_number() over (partition by g order by o) <= k` keeps the rows of a TopK, and `rank()` those of
a TopK with ties. The numbers themselves are computed over the rows that are left, and not at all
where nothing reads them. That goes if no other call over the same window looks at later rows.
"""

from dataclasses import replace
from decimal import Decimal

from ivm.dataflow.expressions import Call, Column, Expression, Literal
from views.plan.nodes import Filter, Plan, TopK, Window, WindowCall
from views.plan.scalars import conjunction, conjuncts
from views.plan.trees import bottom_up
from views.rewrites.context import Context

_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq"}


def recognise_topk(plan: Plan, context: Context) -> Plan:
    """Puts a TopK below every window of `plan` whose row numbers or ranks a filter bounds."""
    return bottom_up(plan, _recognise)


def _recognise(plan: Plan) -> Plan:
    if not (isinstance(plan, Filter) and isinstance(plan.input, Window)):
        return plan
    window, conditions = plan.input, conjuncts(plan.predicate)
    for call in window.calls:
        number, ties = call.attribute.number, call.function == "rank"
        limits = [b for c in conditions if (b := _bound(c, number)) is not None]
        bounds = call.function == "row_number" or (ties and window.order)
        if limits and bounds and all(_looks_back(c, ties) for c in window.calls):
            limit = max(min(limits), 0)
            top = TopK(window.input, window.keys, window.order, limit, ties=ties and limit > 0)
            rest = [c for c in conditions if not _is_implied(c, number, limit)]
            return _filtered(replace(window, input=top), rest)
    return plan


def _filtered(plan: Plan, conditions: list[Expression]) -> Plan:
    return Filter(plan, conjunction(conditions)) if conditions else plan


def _looks_back(call: WindowCall, among_peers: bool) -> bool:
    """Whether the results of the first rows, or of these with all their peers, are the same without
    the rows behind them."""
    if call.function in ("row_number", "rank", "dense_rank"):
        return True
    if call.function == "lag":
        return call.count >= 0 and call.varies is None
    if call.function in ("percent_rank", "cume_dist", "ntile", "lead"):
        return False
    closed = call.frame.unit == "rows" or among_peers
    return closed and call.frame.ends_by_row


def _is_implied(condition: Expression, number: int, limit: int) -> bool:
    """Whether `condition` holds for all numbers from 1 to `limit`, if it bounds them."""
    match _comparison(condition, number):
        case ("le", k):
            return k >= limit
        case ("lt", k):
            return k > limit
        case ("eq", 1):
            return limit == 1
        case ("ge", k):
            return k <= 1
        case _:
            return False


def _comparison(condition: Expression, number: int) -> tuple[str, int] | None:
    """`condition` as row number, operator and constant."""
    if not (isinstance(condition, Call) and condition.function in _MIRRORED):
        return None
    one, other = condition.arguments
    function = condition.function
    if isinstance(one, Literal):
        one, other, function = other, one, _MIRRORED[function]
    if isinstance(one, Column) and one.index == number and isinstance(other, Literal):
        value = other.value
        if isinstance(value, int | Decimal) and value == int(value):
            return function, int(value)
    return None


def _bound(condition: Expression, number: int) -> int | None:
    """The greatest row number that `condition` admits, if it bounds it."""
    match _comparison(condition, number):
        case ("le" | "eq", k):
            return k
        case ("lt", k):
            return k - 1
        case _:
            return None
