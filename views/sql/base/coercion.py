"""Converts types implicitly, as PostgreSQL does, over Arrow's types.

Numbers rank integers < decimals < float64. Decimals compute with 38 digits: a sum keeps the larger
scale; `views.sql.base.digits` has those of products, quotients and averages. Eight-bit and unsigned
integers compute as the next wider signed type. Time zones are UTC.
"""

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

import pyarrow as pa

from ivm.dataflow.expressions import Call, Expression, Literal
from ivm.values.types import INTERVAL, JSON
from views.sql.base import literals

BOOL, TEXT, DATE, TIMESTAMP = pa.bool_(), pa.string(), pa.date32(), pa.timestamp("us")
TIME, BYTEA = pa.time64("us"), pa.binary()
TIMESTAMPTZ = pa.timestamp("us", "UTC")
INT, BIGINT, DOUBLE = pa.int32(), pa.int64(), pa.float64()
DIGITS = 38
_PROMOTED: tuple[tuple[pa.DataType, pa.DataType], ...] = (
    (pa.int8(), pa.int16()),
    (pa.uint8(), pa.int16()),
    (pa.uint16(), INT),
    (pa.uint32(), BIGINT),
    (pa.uint64(), pa.decimal128(DIGITS, 0)),
)
_DIGITS_OF_INT = {8: 3, 16: 5, 32: 10, 64: 20}


@dataclass(frozen=True, slots=True)
class Untyped:
    """A quoted constant, or NULL, that takes the type of its context.

    `is_number`: it was not quoted, but a number of more digits than numeric has, which only double
    precision can be.
    """

    text: str | None
    is_number: bool = False


Bound = Expression | Untyped


def is_integer(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind)


def is_number(kind: pa.DataType) -> bool:
    return is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def is_stored_in_order(kind: pa.DataType) -> bool:
    """Tells whether values of a type are stored in the order in which they compare."""
    if isinstance(kind, pa.ListType):
        return is_stored_in_order(kind.value_type)
    return kind != JSON


def is_temporal(kind: pa.DataType) -> bool:
    return pa.types.is_date(kind) or pa.types.is_timestamp(kind)


def scale_of(kind: pa.DataType) -> int:
    """Counts the digits after the point of an exact number."""
    return int(kind.scale) if isinstance(kind, pa.Decimal128Type) else 0


def promoted(kind: pa.DataType) -> pa.DataType:
    """Gives the type in which arithmetic on `kind` is done."""
    return next((wider for narrow, wider in _PROMOTED if narrow == kind), kind)


def common_type(a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
    """Finds the type in which values of both can be compared or united, if there is one."""
    if a == b:
        return a
    if is_number(a) and is_number(b):
        return _common_number(promoted(a), promoted(b))
    if isinstance(a, pa.ListType) and isinstance(b, pa.ListType):
        element = common_type(a.value_type, b.value_type)
        return None if element is None else pa.list_(element)
    if isinstance(a, pa.StructType) and isinstance(b, pa.StructType):
        return a if [f.type for f in a] == [f.type for f in b] else None
    if {a, b} == {TIME, INTERVAL}:
        return INTERVAL
    if is_temporal(a) and is_temporal(b):
        zoned = [t for t in (a, b) if isinstance(t, pa.TimestampType) and t.tz is not None]
        return zoned[0] if zoned else TIMESTAMP
    return None


def common_of(kinds: list[pa.DataType]) -> pa.DataType | None:
    """Finds the `common_type` of any number of types; text when there are none."""
    if not kinds:
        return TEXT
    common: pa.DataType | None = kinds[0]
    for kind in kinds[1:]:
        common = None if common is None else common_type(common, kind)
    return common


def united(kinds: list[pa.DataType]) -> pa.DataType | None:
    """Finds the type of one of several values: as `common_of`, but real beside exact numbers."""
    common = common_of(kinds)
    if common == DOUBLE and DOUBLE not in kinds:
        return pa.float32()
    return common


def _common_number(a: pa.DataType, b: pa.DataType) -> pa.DataType:
    if a == b:
        return a
    if pa.types.is_floating(a) or pa.types.is_floating(b):
        return DOUBLE
    if is_integer(a) and is_integer(b):
        return a if a.bit_width > b.bit_width else b
    scale = max(scale_of(a), scale_of(b))
    whole = max(whole_digits(a), whole_digits(b))
    return pa.decimal128(min(DIGITS, whole + scale), scale)


def whole_digits(kind: pa.DataType) -> int:
    """Bounds the digits before the point of an exact number."""
    if isinstance(kind, pa.Decimal128Type):
        return int(kind.precision - kind.scale)
    return _DIGITS_OF_INT[kind.bit_width]


def arithmetic_type(a: pa.DataType, b: pa.DataType) -> pa.DataType:
    """Gives the type of a sum, difference or remainder of two numbers."""
    common = _common_number(promoted(a), promoted(b))
    if not pa.types.is_decimal(common):
        return common
    return pa.decimal128(DIGITS, scale_of(common))


def castable(source: pa.DataType, target: pa.DataType) -> bool:
    """Tells whether an explicit cast exists."""
    if source == target:
        return True
    if TEXT in (source, target):
        return True
    if is_number(source) and is_number(target):
        return True
    if isinstance(source, pa.ListType) and isinstance(target, pa.ListType):
        return castable(source.value_type, target.value_type)
    if source == JSON:
        return target == BOOL or is_number(target)
    if {source, target} == {TIME, INTERVAL}:
        return True
    if is_temporal(source) and (is_temporal(target) or pa.types.is_time(target)):
        return not (pa.types.is_date(source) and pa.types.is_time(target))
    return {source, target} == {BOOL, INT}


def cast(expression: Expression, target: pa.DataType) -> Expression:
    """Casts `expression` to `target`; a number's constant at once, where it fits exactly."""
    if expression.type == target:
        return expression
    if isinstance(expression, Literal):
        if expression.value is None:
            return Literal(None, target)
        exact = fitted(expression, target)
        if exact is not None:
            return exact
    return Call("cast", (expression,), target, expression.nullable)


def fitted(literal: Literal, target: pa.DataType) -> Literal | None:
    """Converts a constant to the same number of type `target`; None where it has none."""
    value = literal.value
    if isinstance(value, bool) or not isinstance(value, int | Decimal | float):
        return None
    try:
        return Literal(literals.exact(value, target), target)
    except (ValueError, InvalidOperation, OverflowError):
        return None


def stored_type(kind: pa.DataType) -> pa.DataType:
    """Gives the type in which a column of `kind` is stored: a row is its text."""
    if isinstance(kind, pa.ListType):
        return pa.list_(stored_type(kind.value_type))
    return TEXT if isinstance(kind, pa.StructType) else kind
