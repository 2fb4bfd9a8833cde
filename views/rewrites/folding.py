"""Folding: what is constant is computed once, and what cannot be true is not maintained.

Only what Python computes exactly as the engine does is folded; anything that might be a row's error
stays as it is.
"""

import calendar
import operator
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal

import pyarrow as pa

from ivm.expressions import Call, Expression, Literal, Value
from views.plan.nodes import Apply, Filter, Join, Plan, Project, Union, Values
from views.plan.nulls import is_strict
from views.plan.scalars import FALSE, TRUE, conjunction, conjuncts, rebuild
from views.plan.trees import bottom_up
from views.rewrites.context import Context

_COMPARED: dict[str, Callable[[Value, Value], bool]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt,
    "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip
_MOMENTS = (pa.date32(), pa.timestamp("us"))
_EXACT = (bool, int, Decimal, str, date)


def fold_constants(plan: Plan, context: Context) -> Plan:
    """`plan` with constant expressions computed, and without inputs that have no rows."""
    return bottom_up(plan, lambda p: _emptied(_folded(p)))


def _folded(plan: Plan) -> Plan:
    match plan:
        case Filter() | Join() | Apply():
            predicate = fold(plan.predicate)
            return plan if predicate == plan.predicate else replace(plan, predicate=predicate)
        case Project():
            outputs = tuple((a, fold(e)) for a, e in plan.outputs)
            return plan if outputs == plan.outputs else replace(plan, outputs=outputs)
        case _:
            return plan


def _emptied(plan: Plan) -> Plan:
    match plan:
        case Filter() if plan.predicate == TRUE:
            return plan.input
        case Filter() if _is_never(plan.predicate) or _is_empty(plan.input):
            return Values((), plan.attributes)
        case Project() if _is_empty(plan.input):
            return Values((), plan.attributes)
        case Join(kind="inner" | "semi") if _is_never(plan.predicate) or any(
            map(_is_empty, (plan.left, plan.right))
        ):
            return Values((), plan.attributes)
        case Join() if plan.kind in ("left", "anti", "mark") and _is_empty(plan.left):
            return Values((), plan.attributes)
        case Union():
            kept = tuple(i for i in plan.inputs if not _is_empty(i))
            if len(kept) < len(plan.inputs):
                return replace(plan, inputs=kept) if kept else Values((), plan.attributes)
            return plan
        case _:
            return plan


def _is_never(condition: Expression) -> bool:
    """Whether `condition` is false or NULL in every row."""
    return any(isinstance(c, Literal) and not c.value for c in conjuncts(condition))


def _is_empty(plan: Plan) -> bool:
    return isinstance(plan, Values) and not plan.rows


def fold(expression: Expression) -> Expression:
    """`expression` with its constant parts computed."""
    if not isinstance(expression, Call):
        return expression
    arguments = tuple(map(fold, expression.arguments))
    call = expression
    if arguments != expression.arguments:
        call = rebuild(expression, arguments)
    match call.function:
        case "and":
            return FALSE if FALSE in arguments else conjunction(arguments)
        case "or":
            return _either(call)
        case "case":
            return _chosen(call)
    values = [a.value for a in arguments if isinstance(a, Literal)]
    if None in values:
        return Literal(None, call.type) if is_strict(call.function) else call
    known = [v for v in values if v is not None]
    return _computed(call, known) if known and len(known) == len(arguments) else call


def _either(call: Call) -> Expression:
    if TRUE in call.arguments:
        return TRUE
    rest = tuple(a for a in call.arguments if a != FALSE)
    if len(rest) == len(call.arguments):
        return call
    return replace(call, arguments=rest) if len(rest) > 1 else (*rest, FALSE)[0]


def _chosen(call: Call) -> Expression:
    """A CASE without the conditions that are constant: those never met, and all after one met."""
    *arms, otherwise = call.arguments
    kept: list[Expression] = []
    for condition, value in zip(arms[::2], arms[1::2], strict=True):
        if isinstance(condition, Literal) and condition.value:
            otherwise = value
            break
        if not isinstance(condition, Literal):
            kept += [condition, value]
    return replace(call, arguments=(*kept, otherwise)) if kept else otherwise


def _computed(call: Call, values: list[Value]) -> Expression:
    kinds = {type(v) for v in values}
    if call.function in _COMPARED and len(kinds) == 1 and kinds <= set(_EXACT):
        return Literal(_COMPARED[call.function](values[0], values[1]), pa.bool_())
    first, *others = values
    if call.function == "not":
        return Literal(not first, pa.bool_())
    if isinstance(first, date) and call.type in _MOMENTS:
        if call.function == "cast" and type(first) is date and call.type == _MOMENTS[1]:
            return Literal(datetime.combine(first, time()), call.type)
        if len(others) == 1 and isinstance(others[0], int):
            moved = _moved(call.function, first, others[0])
            return call if moved is None else Literal(moved, call.type)
    return call


def _moved(function: str, moment: date, by: int) -> date | None:
    """The moment so much later, by months clamped to the month's last day; None: out of range."""
    try:
        if function == "add_days":
            return moment + timedelta(days=by)
        if function == "add_micros":
            return moment + timedelta(microseconds=by)
        if function == "add_months":
            year, month = divmod(12 * moment.year + moment.month - 1 + by, 12)
            last = calendar.monthrange(year, month + 1)[1]
            return moment.replace(year, month + 1, min(moment.day, last))
    except (OverflowError, ValueError):
        pass
    return None
