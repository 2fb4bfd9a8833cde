"""Failure analysis: an expression that has no value for some row makes it an error row.

Of the functions those of `_TOTAL` are known to have a value for all arguments, some others for
constant ones; that any other may fail is assumed.
"""

import math
from decimal import Decimal

import pyarrow as pa

from ivm.dataflow.expressions import Call, Expression, Literal, Value
from views.plan.nodes import Plan, remembered
from views.plan.scalars import walk
from views.plan.trees import expressions
from views.plan.trees import walk as nodes

_TOTAL = frozenset({
    "eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not", "is_null", "is_not_null",
    "is_distinct", "is_not_distinct", "case", "coalesce",
})  # fmt: skip
_TOTAL_OF_TEXTS = frozenset({"length", "lower", "position", "starts_with", "upper"})
# These have no value only where it is beyond the range of their type.
_ARITHMETIC = frozenset({"add", "subtract", "multiply", "negate", "abs"})


def may_fail(expression: Expression) -> bool:
    """Tells whether some row may be an error because of `expression`."""
    return any(isinstance(e, Call) and not _is_total(e) for e in walk(expression))


def may_fail_in_range(expression: Expression) -> bool:
    """Tells whether `expression` may fail by more than an overflow of its arithmetic."""
    calls = (e for e in walk(expression) if isinstance(e, Call) and not _is_total(e))
    return any(call.function not in _ARITHMETIC for call in calls)


@remembered
def plan_may_fail(plan: Plan) -> bool:
    """Tells whether an expression in `plan` may fail."""
    return any(may_fail(e) for node in nodes(plan) for e in expressions(node))


def _is_total(call: Call) -> bool:
    match call.function:
        case "cast":
            return _is_total_cast(call)
        case "like" | "ilike":  # a constant pattern is refused where it is none
            return isinstance(call.arguments[1], Literal)
        case "substring":
            text, *places = call.arguments
            return text.type == pa.string() and all(
                isinstance(p, Literal) and _is_natural(p.value) for p in places
            )
        case "multiply":
            return any(_moves_the_point(call, factor) for factor in call.arguments)
        case function if function in _TOTAL_OF_TEXTS:
            return call.arguments[0].type == pa.string()
        case function:
            return function in _TOTAL


def _moves_the_point(product: Call, factor: Expression) -> bool:
    """Whether a product has the digits of its other factor, as `factor` is a power of ten."""
    made, kinds = product.type, [a.type for a in product.arguments]
    if not isinstance(factor, Literal) or not isinstance(factor.value, Decimal):
        return False
    given = [kind for kind in kinds if isinstance(kind, pa.Decimal128Type)]
    if not isinstance(made, pa.Decimal128Type) or len(given) < len(kinds):
        return False
    scale = given[product.arguments.index(factor)].scale
    return (
        abs(factor.value.scaleb(scale)) == 1
        and made.scale == sum(kind.scale for kind in given)
        and made.precision >= max(kind.precision for kind in given)
    )


def _is_natural(value: Value | None) -> bool:
    return isinstance(value, int) and value >= 0


def _is_total_cast(call: Call) -> bool:
    given, wanted = call.arguments[0].type, call.type
    if isinstance(wanted, pa.Decimal128Type):
        (digits, scale), (most, kept) = _digits(given), _digits(wanted)
        return digits <= most and scale <= kept
    if not pa.types.is_signed_integer(given):
        return False
    is_wider = pa.types.is_signed_integer(wanted) and wanted.bit_width >= given.bit_width
    return is_wider or pa.types.is_float64(wanted) or wanted == pa.string()


def _digits(kind: pa.DataType) -> tuple[float, float]:
    """Bounds the digits that a number has before its point and after it."""
    if isinstance(kind, pa.Decimal128Type):
        return kind.precision - kind.scale, kind.scale
    if pa.types.is_signed_integer(kind):
        return len(str(1 << (kind.bit_width - 1))), 0
    return math.inf, math.inf
