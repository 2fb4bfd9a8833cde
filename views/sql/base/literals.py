"""Constants: reads unquoted numbers, converts numbers exactly, and advises on refused texts."""

import math
from decimal import Context, Decimal, InvalidOperation

import numpy as np
import pyarrow as pa

from ivm.dataflow.expressions import Literal, Value
from ivm.values.forms import parse_decimal
from ivm.values.python_values import fits_single
from ivm.values.types import INTERVAL

_EXACT = Context(prec=200)
_NOT_FINITE = frozenset({"nan", "inf", "infinity"})
_CLOCK_WORDS = frozenset({"now", "today", "tomorrow", "yesterday"})


def number(text: str) -> Literal:
    """Reads an unquoted number, with its sign: the least of int32, int64 and decimal that holds it.

    Raises ValueError beyond 38 digits.
    """
    if text.removeprefix("-").isdigit():
        value = int(text)
        for kind in (pa.int32(), pa.int64()):
            if -(2 ** (kind.bit_width - 1)) <= value < 2 ** (kind.bit_width - 1):
                return Literal(value, kind)
    exact = _EXACT.create_decimal(text)
    _, digits, exponent = exact.as_tuple()
    if not isinstance(exponent, int):
        raise ValueError("not a finite number")
    scale = max(-exponent, 0)
    precision = max(len(digits) + max(exponent, 0), scale, 1)
    if precision > 38:
        raise ValueError("a number has at most 38 digits")
    return Literal(
        exact.quantize(Decimal(1).scaleb(-scale), context=_EXACT), pa.decimal128(precision, scale)
    )


def quoted(text: str | None) -> Literal | None:
    """Reads a quoted number beside numeric, with all its digits; None for any other text."""
    try:
        parse_decimal(text or "")
        return number((text or "").strip())
    except (ValueError, ArithmeticError):
        return None


def exact(value: float | Decimal, kind: pa.DataType) -> Value:
    """Converts `value` to the number type `kind` (raises ValueError where it would change)."""
    if pa.types.is_floating(kind):
        return _float(value, kind)
    if not math.isfinite(value):
        raise ValueError("not a finite number")
    if pa.types.is_integer(kind):
        low, high = _bounds(kind)
        if value != int(value) or not low <= value <= high:
            raise ValueError("out of range")
        return int(value)
    if isinstance(kind, pa.Decimal128Type) and not isinstance(value, float):
        rounded = _rounded(Decimal(value), kind)
        if rounded != value:
            raise ValueError("more digits than the type has")
        return rounded
    raise ValueError("not a number type")


def refusal(text: str, kind: pa.DataType) -> str | None:
    """Says of a text that is a value to PostgreSQL why it is none here, and what to write."""
    if pa.types.is_decimal(kind) and text.strip().lower().lstrip("+-") in _NOT_FINITE:
        return f"{text.strip()} as numeric; use double precision"
    if not pa.types.is_temporal(kind) or kind == INTERVAL:
        return None
    if _CLOCK_WORDS.intersection(text.lower().split()):
        return "a moment that depends on the clock; compare a column with now() in WHERE"
    if text.strip().lower() in ("infinity", "-infinity"):
        return "infinity as a moment; write one beyond all others: '9999-12-31', '0001-01-01'"
    return None


def _float(given: float | Decimal, kind: pa.DataType) -> float:
    """The nearest float of `kind` (raises ValueError where that is infinite or zero, unlike it)."""
    value = float(given)
    if pa.types.is_float32(kind):
        value = float(np.float32(value)) if fits_single(value) else math.inf
    if (math.isinf(value) and math.isfinite(given)) or (value == 0) != (given == 0):
        raise ValueError("out of range")
    return value


def _rounded(value: Decimal, kind: pa.Decimal128Type) -> Decimal:
    """Rounded half away from zero to the scale of `kind`, within its precision."""
    try:
        rounded = value.quantize(Decimal(1).scaleb(-kind.scale), "ROUND_HALF_UP", _EXACT)
    except InvalidOperation as error:
        raise ValueError("out of range") from error
    if abs(rounded) >= Decimal(10) ** (kind.precision - kind.scale):
        raise ValueError("out of range")
    return rounded


def _bounds(kind: pa.DataType) -> tuple[int, int]:
    if pa.types.is_unsigned_integer(kind):
        return 0, 2**kind.bit_width - 1
    return -(2 ** (kind.bit_width - 1)), 2 ** (kind.bit_width - 1) - 1
