"""Values that a writer's schema, or the table's declaration, gives a meaning to typed columns.

| written as | column |
| --- | --- |
| `time.Date`, Connect's and Avro's date: days | date32 |
| `time.IsoDate` | date32 |
| `time.Time`, Connect's Time, `time-millis`: ms; `MicroTime`; `NanoTime` | time64, interval |
| `time.ZonedTime`, `IsoTime` in UTC | time64 |
| `time.Timestamp`, Connect's Timestamp, `timestamp-millis`: ms; `Micro-`; `Nano-` | timestamp |
| `time.ZonedTimestamp`: a text with its offset; `IsoTimestamp` | timestamp |
| `time.MicroDuration`, `NanoDuration`, `Interval`; Avro's `duration` | interval |
| Connect's Decimal, Avro's decimal: unscaled bytes; `data.VariableScaleDecimal` | decimal128 |
| a Decimal without a scale, as of MySQL's BIGINT UNSIGNED | also int, uint |
| `data.Bits`: bytes, the lowest first | binary, int, utf8 (its digits) |
| `data.EnumSet` | utf8, list<utf8> |
| maps, structs and arrays, plain numbers and booleans | json |
| all others | as `formats.columns` says, of the kind that is written |

Nanoseconds are taken only where they are whole microseconds. A column of integers takes any count
as it is written. A float of JSON is a decimal as it is written, never by way of a float; one of
Avro is none, since it has lost digits already.
"""

from base64 import b64decode
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from connectors.columns.documents import described_text
from connectors.columns.faults import OUT_OF_RANGE, WRONG_TYPE, ValueFault
from connectors.columns.to_arrow import (
    Converter,
    Values,
    clock,
    converter,
    decimals,
    expect,
    integers,
    lists,
    read,
    within,
)
from connectors.columns.writer_schema import Logical
from ivm.values.forms import parse_bool, parse_float, parse_int
from ivm.values.types import INTERVAL, JSON, UUID, Interval, interval_constant

_MS, _US, _NS = (1000, 1), (1, 1), (1, 1000)
_UNITS: Mapping[str, tuple[int, int]] = {"ms": _MS, "us": _US, "ns": _NS}
# No decimal128 has more digits, and longer integers take long to spell.
_LONGEST = 32
_SCALE = 10_000
# Texts of numbers as PostgreSQL reads them; of infinite ones, and of those that are zero.
_INTEGER = r"^[\s\v]*[+-]?[0-9]+[\s\v]*$"
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_INFINITY = r"(?i)inf"
_ZERO = r"(?i)^[\s\v]*[+-]?(0x)?[0.]*(0|0\.)([ep][+-]?[0-9]+)?[\s\v]*$"
_SPACES = " \t\n\r\f\v"


# Those of Debezium and Connect; Avro's logical types have no package.
_PACKAGES = ("", "io.debezium.time", "io.debezium.data", "org.apache.kafka.connect.data")


class Incompatible(Exception):
    """A column cannot take the values that the writer's schema describes."""


def by_declaration(encoding: str | None, dtype: pa.DataType) -> Converter:
    """The converter for values without a schema, read as the table's `encodings` say."""
    if encoding is None:
        return converter(dtype)
    if pa.types.is_list(dtype):
        return lists(by_declaration(encoding, dtype.value_type))
    if encoding == "base64":
        assert pa.types.is_decimal128(dtype)
        return partial(of_unscaled, scale=dtype.scale)
    return partial(counted, unit=_UNITS[encoding])


def by_text(dtype: pa.DataType) -> Converter:
    """The converter for texts, each of which spells one value."""
    if pa.types.is_list(dtype):
        return _spelled_lists
    if pa.types.is_integer(dtype):
        return _spelled_integers
    if pa.types.is_floating(dtype):
        return _spelled_floats
    if pa.types.is_boolean(dtype):
        return partial(_spelled_by, parse_bool)
    if pa.types.is_binary(dtype):
        return _spelled_bytes
    if pa.types.is_string(dtype) or dtype in (JSON, UUID):
        return converter(dtype)
    return _trimmed


def _spelled_integers(values: Values, kinds: set[type], dtype: pa.DataType) -> pa.Array:
    expect(kinds, str)
    texts: Any = pa.array(values, pa.string())
    if pc.any(pc.invert(pc.match_substring_regex(texts, _INTEGER))).as_py():
        raise ValueFault(WRONG_TYPE, f"a text that is no {dtype}")
    try:
        found: pa.Array = texts.cast(dtype)
    except pa.ArrowInvalid:  # beyond the type, or with a sign or space
        return integers([None if v is None else _int(v) for v in values], {int}, dtype)
    return found


def _int(digits: str) -> int:
    try:
        return parse_int(digits)
    except ValueError as error:
        raise ValueFault(OUT_OF_RANGE, "an integer of thousands of digits") from error


def _spelled_floats(values: Values, kinds: set[type], dtype: pa.DataType) -> pa.Array:
    """Floats out of texts; a number that none is near, or none but zero, is out of range."""
    expect(kinds, str)
    texts: Any = pa.array(values, pa.string())
    if pc.all(pc.match_substring_regex(texts, _NUMBER), min_count=0).as_py():
        column: pa.Array = texts.cast(dtype)
    else:
        column = _spelled_by(parse_float, values, kinds, pa.float64()).cast(dtype)
    far = pc.and_not(pc.is_inf(column), pc.match_substring_regex(texts, _INFINITY))
    if (
        pc.any(far).as_py()
        or pc.any(
            pc.and_not(
                pc.equal(column, pa.scalar(0, dtype)), pc.match_substring_regex(texts, _ZERO)
            )
        ).as_py()
    ):
        raise ValueFault(OUT_OF_RANGE, f"a number beyond {dtype}")
    return column


def _spelled_by(
    parse: Callable[[str], Any], values: Values, kinds: set[type], dtype: pa.DataType
) -> pa.Array:
    """A column of the values that `parse` makes; its ValueError is a fault."""
    expect(kinds, str)
    return read(values, parse, dtype, str(dtype))


def _spelled_bytes(values: Values, kinds: set[type], dtype: pa.DataType) -> pa.Array:
    """Bytes out of base64, or of PostgreSQL's hexadecimal form: `\\x0aff`."""
    expect(kinds, str)
    try:
        contents = [bytes.fromhex(v[2:]) if v and v.startswith(r"\x") else v for v in values]
    except ValueError as error:
        raise ValueFault(WRONG_TYPE, "a text with other than hexadecimal digits") from error
    return converter(dtype)(contents, {str, bytes}, dtype)


def _trimmed(values: Values, kinds: set[type], dtype: pa.DataType) -> pa.Array:
    """Values whose text forms may have space around them."""
    expect(kinds, str)
    return converter(dtype)([None if v is None else v.strip(_SPACES) for v in values], kinds, dtype)


def of_latin_letters(values: Values, kinds: set[type], dtype: pa.DataType) -> pa.Array:
    """Bytes out of texts that have a letter of Latin 1 for each."""
    expect(kinds, str)
    try:
        contents = [None if v is None else v.encode("latin-1") for v in values]
    except UnicodeEncodeError as error:
        raise ValueFault(WRONG_TYPE, "a text with letters beyond Latin 1") from error
    return pa.array(contents, dtype)


def _spelled_lists(values: Values, kinds: set[type], dtype: pa.DataType) -> pa.Array:
    """Lists out of JSON arrays."""
    expect(kinds, str)
    try:
        arrays = [None if v is None else orjson.loads(v) for v in values]
    except orjson.JSONDecodeError as error:
        raise ValueFault(WRONG_TYPE, "a text that is no JSON array") from error
    return lists(None)(arrays, set(map(type, arrays)) - {type(None)}, dtype)


def by_schema(
    logical: Logical, dtype: pa.DataType, encoding: str | None, is_text: bool
) -> Converter:
    """The converter for values as `logical` says they are written; `is_text` if in JSON.

    `encoding`, of the table's, holds where the schema gives no meaning. Raises Incompatible.
    """
    if pa.types.is_list(dtype):
        if logical.name.endswith(".EnumSet"):
            return _members
        if logical.kind == "array" and logical.element is not None:
            return lists(by_schema(logical.element, dtype.value_type, None, is_text))
    make = _MEANINGS.get(_short(logical.name))
    if make is not None and (found := make(logical, dtype)) is not None:
        return found
    if dtype == JSON and (logical.kind in _NESTED or (logical.kind in _PLAIN and not logical.name)):
        return described
    if encoding is not None:
        return by_declaration(encoding, dtype)
    has_digits = is_text and logical.kind == "float" and pa.types.is_decimal128(dtype)
    if not has_digits and logical.kind not in _KINDS.get(_family(dtype), ()):
        raise Incompatible(f"a column of type {dtype} cannot take {logical}")
    return converter(dtype)


def _short(name: str) -> str:
    """A meaning without its package; a name of anybody else's has none."""
    package, _, short = name.rpartition(".")
    return short if package in _PACKAGES else ""


def _family(dtype: pa.DataType) -> str:
    if pa.types.is_integer(dtype):
        return "int"
    if pa.types.is_floating(dtype):
        return "float"
    if pa.types.is_decimal128(dtype):
        return "decimal"
    if dtype in (INTERVAL, UUID, JSON):
        return "text"
    return {pa.bool_(): "bool", pa.binary(): "bytes"}.get(dtype, "text")


# Types that are documents whatever they mean, and those that are if they mean nothing else.
_NESTED = ("map", "struct", "array")
_PLAIN = ("bool", "int", "float")

# Where a schema gives no meaning: of which kinds a column takes values. What has a text form
# (dates, times, UUIDs, documents) takes it.
_KINDS: Mapping[str, tuple[str, ...]] = {
    "bool": ("bool",),
    "int": ("int",),
    "float": ("float", "int"),
    "decimal": ("string", "int"),
    "bytes": ("bytes", "string"),
    "text": ("string",),
}


def _count(unit: tuple[int, int], *families: str) -> Callable[[Logical, pa.DataType], Any]:
    """A count of `unit`, for columns of these families."""

    def make(logical: Logical, dtype: pa.DataType) -> Converter | None:
        family = next((name for name, test in _TEMPORAL.items() if test(dtype)), None)
        if logical.kind != "int" or family not in families:
            return None
        return partial(counted, unit=unit)

    return make


_TEMPORAL: Mapping[str, Callable[[pa.DataType], bool]] = {
    "date": pa.types.is_date32,
    "time": pa.types.is_time64,
    "timestamp": pa.types.is_timestamp,
    "interval": INTERVAL.__eq__,
}


def counted(
    values: Values, kinds: set[type], dtype: pa.DataType, unit: tuple[int, int]
) -> pa.Array:
    """Dates, times and intervals out of counts of `unit[0] / unit[1]` days or microseconds."""
    counts = integers(values, kinds, pa.int64())
    times, parts = unit
    try:
        if times > 1:
            counts = pc.multiply_checked(counts, times)
        if parts > 1:
            whole = pc.divide(counts, parts)
            if not pc.all(pc.equal(pc.multiply(whole, parts), counts)).as_py() and len(counts):
                raise ValueFault(OUT_OF_RANGE, f"nanoseconds, which {dtype} does not hold")
            counts = whole
    except pa.ArrowInvalid as error:
        raise ValueFault(OUT_OF_RANGE, f"a {dtype} out of its range") from error
    if dtype == INTERVAL:
        spans = counts.to_pylist()
        return read(spans, lambda n: interval_constant(Interval(0, 0, n)), dtype, "interval")
    if pa.types.is_date32(dtype):
        counts = integers(counts.to_pylist(), {int}, pa.int32())
    return within(counts, dtype)


def _decimal(logical: Logical, dtype: pa.DataType) -> Converter | None:
    if logical.kind != "bytes":
        return None
    if pa.types.is_integer(dtype) and logical.scale == 0:
        return _whole
    return partial(of_unscaled, scale=logical.scale) if pa.types.is_decimal128(dtype) else None


def _whole(values: Values, kinds: set[type], dtype: pa.DataType) -> pa.Array:
    """Integers out of the bytes of decimals without a scale."""
    expect(kinds, str, bytes)
    return integers([None if v is None else int(_spelled(v, 0)) for v in values], {int}, dtype)


def of_unscaled(values: Values, kinds: set[type], dtype: pa.DataType, scale: int) -> pa.Array:
    """Decimals out of the bytes of their unscaled value (base64 in JSON), of this scale."""
    expect(kinds, str, bytes)
    texts = [None if v is None else _spelled(v, scale) for v in values]
    return decimals(texts, {str}, dtype)


def _spelled(value: str | bytes, scale: int) -> str:
    try:
        content = b64decode(value, validate=True) if isinstance(value, str) else value
    except ValueError as error:
        raise ValueFault(WRONG_TYPE, "a string that is not base64") from error
    if not content:
        raise ValueFault(WRONG_TYPE, "a decimal of no bytes")
    if len(content) > _LONGEST:
        raise ValueFault(OUT_OF_RANGE, f"a decimal of {len(content)} bytes")
    unscaled = int.from_bytes(content, "big", signed=True)
    if scale == 0:
        return str(unscaled)
    if not 0 < scale <= _LONGEST:
        return f"{unscaled}E{-scale}"
    digits = str(abs(unscaled)).rjust(scale + 1, "0")
    return f"{'-' if unscaled < 0 else ''}{digits[:-scale]}.{digits[-scale:]}"


def _variable_scale(logical: Logical, dtype: pa.DataType) -> Converter | None:
    if not pa.types.is_decimal128(dtype) or logical.kind != "struct":
        return None
    return _scaled


def _scaled(values: Values, kinds: set[type], dtype: pa.DataType) -> pa.Array:
    """Decimals out of structs of a scale and the bytes of the unscaled value."""
    expect(kinds, dict)

    def spelled(value: Mapping[str, Any]) -> str:
        scale, content = value.get("scale"), value.get("value")
        if type(scale) is int and abs(scale) <= _SCALE and isinstance(content, (str, bytes)):
            return _spelled(content, scale)
        raise ValueFault(WRONG_TYPE, "an object without 'scale' and 'value'")

    return decimals([None if v is None else spelled(v) for v in values], {str}, dtype)


def _zoned_time(logical: Logical, dtype: pa.DataType) -> Converter | None:
    if not pa.types.is_time64(dtype) or logical.kind != "string":
        return None
    return _utc_clock


def _utc_clock(values: Values, kinds: set[type], dtype: pa.DataType) -> pa.Array:
    """Times of day out of ISO texts, whose offset, if there is one, is UTC's."""
    expect(kinds, str)
    texts = (None if v is None else v.removesuffix("Z").removesuffix("+00:00") for v in values)
    return clock(list(texts))


def _iso(logical: Logical, dtype: pa.DataType) -> Converter | None:
    """Debezium's ISO dates and timestamps, which end in `Z` where the column has no zone."""
    is_naive = pa.types.is_timestamp(dtype) and dtype.tz is None
    if logical.kind != "string" or not (is_naive or pa.types.is_date32(dtype)):
        return None

    def convert(values: Values, kinds: set[type], dtype: pa.DataType) -> pa.Array:
        expect(kinds, str)
        texts = [None if v is None else v.removesuffix("Z") for v in values]
        return converter(dtype)(texts, kinds, dtype)

    return convert


def _duration(logical: Logical, dtype: pa.DataType) -> Converter | None:
    return _months_days_millis if dtype == INTERVAL and logical.kind == "bytes" else None


def _months_days_millis(values: Values, kinds: set[type], dtype: pa.DataType) -> pa.Array:
    """Intervals out of Avro's durations: three unsigned numbers of 4 bytes, the lowest first."""
    expect(kinds, bytes)

    def make(value: bytes) -> Any:
        months, days, millis = np.frombuffer(value, "<u4").tolist()
        return interval_constant(Interval(months, days, millis * 1000))

    return read(values, make, dtype, "duration")


def _bits(logical: Logical, dtype: pa.DataType) -> Converter | None:
    if logical.kind != "bytes" or not (pa.types.is_integer(dtype) or pa.types.is_string(dtype)):
        return None
    length = logical.length

    def convert(values: Values, kinds: set[type], dtype: pa.DataType) -> pa.Array:
        content = converter(pa.binary())(values, kinds, pa.binary()).to_pylist()
        if b"" in content:
            raise ValueFault(WRONG_TYPE, "a bit string of no bytes")
        numbers = [None if v is None else int.from_bytes(v, "little") for v in content]
        if pa.types.is_integer(dtype):
            return integers(numbers, {int}, dtype)
        return pa.array([None if n is None else f"{n:0{length}b}" for n in numbers], dtype)

    return convert


def _members(values: Values, kinds: set[type], dtype: pa.DataType) -> pa.Array:
    """Lists out of texts with commas between their members."""
    expect(kinds, str)
    split = [None if v is None else v.split(",") if v else [] for v in values]
    return lists(None)(split, {list}, dtype)


def described(values: Values, kinds: set[type], dtype: pa.DataType) -> pa.Array:
    """Documents out of values that a schema describes: maps, structs and arrays, numbers."""
    return read(values, described_text, dtype, "document")


_MEANINGS: Mapping[str, Callable[[Logical, pa.DataType], Converter | None]] = {
    "Date": _count(_US, "date"),
    "date": _count(_US, "date"),
    # MySQL's TIME goes from -838 hours to 838, which an interval holds.
    "Time": _count(_MS, "time", "interval"),
    "time-millis": _count(_MS, "time", "interval"),
    "MicroTime": _count(_US, "time", "interval"),
    "time-micros": _count(_US, "time", "interval"),
    "NanoTime": _count(_NS, "time", "interval"),
    "Timestamp": _count(_MS, "timestamp"),
    "timestamp-millis": _count(_MS, "timestamp"),
    "local-timestamp-millis": _count(_MS, "timestamp"),
    "MicroTimestamp": _count(_US, "timestamp"),
    "timestamp-micros": _count(_US, "timestamp"),
    "local-timestamp-micros": _count(_US, "timestamp"),
    "NanoTimestamp": _count(_NS, "timestamp"),
    "timestamp-nanos": _count(_NS, "timestamp"),
    "local-timestamp-nanos": _count(_NS, "timestamp"),
    "MicroDuration": _count(_US, "interval"),
    "NanoDuration": _count(_NS, "interval"),
    "duration": _duration,
    "Decimal": _decimal,
    "decimal": _decimal,
    "VariableScaleDecimal": _variable_scale,
    "ZonedTime": _zoned_time,
    "IsoTime": _zoned_time,
    "IsoDate": _iso,
    "IsoTimestamp": _iso,
    "Bits": _bits,
}
