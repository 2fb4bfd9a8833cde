"""Constants as values: the text of a literal read in the type that it takes."""

import math
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from decimal import Context, Decimal, InvalidOperation
from typing import Any

import pyarrow as pa

from ivm.expressions import Literal, Value
from ivm.rows.scripts.arrays import array_texts
from ivm.rows.scripts.documents import canonical
from ivm.rows.scripts.forms import parse_uuid
from ivm.rows.scripts.intervals import parse_interval
from ivm.rows.values import fits_single
from ivm.types import INTERVAL, JSON, UUID, interval_constant

_EXACT = Context(prec=200)
_TRUE = ("true", "yes", "on", "1")
_FALSE = ("false", "no", "off", "0")
_INTEGER = re.compile(r"[+-]?\d+")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def number(text: str) -> Literal:
    """An unquoted number, with its sign: the least of int32, int64 and decimal that holds it.

    Raises ValueError beyond 38 digits.
    """
    if text.removeprefix("-").isdigit():
        value = int(text)
        for kind in (pa.int32(), pa.int64()):
            if -(2 ** (kind.bit_width - 1)) <= value < 2 ** (kind.bit_width - 1):
                return Literal(value, kind)
    exact = _EXACT.create_decimal(text)
    _, digits, exponent = exact.as_tuple()
    assert isinstance(exponent, int)
    scale = max(-exponent, 0)
    precision = max(len(digits) + max(exponent, 0), scale, 1)
    if precision > 38:
        raise ValueError("a number has at most 38 digits")
    return Literal(
        exact.quantize(Decimal(1).scaleb(-scale), context=_EXACT), pa.decimal128(precision, scale)
    )


def exact(value: float | Decimal, kind: pa.DataType) -> Value:
    """`value` in the number type `kind`, unchanged (raises ValueError where it would change)."""
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


def read(text: str, kind: pa.DataType) -> Value:
    """A quoted constant as a value of type `kind` (raises ValueError)."""
    if pa.types.is_string(kind):
        return text
    if pa.types.is_binary(kind):
        if text.startswith("\\x"):
            return bytes.fromhex(text[2:])
        return text.encode()
    if kind == INTERVAL:
        return interval_constant(parse_interval(text))
    if kind == UUID:
        return parse_uuid(text)
    if kind == JSON:
        return canonical(text)
    if isinstance(kind, pa.ListType):
        return _array(array_texts(text, kind), kind)
    stripped = text.strip()
    if pa.types.is_boolean(kind):
        return _boolean(stripped.lower())
    if pa.types.is_date(kind):
        return (
            datetime.fromisoformat(stripped).date()
            if " " in stripped
            else date.fromisoformat(stripped)
        )
    if pa.types.is_time(kind):
        return time.fromisoformat(stripped)
    if isinstance(kind, pa.TimestampType):
        moment = datetime.fromisoformat(stripped)
        if kind.tz is None:
            return moment.replace(tzinfo=None)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    return _quoted_number(stripped, kind)


def _array(texts: Sequence[Any], kind: pa.ListType) -> Value:
    element = kind.value_type
    if isinstance(element, pa.ListType):
        return tuple(None if t is None else _array(t, element) for t in texts)
    return tuple(None if t is None else read(t, element) for t in texts)


def _quoted_number(text: str, kind: pa.DataType) -> Value:
    if pa.types.is_integer(kind):
        if not _INTEGER.fullmatch(text):
            raise ValueError("not an integer")
        return exact(int(text), kind)
    if pa.types.is_floating(kind):
        if "_" in text:
            raise ValueError("not a number")
        return _float(text, kind)
    assert isinstance(kind, pa.Decimal128Type)
    if not _NUMBER.fullmatch(text):
        raise ValueError("not a number")
    return _rounded(Decimal(text), kind)


def _float(given: str | float | Decimal, kind: pa.DataType) -> float:
    """The number as a float (raises ValueError beyond what a float32 holds, if `kind` is that)."""
    value = float(given)
    if pa.types.is_float32(kind) and not fits_single(value):
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


def _boolean(text: str) -> bool:
    true = text != "" and any(word.startswith(text) for word in _TRUE)
    false = text != "" and any(word.startswith(text) for word in _FALSE)
    if true == false:
        raise ValueError("not a boolean")
    return true


def _bounds(kind: pa.DataType) -> tuple[int, int]:
    if pa.types.is_unsigned_integer(kind):
        return 0, 2**kind.bit_width - 1
    return -(2 ** (kind.bit_width - 1)), 2 ** (kind.bit_width - 1) - 1
