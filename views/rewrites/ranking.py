"""Top-k recognition: a filter on `row_number()` bounds how many rows of each group matter.

`row_number() over (partition by g order by o) <= k` keeps what TopK keeps. The numbers themselves
are computed over the k rows that are left, and not at all where nothing reads them. That goes if
no other call over the same window looks at later rows.
"""

from dataclasses import replace
from decimal import Decimal

from ivm.expressions import Call, Column, Expression, Literal
from views.plan.nodes import Filter, Plan, TopK, Window, WindowCall
from views.plan.scalars import conjunction, conjuncts
from views.plan.trees import Numbers, bottom_up

_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq"}


def recognise_topk(plan: Plan, numbers: Numbers) -> Plan:
    """`plan` with a TopK below every row number that a filter bounds."""
    return bottom_up(plan, _recognise)


def _recognise(plan: Plan) -> Plan:
    if not (isinstance(plan, Filter) and isinstance(plan.input, Window)):
        return plan
    numbered = plan.input
    numbers = [c.attribute.number for c in numbered.calls if c.function == "row_number"]
    if not numbers or not all(_looks_back(c) for c in numbered.calls):
        return plan
    number = numbers[0]
    conditions = conjuncts(plan.predicate)
    bounds = [(c, _bound(c, number)) for c in conditions]
    limits = [b for _, b in bounds if b is not None]
    if not limits:
        return plan
    limit = max(min(limits), 0)
    top = TopK(numbered.input, numbered.keys, numbered.order, limit)
    again = replace(numbered, input=top)
    rest = [c for c, b in bounds if b is None or not _is_upper(c, number)]
    if limit == 1:
        rest = [c for c in rest if not _is_one(c, number)]
    return Filter(again, conjunction(rest)) if rest else again


def _looks_back(call: WindowCall) -> bool:
    """Whether the results of the first rows are the same without the rows behind them."""
    if call.function in ("row_number", "rank", "dense_rank"):
        return True
    if call.function == "lag":
        return call.count >= 0
    if call.function in ("percent_rank", "cume_dist", "ntile", "lead"):
        return False
    return call.frame.unit == "rows" and call.frame.end is not None and call.frame.end <= 0


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


def _is_upper(condition: Expression, number: int) -> bool:
    match _comparison(condition, number):
        case ("le" | "lt", _):
            return True
        case _:
            return False


def _is_one(condition: Expression, number: int) -> bool:
    return _comparison(condition, number) in (("eq", 1), ("ge", 1))
