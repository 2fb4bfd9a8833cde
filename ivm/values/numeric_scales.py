"""Digits after the point that PostgreSQL gives results of numeric: for 16 that count.

PostgreSQL counts digits in groups of four: the weight of a number is that of its first group.
Follows `src/backend/utils/adt/numeric.c` of PostgreSQL 15.
"""

import math
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal

_SIGNIFICANT = 16
_GROUP = 4
_MOST = 1000  # digits after the point
_EXACT = Context(prec=400, rounding=ROUND_HALF_UP)
_LOG10_OF_E = 0.434294481903252
_LN_OF_10 = 2.302585092994046
_POWER_DIGITS = 8  # of the logarithm by which the size of a power is estimated
_MOST_EXPONENT = 2**31


def scale(x: Decimal) -> int:
    """Count the digits after the point.

    >>> scale(Decimal("1.50"))
    2
    """
    exponent = x.as_tuple().exponent
    assert isinstance(exponent, int)
    return max(-exponent, 0)


def _weight(x: Decimal) -> int:
    return x.adjusted() // _GROUP if x else 0


def _leading(x: Decimal, groups: int = 1) -> int:
    """Give the first groups of digits as a number."""
    shift = _GROUP * (groups - 1 - _weight(x))
    return int(abs(x).scaleb(shift, _EXACT).to_integral_value(ROUND_DOWN, _EXACT))


def _at_least(weight: int, *given: Decimal) -> int:
    """Give the scale for a result whose first digit is at `weight`, and no less than `given`."""
    return min(max(_SIGNIFICANT - weight, *map(scale, given), 0), _MOST)


def quotient_scale(a: Decimal, b: Decimal) -> int:
    """Give the scale of `a / b`.

    >>> quotient_scale(Decimal(10), Decimal(4))
    16
    """
    weight = _weight(a) - _weight(b) - (_leading(a) <= _leading(b))
    return _at_least(_GROUP * weight, a, b)


def root_scale(x: Decimal) -> int:
    """Give the scale of a square root.

    >>> root_scale(Decimal(2))
    15
    """
    return _at_least(int(_weight(x) * _GROUP / 2) + 1, x)


def exponential_scale(x: Decimal) -> int:
    return _at_least(int(float(x) * _LOG10_OF_E), x)


def _logarithm_weight(x: Decimal) -> int:
    """Estimate the weight of a natural logarithm."""
    if Decimal("0.9") <= x <= Decimal("1.1"):
        rest = _EXACT.subtract(x, Decimal(1))
        return _weight(rest) * _GROUP + int(math.log10(_leading(rest))) if rest else 0
    several = x != x.scaleb(-_GROUP * _weight(x), _EXACT).to_integral_value(ROUND_DOWN, _EXACT)
    groups = 2 if several else 1
    places = (_weight(x) - groups + 1) * _GROUP
    size = abs(math.log(_leading(x, groups)) + places * _LN_OF_10)
    return int(math.log10(size)) if size else 0


def logarithm_scale(x: Decimal) -> int:
    """Give the scale of a natural logarithm.

    >>> logarithm_scale(Decimal("0.5"))
    16
    """
    return _at_least(_logarithm_weight(x), x)


def based_logarithm_scale(base: Decimal, x: Decimal) -> int:
    return _at_least(_logarithm_weight(x) - _logarithm_weight(base), base, x)


def power_scale(base: Decimal, exponent: Decimal) -> int:
    whole = exponent == exponent.to_integral_value(ROUND_DOWN, _EXACT)
    if base == 0 or (whole and abs(exponent) < _MOST_EXPONENT):
        return max(_SIGNIFICANT, scale(base))
    digits = max(_POWER_DIGITS - _logarithm_weight(base), scale(base), 0)
    unit = Decimal(1).scaleb(-digits)
    logarithm = _EXACT.quantize(_EXACT.ln(abs(base)), unit)
    size = _EXACT.quantize(_EXACT.multiply(logarithm, exponent), unit)
    return _at_least(int(float(size) * _LOG10_OF_E), base, exponent)
