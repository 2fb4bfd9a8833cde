"""Precision and scale: types products, quotients and averages within 38 digits.

PostgreSQL gives each value digits of its own; a type here has them for all of its values. A product
keeps all digits, or as many as leave the place that its factors may need before the point. A
quotient has place for the digits that PostgreSQL gives the least one that there can be; at least
16, and 18 digits before the point or those that it can have.
"""

from decimal import Decimal

import pyarrow as pa

from ivm.dataflow.expressions import Expression, Literal
from views.sql.base.coercion import DIGITS, scale_of, whole_digits

# In decimal digits.
_PRODUCT_SCALE = 18  # after the point of a product, at least, if its factors have as many
_ROOM = 18  # before the point of a quotient, or as many as a bounded dividend needs
_SPARE = 8  # before the point of a quotient, beyond those of its dividend and divisor
_SIGNIFICANT = 16  # of a quotient, as PostgreSQL gives at least
_LIMB = 4  # of one of the words in which PostgreSQL keeps a numeric, and counts its scale
_AVERAGE_SCALE = 20  # after the point of an average
_WHOLE_AVERAGE_SCALE = 16  # after the point of an average of whole numbers of any size


def product(one: Expression, other: Expression) -> pa.DataType:
    """Gives the type of `one * other`, exact numbers."""
    scales = (scale_of(one.type), scale_of(other.type))
    whole = _whole(one) + _whole(other)
    kept = max(DIGITS - whole, *scales, _PRODUCT_SCALE)
    return pa.decimal128(DIGITS, min(sum(scales), kept, DIGITS))


def quotient(dividend: Expression, divisor: Expression) -> pa.DataType:
    """Gives the type of `dividend / divisor`, exact numbers."""
    scales = (scale_of(dividend.type), scale_of(divisor.type))
    whole = _whole(dividend) - _least(divisor)
    room = min(whole + _SPARE, _ROOM)
    if not _is_of_any_size(dividend):
        room = max(whole, room)
    smallest = -(-(scales[0] + _whole(divisor)) // _LIMB) * _LIMB
    kept = min(_SIGNIFICANT + _LIMB + max(smallest, 0), DIGITS - max(room, 0))
    return pa.decimal128(DIGITS, max(kept, *scales, _SIGNIFICANT))


def average(argument: pa.DataType) -> pa.DataType:
    """Gives the type of an average of exact numbers: it is not greater than they are."""
    scale = scale_of(argument)
    most = _AVERAGE_SCALE
    if argument == pa.decimal128(DIGITS, 0):
        most = _WHOLE_AVERAGE_SCALE
    elif not _fills(argument):
        most = min(most, DIGITS - whole_digits(argument))
    return pa.decimal128(DIGITS, max(scale, most))


def _fills(kind: pa.DataType) -> bool:
    """Tells whether the type has all 38 digits, so that it bounds no number's size."""
    return isinstance(kind, pa.Decimal128Type) and kind.precision == DIGITS


def _is_of_any_size(number: Expression) -> bool:
    return _fills(number.type) and not isinstance(number, Literal)


def _whole(number: Expression) -> int:
    """Bounds the digits that a number has before its point; below 0: zeros after it."""
    if isinstance(number, Literal) and number.value:
        return _magnitude(number) + 1
    return whole_digits(number.type)


def _least(divisor: Expression) -> int:
    """Bounds the absolute value of a divisor other than 0 from below, as a power of ten."""
    if isinstance(divisor, Literal) and divisor.value:
        return _magnitude(divisor)
    return -scale_of(divisor.type)


def _magnitude(number: Literal) -> int:
    assert isinstance(number.value, int | Decimal)
    return Decimal(number.value).adjusted()
