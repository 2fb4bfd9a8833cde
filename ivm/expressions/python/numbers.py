"""Functions of numbers, as of PostgreSQL: an argument outside the domain raises ValueError."""

import math
from collections.abc import Callable
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal
from fractions import Fraction

from ivm.dataflow.expressions import Call
from ivm.expressions.python.script import Script
from ivm.values.numeric_scales import (
    based_logarithm_scale,
    exponential_scale,
    logarithm_scale,
    power_scale,
    root_scale,
)
from ivm.values.types import NUMERIC

_WIDE = Context(prec=90)
_ROUNDING = Context(prec=400)


def _finite(function: Callable[[float], float]) -> Callable[[float], float]:
    """Wrap a function so that an infinite result of a finite argument is an overflow."""

    def call(x: float) -> float:
        if math.isnan(x):
            return x
        answer = function(x)
        if math.isinf(answer) and not math.isinf(x):
            raise OverflowError
        return answer

    return call


def _exp(x: float) -> float:
    answer = math.exp(x)
    if answer == 0 and not math.isinf(x):
        raise OverflowError
    return answer


def power(x: float, y: float) -> float:
    """`x` to the power `y`, with PostgreSQL's errors of underflow and of complex results."""
    if math.isnan(x) or math.isnan(y):
        return 1.0 if x == 1 or y == 0 else math.nan
    if (x == 0 and y < 0) or (x < 0 and not math.isinf(y) and y != math.floor(y)):
        raise ValueError((x, y))
    if math.isinf(x) or math.isinf(y):
        return math.pow(x, y)
    answer = math.pow(x, y)
    if math.isinf(answer) or (answer == 0 and x != 0):
        raise OverflowError
    return answer


def _sign(x: float) -> float:
    """NaN has none."""
    return float((x > 0) - (x < 0))


def _cot(x: float) -> float:
    return 1 / math.tan(x) if x else math.inf


def _beyond(function: Callable[[float], float]) -> Callable[[float], float]:
    """A hyperbolic function, which is infinite beyond the range."""

    def call(x: float) -> float:
        try:
            return function(x)
        except OverflowError:
            return math.copysign(math.inf, function(math.copysign(1, x)))

    return call


def _atanh(x: float) -> float:
    return math.copysign(math.inf, x) if abs(x) == 1 else math.atanh(x)


def _positive(x: Decimal) -> Decimal:
    if x <= 0:
        raise ValueError(x)
    return x


def _power_exact(x: Decimal, y: Decimal) -> Decimal:
    """A power of decimals; whole exponents exactly as far as digits go."""
    if x == 0 and y < 0:
        raise ValueError(x)
    if x == 0 or y == 0:
        return Decimal(1) if y == 0 else Decimal(0)
    if x < 0 and y != y.to_integral_value():
        raise ValueError(x)
    if abs(y) * abs(x.log10(_WIDE) if x > 0 else (-x).log10(_WIDE)) > 60:
        if (abs(x) > 1) == (y > 0):
            raise OverflowError
        return Decimal(0)
    return _WIDE.power(x, y)


def _log_exact(base: Decimal, x: Decimal) -> Decimal:
    logarithm = _positive(base).ln(_WIDE)
    return _WIDE.divide(_positive(x).ln(_WIDE), logarithm)


def _exp_exact(x: Decimal) -> Decimal:
    if x > 100:
        raise OverflowError
    return Decimal(0) if x < -100 else x.exp(_WIDE)


def _rounded(
    function: Callable[..., Decimal], digits: Callable[..., int]
) -> Callable[[Call], Callable[..., Decimal]]:
    """Round a function of decimals to as many digits as PostgreSQL does.

    Of a bare numeric the zeros at the end are not known to have been written.
    """

    def make(call: Call) -> Callable[..., Decimal]:
        bare = [a.type == NUMERIC for a in call.arguments]

        def compute(*given: Decimal) -> Decimal:
            values = [_trimmed(x) if b else x for x, b in zip(given, bare, strict=True)]
            result = function(*values)
            return result.quantize(Decimal(1).scaleb(-digits(*values)), ROUND_HALF_UP, _ROUNDING)

        return compute

    return make


def _trimmed(x: Decimal) -> Decimal:
    """Without zeros at the end of a fraction."""
    return x.quantize(Decimal(1).scaleb(-_min_scale(x)), context=_WIDE)


def _quantized(rounding: str) -> Callable[[Decimal, int], Decimal]:
    def quantize(x: Decimal, digits: int) -> Decimal:
        if digits > 40:
            return x
        if digits < -40:
            return Decimal(0)
        return x.quantize(Decimal(1).scaleb(-digits), rounding, _WIDE)

    return quantize


def _min_scale(x: Decimal) -> int:
    """Count the digits after the point, without zeros at the end."""
    exponent = x.normalize(_WIDE).as_tuple().exponent
    assert isinstance(exponent, int)
    return max(-exponent, 0)


def _of_integers(function: Callable[[int, int], int]) -> Callable[[Decimal, Decimal], Decimal]:
    """Extend a function of integers to decimals, in units of their last digit."""

    def call(a: Decimal, b: Decimal) -> Decimal:
        digits = max(_min_scale(a), _min_scale(b))
        units = (int(x.scaleb(digits, _WIDE)) for x in (a, b))
        return Decimal(function(*units)).scaleb(-digits, _WIDE)

    return call


def _sign_of(x: Decimal) -> Decimal:
    return Decimal((x > 0) - (x < 0))


def _quotient(a: Decimal, b: Decimal) -> Decimal:
    """Truncated."""
    return _WIDE.divide_int(a, b)


def _bits(call: Call) -> int:
    return int(call.type.bit_width)


def _wrapped(value: int, bits: int) -> int:
    """The low bits, as a signed integer."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _shift_left(call: Call) -> Callable[[int, int], int]:
    bits = _bits(call)
    return lambda a, n: _wrapped(a << (n % max(bits, 32)), bits)


def _shift_right(call: Call) -> Callable[[int, int], int]:
    bits = max(_bits(call), 32)
    return lambda a, n: a >> (n % bits)


def _bucket_of(x: Decimal, low: Decimal, high: Decimal, count: int) -> int:
    """`width_bucket(x, low, high, count)`."""
    if count <= 0 or low == high:
        raise ValueError(count)
    at = (Fraction(x) - Fraction(low)) / (Fraction(high) - Fraction(low))
    return 0 if at < 0 else count + 1 if at >= 1 else int(at * count) + 1


def _bucket_of_float(x: float, low: float, high: float, count: int) -> int:
    if count <= 0 or low == high or math.isnan(x) or not math.isfinite(low + high):
        raise ValueError(count)
    if (x < low) if low < high else (x > low):
        return 0
    if (x >= high) if low < high else (x <= high):
        return count + 1
    width = high - low
    at = (x - low) / width if math.isfinite(width) else (x / 2 - low / 2) / (high / 2 - low / 2)
    return min(int(count * at), count - 1) + 1


def factorial(n: int) -> Decimal:
    if n < 0:
        raise ValueError(n)
    if n > 40:
        raise OverflowError
    return Decimal(math.factorial(n))


_FLOATS: dict[str, Callable[[float], float]] = {
    "sqrt": math.sqrt,
    "cbrt": math.cbrt,
    "exp": _exp,
    "ln": math.log,
    "log10": math.log10,
    "sign": _sign,
    "trunc": lambda x: float(math.trunc(x)) if math.isfinite(x) else x,
    "degrees": math.degrees,
    "radians": math.radians,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "cot": _cot,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "sinh": _beyond(math.sinh),
    "cosh": _beyond(math.cosh),
    "tanh": math.tanh,
    "asinh": math.asinh,
    "acosh": math.acosh,
    "atanh": _atanh,
}
_UNCHECKED = frozenset({"sinh", "cosh", "cot", "atanh", "sign"})
_ROUNDED: dict[str, tuple[Callable[..., Decimal], Callable[..., int], int]] = {
    "sqrt_exact": (lambda x: x.sqrt(_WIDE), root_scale, 1),
    "exp_exact": (_exp_exact, exponential_scale, 1),
    "ln_exact": (lambda x: _positive(x).ln(_WIDE), logarithm_scale, 1),
    "log10_exact": (
        lambda x: _positive(x).log10(_WIDE),
        lambda x: based_logarithm_scale(Decimal(10), x),
        1,
    ),
    "log_exact": (_log_exact, based_logarithm_scale, 2),
    "power_exact": (_power_exact, power_scale, 2),
}
SCRIPTS: dict[str, Script] = {
    **{
        name: Script(f if name in _UNCHECKED else _finite(f), ("float",))
        for name, f in _FLOATS.items()
    },
    **{
        name: Script(_rounded(function, digits), ("decimal",) * count, made=True)
        for name, (function, digits, count) in _ROUNDED.items()
    },
    "sign_exact": Script(_sign_of, ("decimal",)),
    "power": Script(power, ("float", "float")),
    "atan2": Script(math.atan2, ("float", "float")),
    "quotient": Script(_quotient, ("decimal", "decimal")),
    "round_to": Script(_quantized(ROUND_HALF_UP), ("decimal", "signed")),
    "trunc_to": Script(_quantized(ROUND_DOWN), ("decimal", "signed")),
    "min_scale": Script(_min_scale, ("decimal",)),
    "gcd_exact": Script(_of_integers(math.gcd), ("decimal", "decimal")),
    "lcm_exact": Script(_of_integers(math.lcm), ("decimal", "decimal")),
    "gcd": Script(math.gcd, ("signed", "signed")),
    "lcm": Script(math.lcm, ("signed", "signed")),
    "width_bucket": Script(_bucket_of, ("decimal", "decimal", "decimal", "signed")),
    "width_bucket_float": Script(_bucket_of_float, ("float", "float", "float", "signed")),
    "factorial": Script(factorial, ("signed",)),
    "bit_and": Script(lambda a, b: a & b, ("signed", "signed")),
    "bit_or": Script(lambda a, b: a | b, ("signed", "signed")),
    "bit_xor": Script(lambda a, b: a ^ b, ("signed", "signed")),
    "bit_not": Script(lambda a: ~a, ("signed",)),
    "shift_left": Script(_shift_left, ("signed", "signed"), made=True),
    "shift_right": Script(_shift_right, ("signed", "signed"), made=True),
}
