"""Values of the oracle: comparison, ranges and rounding, with errors as values.

NULL is None. There is one NaN, greater than every number and equal to itself.
"""

import math
import struct
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, TypeAlias
from uuid import UUID

import pyarrow as pa

NAN = float("nan")
EXACT = Context(prec=400, rounding=ROUND_HALF_UP)


@dataclass(frozen=True, slots=True)
class Error:
    """What an expression yields where SQL raises an error."""

    message: str


Scalar: TypeAlias = (
    bool
    | int
    | float
    | Decimal
    | str
    | bytes
    | date
    | time
    | datetime
    | UUID
    | tuple[Any, ...]
    | None
)
Outcome: TypeAlias = Scalar | Error


def canonical(value: Scalar) -> Scalar:
    """The one representative of equal values; a list is a tuple."""
    if isinstance(value, list | tuple):
        return tuple(canonical(v) for v in value)
    if isinstance(value, float):
        if math.isnan(value):
            return NAN
        return value + 0.0
    return value


def compare(a: Scalar, b: Scalar) -> int:
    """-1, 0 or 1 for two values of one type, neither NULL."""
    if a is NAN or b is NAN:
        return (a is NAN) - (b is NAN)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return compare_lists(a, b)
    return (a > b) - (a < b)  # type: ignore[operator]


def compare_lists(a: tuple[Any, ...], b: tuple[Any, ...]) -> int:
    """-1, 0 or 1 for two lists by their first elements that differ; NULL is the greatest."""
    for x, y in zip(a, b, strict=False):
        unknown = x is None or y is None
        order = (x is None) - (y is None) if unknown else compare(x, y)
        if order:
            return order
    return (len(a) > len(b)) - (len(a) < len(b))


def same(a: Scalar, b: Scalar) -> bool:
    """Equality where NULL equals NULL."""
    if a is None or b is None:
        return a is b
    return compare(a, b) == 0


def fit(value: float | Decimal, kind: pa.DataType) -> Outcome:
    """`value` in the type `kind`: rounded to its scale, or an error when out of its range."""
    if pa.types.is_integer(kind):
        low, high = integer_range(kind)
        return int(value) if low <= value <= high else Error(f"{kind} out of range")
    if isinstance(kind, pa.Decimal128Type):
        return fit_decimal(EXACT.create_decimal(value), kind)
    number = float(value)
    if pa.types.is_float32(kind) and math.isfinite(number):
        try:
            number = struct.unpack("<f", struct.pack("<f", number))[0]
        except OverflowError:
            return Error("float out of range")
    return canonical(number)


def fit_decimal(value: Decimal, kind: pa.Decimal128Type) -> Outcome:
    """`value` rounded half away from zero to the scale of `kind`, if its precision holds that."""
    if not value.is_finite() or (value and value.adjusted() > kind.precision):
        return Error("decimal out of range")
    rounded = value.quantize(Decimal(1).scaleb(-kind.scale), context=EXACT)
    if EXACT.abs(rounded).scaleb(kind.scale, context=EXACT) >= 10**kind.precision:
        return Error("decimal out of range")
    return EXACT.plus(rounded)


def has_zone(kind: pa.DataType) -> bool:
    """Whether `kind` is a timestamp with a time zone."""
    return isinstance(kind, pa.TimestampType) and kind.tz is not None


def integer_range(kind: pa.DataType) -> tuple[int, int]:
    """The least and greatest value of an integer type."""
    bits = kind.bit_width
    if pa.types.is_unsigned_integer(kind):
        return 0, 2**bits - 1
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
