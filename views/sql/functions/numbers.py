"""Binds functions and bit operators of numbers by name.

Of numeric arguments, roots, powers and logarithms are rounded to PostgreSQL's digits, and are bare
numerics unless the arguments are constants.
"""

import math
from collections.abc import Callable
from decimal import Decimal

import pyarrow as pa
from sqlglot import exp

from ivm.dataflow.expressions import Call, Expression, Literal
from ivm.values.numeric_scales import (
    based_logarithm_scale,
    exponential_scale,
    logarithm_scale,
    power_scale,
    root_scale,
)
from ivm.values.types import NUMERIC
from views.plan.scalars import call, test
from views.sql.base.binder import Binder, Handler, name
from views.sql.base.coercion import (
    BIGINT,
    DIGITS,
    DOUBLE,
    INT,
    TEXT,
    Bound,
    Untyped,
    cast,
    common_type,
    is_integer,
    promoted,
    scale_of,
)
from views.sql.base.signatures import Build, Signature, Signatures, bind_call, scaled

_WHOLE = pa.decimal128(DIGITS, 0)
_MOST_KEPT = 18  # digits after the point, unless the number has more
_FLOATS = (
    "acos", "acosd", "acosh", "asin", "asind", "asinh", "atan", "atand", "atanh", "cbrt", "cos",
    "cosd", "cosh", "cot", "cotd", "degrees", "radians", "sin", "sind", "sinh", "tan", "tand",
    "tanh",
)  # fmt: skip


def _both(function: str) -> tuple[Signature, ...]:
    """A function of doubles, and of exact numbers."""
    return (
        Signature((DOUBLE,), DOUBLE, function),
        Signature(("numeric",), build=_exact(function)),
    )


def _exact(function: str) -> Build:
    """Binds a root, a power or a logarithm: of constants with all digits that PostgreSQL gives."""

    def build(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
        given = [a.value for a in arguments if isinstance(a, Literal)]
        values = [Decimal(v) for v in given if isinstance(v, int | Decimal)]
        kind = NUMERIC
        if len(values) == len(arguments):
            kind = pa.decimal128(DIGITS, _constant_scale(function, values))
        return call(f"{function}_exact", *arguments, result=kind)

    return build


def _constant_scale(function: str, values: list[Decimal]) -> int:
    """Gives the scale of a result of constants, as far as digits go."""
    try:
        digits = _SCALES[function](*values)
    except (ArithmeticError, ValueError):
        return 0  # of no number
    size = values[0].adjusted() if function == "sqrt" else 0
    return min(digits, DIGITS - size // 2 - 1)


_SCALES: dict[str, Callable[..., int]] = {
    "exp": exponential_scale,
    "ln": logarithm_scale,
    "log": based_logarithm_scale,
    "log10": lambda x: based_logarithm_scale(Decimal(10), x),
    "power": power_scale,
    "sqrt": root_scale,
}


def _constant_pi(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
    return Literal(math.pi, DOUBLE)


def kept(value: pa.DataType, digits: int) -> pa.DataType:
    """Gives the type of a number that is rounded or cut off to so many digits."""
    most = max(scale_of(value), _MOST_KEPT)
    return pa.decimal128(DIGITS, max(min(digits, most), 0))


def _to_digits(function: str) -> Callable[[Binder, exp.Expr, list[Expression]], Expression]:
    """`round` and `trunc` to a number of digits; where that is constant, it is the scale."""

    def build(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
        value, digits = arguments
        exact = pa.decimal128(DIGITS, scale_of(value.type))
        out = call(function, value, digits, result=exact)
        if not isinstance(digits, Literal) or not isinstance(digits.value, int):
            return out
        return cast(out, kept(value.type, digits.value))

    return build


def _whole_part(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
    out = call("trunc_to", arguments[0], Literal(0, INT), result=arguments[0].type)
    return cast(out, _WHOLE)


def _quotient(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
    return call("quotient", *arguments, result=_WHOLE)


def _remainder(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
    kind = scaled([a.type for a in arguments])
    return call("modulo", *(cast(a, kind) for a in arguments), result=kind)


def _scale(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
    """`scale(number)`: of its type; that of a bare numeric is without zeros at the end."""
    (number,) = arguments
    if number.type == NUMERIC:
        return call("min_scale", number, result=INT)
    counted = Literal(scale_of(number.type), INT)
    if not number.nullable:
        return counted
    return Call("case", (test("is_null", number), Literal(None, INT), counted), INT, True)


def _trim_scale(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
    """`trim_scale(number)`: a bare numeric, whose text has no zeros at the end."""
    if scale_of(arguments[0].type) > scale_of(NUMERIC):
        raise b.session.source.unsupported(
            "trim_scale() of more than 18 digits after the point", node, "round() the number"
        )
    return cast(arguments[0], NUMERIC)


def _common(function: str) -> Signature:
    """`gcd` and `lcm` of exact numbers."""

    def build(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
        return call(f"{function}_exact", *arguments, result=scaled([a.type for a in arguments]))

    return Signature(("numeric", "numeric"), build=build)


def _bucket(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
    """`width_bucket(value, thresholds)`."""
    value, thresholds = arguments
    assert isinstance(thresholds.type, pa.ListType)
    given, kind = value.type, thresholds.type.value_type
    plain = node.expressions[0]
    if isinstance(plain, exp.Literal | exp.Null) and value.type == TEXT:
        untyped = Untyped(None if isinstance(plain, exp.Null) else plain.name)
        value, given = b.typed(untyped, kind, node), kind
    both = common_type(given, kind)
    if both is None:
        raise b.mismatch(f"width_bucket() of {name(value)} and {name(thresholds)}", node)
    pair = (cast(value, both), cast(thresholds, pa.list_(both)))
    return call("array_bucket", *pair, result=INT)


_REMAINDERS = (
    *(Signature((kind, kind), kind, "modulo") for kind in (INT, BIGINT)),
    Signature(("numeric", "numeric"), build=_remainder),
)
_POWERS = (
    Signature((DOUBLE, DOUBLE), DOUBLE, "power"),
    Signature(("numeric", "numeric"), build=_exact("power")),
)
_LOGARITHMS = (*_both("log10"), Signature(("numeric", "numeric"), build=_exact("log")))
FUNCTIONS: Signatures = {
    **{function: (Signature((DOUBLE,), DOUBLE),) for function in _FLOATS},
    "atan2": (Signature((DOUBLE, DOUBLE), DOUBLE),),
    "atan2d": (Signature((DOUBLE, DOUBLE), DOUBLE),),
    "div": (Signature(("numeric", "numeric"), build=_quotient),),
    "exp": _both("exp"),
    "factorial": (Signature((BIGINT,), _WHOLE),),
    **{
        function: (
            *(Signature((kind, kind), kind) for kind in (INT, BIGINT)),
            _common(function),
        )
        for function in ("gcd", "lcm")
    },
    "ln": _both("ln"),
    "log": _LOGARITHMS,
    "log10": _both("log10"),
    "min_scale": (Signature(("numeric",), INT),),
    "mod": _REMAINDERS,
    "pi": (Signature((), build=_constant_pi),),
    "pow": _POWERS,
    "power": _POWERS,
    "scale": (Signature(("numeric",), build=_scale),),
    "trim_scale": (Signature(("numeric",), build=_trim_scale),),
    "sign": (Signature((DOUBLE,), DOUBLE), Signature(("numeric",), _WHOLE, "sign_exact")),
    "sqrt": _both("sqrt"),
    "trunc": (
        Signature((DOUBLE,), DOUBLE),
        Signature(("numeric",), build=_whole_part),
        Signature(("numeric", INT), build=_to_digits("trunc_to")),
    ),
    "width_bucket": (
        Signature(("numeric", "numeric", "numeric", INT), INT),
        Signature((DOUBLE, DOUBLE, DOUBLE, INT), INT, "width_bucket_float"),
        Signature(("any", "array"), build=_bucket),
    ),
}


def round_varying(value: Expression, digits: Expression) -> Expression:
    """Binds `round(value, digits)` where `digits` is not constant."""
    return call("round_to", value, digits, result=pa.decimal128(DIGITS, scale_of(value.type)))


def power(b: Binder, node: exp.Pow) -> Bound:
    """Binds `a ^ b`."""
    return bind_call(b, node, "power", [node.this, node.expression], FUNCTIONS)


def root(b: Binder, node: exp.Func) -> Bound:
    """Binds `|/ a` and `||/ a`."""
    function = "sqrt" if isinstance(node, exp.Sqrt) else "cbrt"
    return call(function, b.as_type(node.this, DOUBLE, "a radicand"), result=DOUBLE)


_BITS: dict[type[exp.Expr], tuple[str, str]] = {
    exp.BitwiseAnd: ("bit_and", "&"),
    exp.BitwiseOr: ("bit_or", "|"),
    exp.BitwiseXor: ("bit_xor", "#"),
    exp.BitwiseLeftShift: ("shift_left", "<<"),
    exp.BitwiseRightShift: ("shift_right", ">>"),
}


def bits(b: Binder, node: exp.Binary) -> Bound:
    """Binds `& | # << >>` of integers."""
    function, symbol = _BITS[type(node)]
    left, right = b.value(node.left, INT), b.value(node.right, INT)
    kinds = [promoted(left.type), promoted(right.type)]
    if not all(is_integer(k) for k in kinds):
        raise b.mismatch(f"no operator {name(left)} {symbol} {name(right)}", node)
    if function.startswith("shift"):
        return call(function, cast(left, kinds[0]), cast(right, INT), result=kinds[0])
    kind = max(kinds, key=lambda k: int(k.bit_width))
    return call(function, cast(left, kind), cast(right, kind), result=kind)


def bit_not(b: Binder, node: exp.BitwiseNot) -> Bound:
    """Binds `~ integer`."""
    value = b.value(node.this, INT)
    kind = promoted(value.type)
    if not is_integer(kind):
        raise b.mismatch(f"no operator ~ {name(value)}", node)
    return call("bit_not", cast(value, kind), result=kind)


_BINARY = ("this", "expression", "requires_int128")
HANDLERS: dict[type[exp.Expr] | str, Handler] = {
    **{kind: Handler(bits, _BINARY) for kind in _BITS},
    exp.BitwiseNot: Handler(bit_not, ("this",)),
    exp.Cbrt: Handler(root, ("this",)),
    exp.Pow: Handler(power, ("this", "expression")),
    exp.Sqrt: Handler(root, ("this",)),
}
