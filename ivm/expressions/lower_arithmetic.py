"""Lowers arithmetic to steps, with the range or scale of the result's type."""

import pyarrow as pa

from ivm.dataflow.expressions import Call, Expression, Literal
from ivm.errors import Unsupported
from ivm.expressions.compiler import Assembly, Lowering
from ivm.expressions.families import (
    family,
    gives,
    integer_range,
    precision_of,
    same_family,
    scale_of,
    takes,
)
from ivm.values.type_names import shown

MAX_DIGITS = 38


def rescale(a: Assembly, register: int, source: int, target: pa.DataType, overflow: str) -> int:
    """Decimals of scale `source` as decimals of type `target`, rounded half away from zero."""
    shift = scale_of(target) - source
    return a.emit(
        "rescale", (register,), target, p=precision_of(target), q=shift, overflow=overflow
    )


def _arithmetic(a: Assembly, call: Call) -> int:
    count = 1 if call.function in ("negate", "abs") else 2
    takes(call, count, count)
    kind = same_family(call, *call.arguments)
    if kind != family(call.type):
        raise Unsupported(
            f"{call.function} of {shown(call.arguments[0].type)} as {shown(call.type)}"
        )
    overflow = a.complaint(f"{shown(call.type)} out of range", call)
    zero = None
    if call.function in ("divide", "modulo"):
        zero = a.complaint("division by zero", call)
    if kind == "decimal":
        return _decimal(a, call, zero, overflow)
    registers = tuple(a.register(e) for e in call.arguments)
    if kind in ("signed", "unsigned"):
        if call.function == "abs" and kind == "unsigned":
            return registers[0]
        low, high = integer_range(call.type)
        kernel = f"{call.function}_{kind}"
        return a.emit(kernel, registers, call.type, p=low, q=high, message=zero, overflow=overflow)
    if kind == "float":
        narrow = int(pa.types.is_float32(call.type))
        if call.function in ("negate", "abs"):
            return a.emit(f"{call.function}_float", registers, call.type)
        kernel = f"{call.function}_float"
        return a.emit(kernel, registers, call.type, p=narrow, message=zero, overflow=overflow)
    raise Unsupported(f"{call.function} of {shown(call.type)}")


def _decimal(a: Assembly, call: Call, zero: str | None, overflow: str) -> int:
    type_ = call.type
    scales = [scale_of(e.type) for e in call.arguments]
    registers = [a.register(e) for e in call.arguments]
    if call.function in ("multiply", "divide"):
        q = _dropped(call, scales) if call.function == "multiply" else _scales(call, scales)
        pair = (registers[0], registers[1])
        kernel, p = f"{call.function}_decimal", precision_of(type_)
        return a.emit(kernel, pair, type_, p=p, q=q, message=zero, overflow=overflow)
    common = max(*scales, scale_of(type_))
    wide: pa.DataType = pa.decimal128(MAX_DIGITS, common)
    aligned = tuple(
        register if scale == common else rescale(a, register, scale, wide, overflow)
        for register, scale in zip(registers, scales, strict=True)
    )
    if common == scale_of(type_):
        wide = type_
    kernel = f"{call.function}_decimal"
    out = a.emit(kernel, aligned, wide, p=precision_of(wide), message=zero, overflow=overflow)
    return out if wide == type_ else rescale(a, out, common, type_, overflow)


def _dropped(call: Call, scales: list[int]) -> int:
    """The digits of a product that its type has no place for."""
    dropped = sum(scales) - scale_of(call.type)
    if not 0 <= dropped <= MAX_DIGITS:
        raise Unsupported(f"multiply of decimals of scales {scales} as {shown(call.type)}")
    return dropped


def _scales(call: Call, scales: list[int]) -> int:
    """The scales of a quotient and its arguments, a byte each."""
    if scale_of(call.type) < scales[0]:
        raise Unsupported(f"divide of decimals of scales {scales} as {shown(call.type)}")
    return scale_of(call.type) | scales[0] << 8 | scales[1] << 16


def _round(a: Assembly, call: Call) -> int:
    takes(call, 1, 2 if call.function == "round" else 1)
    value, *rest = call.arguments
    gives(call, family(value.type))
    digits = _digits(call, rest[0]) if rest else 0
    register = a.register(value)
    kind = family(value.type)
    overflow = a.complaint(f"{shown(call.type)} out of range", call)
    if kind == "float":
        return a.emit(f"{call.function}_float", (register,), call.type, p=digits)
    if kind == "decimal":
        dropped = scale_of(value.type) - digits
        if dropped > MAX_DIGITS:
            raise Unsupported(f"{call.function} to {digits} digits")
        if dropped > 0:
            wide = pa.decimal128(MAX_DIGITS, scale_of(value.type))
            kernel = f"{call.function}_decimal"
            register = a.emit(kernel, (register,), wide, p=MAX_DIGITS, q=dropped, overflow=overflow)
        return rescale(a, register, scale_of(value.type), call.type, overflow)
    if kind == "signed" and digits < 0:
        low, high = integer_range(call.type)
        unit = a.literal(10 ** min(-digits, 18), pa.int64())
        return a.emit("round_signed", (register, unit), call.type, p=low, q=high, overflow=overflow)
    if kind in ("signed", "unsigned") and digits >= 0:
        return register
    raise Unsupported(f"{call.function} of {value.type} to {digits} digits")


def _digits(call: Call, expression: Expression) -> int:
    if not isinstance(expression, Literal) or not isinstance(expression.value, int):
        raise Unsupported(f"{call.function} to digits that are not a literal")
    return expression.value


COMPUTING: dict[str, Lowering] = {
    **dict.fromkeys(
        ("add", "subtract", "multiply", "divide", "modulo", "negate", "abs"), _arithmetic
    ),
    **dict.fromkeys(("round", "floor", "ceil"), _round),
}
