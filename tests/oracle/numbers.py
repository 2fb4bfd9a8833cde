"""Functions of numbers: `function(result type, values…)`, no value NULL."""

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Decimal
from typing import Any

import pyarrow as pa

from tests.oracle.values import EXACT, NAN, Error, Outcome, fit


def _float(kind: pa.DataType, compute: Callable[[], float], *given: float) -> Outcome:
    """A float operation: finite operands must give a finite result."""
    try:
        value = compute()
    except OverflowError:
        return Error("float out of range")
    if math.isinf(value) and all(math.isfinite(g) for g in given):
        return Error("float out of range")
    return fit(value, kind) if not math.isnan(value) else NAN


def _vanished(product: Outcome, *factors: float) -> Outcome:
    """A product that is not zero unless a factor is."""
    return Error("float out of range") if product == 0 and all(factors) else product


def add(kind: pa.DataType, a: Any, b: Any) -> Outcome:
    if isinstance(a, float):
        return _float(kind, lambda: a + b, a, b)
    return fit(EXACT.add(a, b) if isinstance(a, Decimal) else a + b, kind)


def subtract(kind: pa.DataType, a: Any, b: Any) -> Outcome:
    if isinstance(a, float):
        return _float(kind, lambda: a - b, a, b)
    return fit(EXACT.subtract(a, b) if isinstance(a, Decimal) else a - b, kind)


def multiply(kind: pa.DataType, a: Any, b: Any) -> Outcome:
    if isinstance(a, float):
        return _vanished(_float(kind, lambda: a * b, a, b), a, b)
    return fit(EXACT.multiply(a, b) if isinstance(a, Decimal) else a * b, kind)


def divide(kind: pa.DataType, a: Any, b: Any) -> Outcome:
    if b == 0:
        return a if a is NAN else Error("division by zero")
    if isinstance(a, float):
        return _vanished(_float(kind, lambda: a / b, a, b), a, 1 / b)
    if isinstance(a, Decimal):
        return quotient(a, b, kind)
    whole = abs(a) // abs(b)
    return fit(whole if (a < 0) == (b < 0) else -whole, kind)


def quotient(a: Decimal, b: Decimal, kind: pa.DataType) -> Outcome:
    """With the digits that PostgreSQL's numeric gives it, as far as the type has them."""
    assert isinstance(kind, pa.Decimal128Type)
    if a == 0:
        return fit(a, kind)
    weights = [x.adjusted() // 4 for x in (a, b)]
    limbs = [int(abs(x).scaleb(-4 * w, EXACT)) for x, w in zip((a, b), weights, strict=True)]
    digits = 16 - 4 * (weights[0] - weights[1] - (limbs[0] <= limbs[1]))
    digits = max(digits, 0, *(-int(x.normalize(EXACT).as_tuple().exponent) for x in (a, b)))
    unit = Decimal(1).scaleb(-min(digits, kind.scale))
    return fit(EXACT.divide(a, b).quantize(unit, ROUND_HALF_UP, EXACT), kind)


def modulo(kind: pa.DataType, a: Any, b: Any) -> Outcome:
    if b == 0:
        return a if a is NAN else Error("division by zero")
    if isinstance(a, float):
        return _float(kind, lambda: math.fmod(a, b)) if math.isfinite(a) else NAN
    if isinstance(a, Decimal):
        return fit(EXACT.remainder(a, b), kind)
    return fit(abs(a) % abs(b) * (-1 if a < 0 else 1), kind)


def negate(kind: pa.DataType, a: Any) -> Outcome:
    return fit(EXACT.minus(a) if isinstance(a, Decimal) else -a, kind)


def absolute(kind: pa.DataType, a: Any) -> Outcome:
    return fit(EXACT.abs(a) if isinstance(a, Decimal) else abs(a), kind)


def round_(kind: pa.DataType, a: Any, digits: int = 0) -> Outcome:
    """Decimals round half away from zero, floats half to even."""
    if isinstance(a, float):
        return fit(round(a, digits), kind) if math.isfinite(a) else a
    step = Decimal(1).scaleb(-digits)
    return fit(Decimal(a).quantize(step, context=EXACT), kind)


def floor(kind: pa.DataType, a: Any) -> Outcome:
    if isinstance(a, float):
        return fit(float(math.floor(a)), kind) if math.isfinite(a) else a
    return fit(Decimal(a).to_integral_value(rounding=ROUND_FLOOR), kind)


def ceil(kind: pa.DataType, a: Any) -> Outcome:
    if isinstance(a, float):
        return fit(float(math.ceil(a)), kind) if math.isfinite(a) else a
    return fit(Decimal(a).to_integral_value(rounding=ROUND_CEILING), kind)


FUNCTIONS: dict[str, Callable[..., Outcome]] = {
    "add": add,
    "subtract": subtract,
    "multiply": multiply,
    "divide": divide,
    "modulo": modulo,
    "negate": negate,
    "abs": absolute,
    "round": round_,
    "floor": floor,
    "ceil": ceil,
}
