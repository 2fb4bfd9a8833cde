"""Lowers casts to steps: the pair of families, given and wanted, chooses the kernel."""

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

from ivm.dataflow.expressions import Call
from ivm.errors import Unsupported
from ivm.expressions.compiler import Assembly, Lowering
from ivm.expressions.families import family, integer_range, precision_of, scale_of, takes
from ivm.expressions.lower_arithmetic import MAX_DIGITS, rescale
from ivm.expressions.lower_python import CASTS, run_script
from ivm.values.type_names import shown
from ivm.values.types import NUMERIC


@dataclass(frozen=True, slots=True)
class _Cast:
    """A cast of the values in `register` from one type to another."""

    assembly: Assembly
    register: int
    source: pa.DataType
    target: pa.DataType
    message: str
    overflow: str

    @property
    def kernel(self) -> str:
        return f"{family(self.source)}_to_{family(self.target)}"


_Way = Callable[[_Cast], int]


def cast(a: Assembly, call: Call) -> int:
    """The argument as the call's type (raises Unsupported where there is no such cast)."""
    takes(call, 1, 1)
    (argument,) = call.arguments
    register = a.register(argument)
    source, target = argument.type, call.type
    if source == target:
        return register
    pair = (family(source), family(target))
    if _differ_in_names(source, target):
        return register
    if pair in CASTS:
        return run_script(a, call, CASTS[pair])
    way = _WAYS.get(pair)
    if way is None:
        raise Unsupported(f"a cast from {shown(source)} to {shown(target)}")
    message = a.complaint(f"not a value of {shown(target)}", call)
    overflow = a.complaint(f"{shown(target)} out of range", call)
    return way(_Cast(a, register, source, target, message, overflow))


def _differ_in_names(source: pa.DataType, target: pa.DataType) -> bool:
    """Tell whether two types are structs of equal fields: their names are no part of a value."""
    if not (isinstance(source, pa.StructType) and isinstance(target, pa.StructType)):
        return False
    return [f.type for f in source] == [f.type for f in target]


def _same(c: _Cast) -> int:
    return c.register


def _plain(c: _Cast) -> int:
    return c.assembly.emit(c.kernel, (c.register,), c.target)


def _overflowing(c: _Cast) -> int:
    return c.assembly.emit(c.kernel, (c.register,), c.target, overflow=c.overflow)


def _to_integer(c: _Cast) -> int:
    low, high = integer_range(c.target)
    if family(c.source) == family(c.target) == "signed":
        source_low, source_high = integer_range(c.source)
        if low <= source_low and source_high <= high:
            return c.register
    message = c.message if family(c.source) == "text" else None
    return c.assembly.emit(
        c.kernel, (c.register,), c.target, p=low, q=high, message=message, overflow=c.overflow
    )


def _integer_to_bool(c: _Cast) -> int:
    signed = int(family(c.source) == "signed")
    return c.assembly.emit("word_to_bool", (c.register,), c.target, p=signed)


def _to_float(c: _Cast) -> int:
    narrow = int(pa.types.is_float32(c.target))
    return c.assembly.emit(c.kernel, (c.register,), c.target, p=narrow)


def _float_to_float(c: _Cast) -> int:
    if pa.types.is_float64(c.target):
        return c.register
    return c.assembly.emit(c.kernel, (c.register,), c.target, p=1, overflow=c.overflow)


def _text_to_float(c: _Cast) -> int:
    narrow = int(pa.types.is_float32(c.target))
    overflow = c.overflow if narrow else None
    return c.assembly.emit(
        c.kernel, (c.register,), c.target, p=narrow, message=c.message, overflow=overflow
    )


def _to_decimal(c: _Cast) -> int:
    kernel = "float32_to_decimal" if pa.types.is_float32(c.source) else c.kernel
    precision, scale = precision_of(c.target), scale_of(c.target)
    message = c.message if family(c.source) == "text" else None
    overflow = None if message else c.overflow
    return c.assembly.emit(
        kernel, (c.register,), c.target, p=precision, q=scale, message=message, overflow=overflow
    )


def _decimal_to_decimal(c: _Cast) -> int:
    source, target = scale_of(c.source), scale_of(c.target)
    if source == target and precision_of(c.source) <= precision_of(c.target):
        return c.register
    return rescale(c.assembly, c.register, source, c.target, c.overflow)


def _decimal_to_integer(c: _Cast) -> int:
    whole = pa.decimal128(MAX_DIGITS, 0)
    register = rescale(c.assembly, c.register, scale_of(c.source), whole, c.overflow)
    low, high = integer_range(c.target)
    return c.assembly.emit(c.kernel, (register,), c.target, p=low, q=high, overflow=c.overflow)


def _decimal_to_float(c: _Cast) -> int:
    narrow = int(pa.types.is_float32(c.target))
    return c.assembly.emit(c.kernel, (c.register,), c.target, p=narrow, q=scale_of(c.source))


def _float_to_text(c: _Cast) -> int:
    narrow = int(pa.types.is_float32(c.source))
    return c.assembly.emit(c.kernel, (c.register,), c.target, p=narrow)


def _decimal_to_text(c: _Cast) -> int:
    bare = int(c.source == NUMERIC)
    return c.assembly.emit(c.kernel, (c.register,), c.target, p=bare, q=scale_of(c.source))


def _zone(type_: pa.DataType) -> int:
    assert isinstance(type_, pa.TimestampType)
    return int(type_.tz is not None)


def _timestamp_to_text(c: _Cast) -> int:
    return c.assembly.emit(c.kernel, (c.register,), c.target, p=_zone(c.source))


def _text_to_timestamp(c: _Cast) -> int:
    return c.assembly.emit(
        c.kernel,
        (c.register,),
        c.target,
        p=_zone(c.target),
        message=c.message,
        overflow=c.overflow,
    )


def _parsed(c: _Cast) -> int:
    return c.assembly.emit(
        c.kernel, (c.register,), c.target, message=c.message, overflow=c.overflow
    )


_WAYS: dict[tuple[str, str], _Way] = {
    **{
        (source, target): _to_integer
        for source in ("signed", "unsigned", "float", "text")
        for target in ("signed", "unsigned")
    },
    ("bool", "signed"): _plain,
    ("bool", "unsigned"): _same,
    ("signed", "bool"): _integer_to_bool,
    ("unsigned", "bool"): _integer_to_bool,
    ("decimal", "bool"): _plain,
    ("signed", "float"): _to_float,
    ("unsigned", "float"): _to_float,
    ("float", "float"): _float_to_float,
    ("text", "float"): _text_to_float,
    **{(source, "decimal"): _to_decimal for source in ("signed", "unsigned", "float", "text")},
    ("decimal", "decimal"): _decimal_to_decimal,
    ("decimal", "signed"): _decimal_to_integer,
    ("decimal", "unsigned"): _decimal_to_integer,
    ("decimal", "float"): _decimal_to_float,
    **{(source, "text"): _plain for source in ("bool", "signed", "unsigned", "date", "time")},
    ("float", "text"): _float_to_text,
    ("decimal", "text"): _decimal_to_text,
    ("timestamp", "text"): _timestamp_to_text,
    ("json", "text"): _same,
    ("text", "bool"): _parsed,
    ("text", "date"): _parsed,
    ("text", "time"): _parsed,
    ("text", "timestamp"): _text_to_timestamp,
    ("date", "timestamp"): _overflowing,
    ("timestamp", "date"): _plain,
    ("timestamp", "time"): _plain,
    ("timestamp", "timestamp"): _same,
}

CASTING: dict[str, Lowering] = {"cast": cast}
