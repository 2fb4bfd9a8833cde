"""Constant folding: computes constants once, and drops inputs that have no rows.

The engine's own kernels compute it; an expression that fails stays as it is, a row's error.
"""

from dataclasses import replace
from typing import assert_never

from ivm.constants import computed
from ivm.dataflow.expressions import Call, Expression, Literal
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
)
from views.plan.nulls import is_strict
from views.plan.scalars import FALSE, TRUE, conjunction, conjuncts, rebuild
from views.plan.trees import bottom_up
from views.rewrites.context import Context
from views.rewrites.days import by_day


def fold_constants(plan: Plan, context: Context) -> Plan:
    """Computes the constant expressions of `plan`, and drops inputs that have no rows."""
    return bottom_up(plan, lambda p: _emptied(_folded(p)))


def drop_empty(plan: Plan, context: Context) -> Plan:
    """Drops inputs of `plan` that have no rows, as where a subquery's condition is false."""
    return bottom_up(plan, _emptied)


def _folded(plan: Plan) -> Plan:
    match plan:
        case Filter() | Join() | Apply():
            predicate = fold(plan.predicate)
            return plan if predicate == plan.predicate else replace(plan, predicate=predicate)
        case Map():
            outputs = tuple((a, fold(e)) for a, e in plan.outputs)
            return plan if outputs == plan.outputs else replace(plan, outputs=outputs)
        case TemporalFilter() | Unnest() | Reduce() | Distinct() | Union() | Except() | TopK():
            return plan
        case Get() | Constant() | Window() | Recursive() | Iterate():
            return plan
        case _:
            assert_never(plan)


def _emptied(plan: Plan) -> Plan:
    match plan:
        case Filter() if plan.predicate == TRUE:
            return plan.input
        case Filter() if _is_never(plan.predicate) or _is_empty(plan.input):
            return Constant((), plan.attributes)
        case Map() if _is_empty(plan.input):
            return Constant((), plan.attributes)
        case Join(kind="inner" | "semi") if _is_never(plan.predicate) or any(
            map(_is_empty, (plan.left, plan.right))
        ):
            return Constant((), plan.attributes)
        case Join() if plan.kind in ("left", "anti", "mark") and _is_empty(plan.left):
            return Constant((), plan.attributes)
        case Union():
            kept = tuple(i for i in plan.inputs if not _is_empty(i))
            if len(kept) < len(plan.inputs):
                return replace(plan, inputs=kept) if kept else Constant((), plan.attributes)
            return plan
        case _:
            return plan


def _is_never(condition: Expression) -> bool:
    """Whether `condition` is false or NULL in every row."""
    return any(isinstance(c, Literal) and not c.value for c in conjuncts(condition))


def _is_empty(plan: Plan) -> bool:
    return isinstance(plan, Constant) and not plan.rows


def fold(expression: Expression) -> Expression:
    """Computes the constant parts of `expression`."""
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
    call = by_day(call)
    arguments = call.arguments
    values = [a.value for a in arguments if isinstance(a, Literal)]
    if None in values:
        return Literal(None, call.type) if is_strict(call.function) else call
    return computed(call) if values and len(values) == len(arguments) else call


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
