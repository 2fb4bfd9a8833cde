"""Families group the types that share kernels, such as all integers with a sign."""

from collections.abc import Callable

import pyarrow as pa

from ivm.dataflow.expressions import Call, Expression, Literal
from ivm.errors import Unsupported
from ivm.values.type_names import shown
from ivm.values.types import INTERVAL, JSON, UUID


def family(type_: pa.DataType) -> str:
    """Name the family of kernels for values of this type (raises Unsupported)."""
    for name, belongs in _FAMILIES.items():
        if belongs(type_):
            return name
    raise Unsupported(f"values of type {shown(type_)}")


_FAMILIES: dict[str, Callable[[pa.DataType], bool]] = {
    "bool": pa.types.is_boolean,
    "signed": pa.types.is_signed_integer,
    "unsigned": pa.types.is_unsigned_integer,
    "float": lambda t: pa.types.is_float32(t) or pa.types.is_float64(t),
    "decimal": pa.types.is_decimal128,
    "text": pa.types.is_string,
    "binary": pa.types.is_binary,
    "date": pa.types.is_date32,
    "time": pa.types.is_time64,
    "timestamp": pa.types.is_timestamp,
    "interval": lambda t: t == INTERVAL,
    "uuid": lambda t: t == UUID,
    "json": lambda t: t == JSON,
    "list": pa.types.is_list,
    "struct": pa.types.is_struct,
}


def scale_of(type_: pa.DataType) -> int:
    """Count the digits after a decimal's point."""
    assert isinstance(type_, pa.Decimal128Type)
    return int(type_.scale)


def precision_of(type_: pa.DataType) -> int:
    """Count the digits of a decimal."""
    assert isinstance(type_, pa.Decimal128Type)
    return int(type_.precision)


def comparison(type_: pa.DataType) -> str:
    """Name the comparison of this type's words: `word`, `decimal` (two words) or `string`."""
    name = family(type_)
    if name in ("text", "binary", "list", "struct", "json", "interval"):
        return "string"
    return "decimal" if name in ("decimal", "uuid") else "word"


def integer_range(type_: pa.DataType) -> tuple[int, int]:
    """Give the least and greatest value; the greatest uint64 as its two's complement, -1."""
    bits = type_.bit_width
    if pa.types.is_unsigned_integer(type_):
        return 0, -1 if bits == 64 else (1 << bits) - 1
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


def same_family(call: Call, *expressions: Expression) -> str:
    """Name the one family of `expressions` (raises Unsupported if they differ)."""
    names = {family(e.type) for e in expressions}
    if len(names) != 1:
        types = ", ".join(shown(e.type) for e in expressions)
        raise Unsupported(f"{call.function} of {types}")
    return names.pop()


def takes(call: Call, least: int, most: float) -> None:
    """Raise Unsupported unless there are `least` to `most` arguments."""
    if not least <= len(call.arguments) <= most:
        raise Unsupported(f"{call.function} of {len(call.arguments)} arguments")


def wants(call: Call, *families: str) -> None:
    """Raise Unsupported unless the arguments are of these families, in this order."""
    if [family(a.type) for a in call.arguments] != list(families):
        types = ", ".join(shown(a.type) for a in call.arguments)
        raise Unsupported(f"{call.function} of ({types})")


def gives(call: Call, *families: str) -> None:
    """Raise Unsupported unless the result is of one of these families."""
    if family(call.type) not in families:
        raise Unsupported(f"{call.function} as {shown(call.type)}")


def literal_text(call: Call, position: int) -> str:
    """Give the text of a literal argument (raises Unsupported for any other)."""
    argument = call.arguments[position]
    if not isinstance(argument, Literal) or not isinstance(argument.value, str):
        raise Unsupported(f"{call.function} with argument {position + 1} that is not literal text")
    return argument.value
