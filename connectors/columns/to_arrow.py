"""Values of records to one typed Arrow column, strictly: nothing is truncated or guessed.

Only what SQL rounds is rounded: numbers to the nearest float, seconds of intervals to microseconds.

What a column accepts where no schema of the writer says how its values are to be read:

| column | accepts (JSON null besides, where nullable) |
| --- | --- |
| bool | true, false |
| int, uint | integers in range; neither true nor 1.0 |
| float | numbers, integers only if a double holds them exactly; "NaN", "Infinity", "-Infinity" |
| decimal128 | strings (`decimal.handling.mode=string`) and numbers, exactly as written |
| utf8 | strings |
| binary | bytes, and base64 strings |
| date32 | days since the epoch (`io.debezium.time.Date`), or an ISO string |
| time64 | microseconds since midnight (`MicroTime`), or an ISO string |
| timestamp | microseconds since the epoch (`MicroTimestamp`), or an ISO string |
| interval | microseconds (`MicroDuration`), or a string of ISO 8601 or PostgreSQL |
| uuid | strings |
| json | objects, arrays, numbers as written, booleans; strings that hold a JSON text |
| list | arrays of what the elements' type accepts, and of null |

Dates and timestamps keep to the years 1 to 9999. A count that puts a timestamp within three months
of the epoch is refused unless the table's encodings say that it is meant, since milliseconds of our
days look like that. A timestamp's string has an offset exactly if the
column has a zone.
"""

import binascii
import math
import re
from base64 import b64decode
from collections.abc import Callable, Iterable
from datetime import datetime, time, timedelta
from decimal import Context, Decimal, InvalidOperation
from itertools import accumulate
from types import NoneType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from connectors.columns.faults import NULL_VALUE, OUT_OF_RANGE, WRONG_TYPE, ValueFault
from ivm.values.documents import canonical, canonical_of
from ivm.values.forms import parse_uuid
from ivm.values.interval_text import parse_interval
from ivm.values.types import INTERVAL, JSON, UUID, Interval, interval_constant

_DAYS = (-719_162, 2_932_896)
_DAY = 86_400_000_000
BOUNDS = {
    pa.date32().id: _DAYS,
    pa.time64("us").id: (0, _DAY - 1),
    pa.timestamp("us").id: (_DAYS[0] * _DAY, (_DAYS[1] + 1) * _DAY - 1),
}
_EPOCH = datetime(1970, 1, 1)
# Counts in the first months of 1970 as microseconds, and in 1973 to 2199 as milliseconds or
# seconds, which most producers write; and as many before 1970.
_DOUBTFUL = (10**8, 7_258_118_400_000)
_UNITS = (("microseconds", 1), ("milliseconds", 1000), ("seconds", 1_000_000))
_NANOSECONDS = re.compile(r"[.,]\d{6}\d*[1-9]")
# What JSON has no numbers for, as Kafka Connect writes it, and we do.
_NO_NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_MOST_DIGITS = 38  # of a decimal128
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)

Values = list[Any]
Converter = Callable[[Values, set[type], pa.DataType], pa.Array]


def to_array(values: Values, field: pa.Field, convert: Converter | None = None) -> pa.Array:
    """The column of `values` under the type of `field`, by `convert` or as the table above says.

    Raises ValueFault when a value does not belong; with a single value, for exactly that value's
    reason.
    """
    kinds = set(map(type, values))
    if NoneType in kinds:
        if not field.nullable:
            raise ValueFault(NULL_VALUE, "NULL in a column that is not nullable")
        kinds.remove(NoneType)
    return (convert or converter(field.type))(values, kinds, field.type)


def converter(dtype: pa.DataType) -> Converter:
    """The maker of a column of this type out of values that no schema describes."""
    if pa.types.is_integer(dtype):
        return integers
    if pa.types.is_string(dtype):
        return _strings
    if pa.types.is_decimal128(dtype):
        return decimals
    if pa.types.is_floating(dtype):
        return _floats
    if pa.types.is_boolean(dtype):
        return _booleans
    if pa.types.is_date32(dtype):
        return _dates
    if pa.types.is_timestamp(dtype):
        return _timestamps
    if pa.types.is_time64(dtype):
        return _times
    if pa.types.is_list(dtype):
        return lists(None)
    if dtype == INTERVAL:
        return _intervals
    if dtype == UUID:
        return _identifiers
    if dtype == JSON:
        return _documents
    assert pa.types.is_binary(dtype), dtype
    return _binaries


def expect(kinds: set[type], *accepted: type) -> None:
    """Raise ValueFault unless the values are of these types only."""
    if not kinds <= set(accepted):
        wrong = sorted(_JSON_NAMES.get(kind, kind.__name__) for kind in kinds - set(accepted))
        raise ValueFault(WRONG_TYPE, f"found {', '.join(wrong)}")


_JSON_NAMES: dict[type, str] = {
    bytes: "bytes",
    bool: "a boolean",
    int: "an integer",
    float: "a number with fraction or exponent",
    Decimal: "a number with fraction or exponent",
    str: "a string",
    list: "an array",
    dict: "an object",
}


def integers(values: Values, kinds: set[type], dtype: pa.DataType) -> pa.Array:
    """A column of integers."""
    if not kinds <= {int}:
        inexact = [v for v in values if type(v) in (float, Decimal)]
        if inexact and all(abs(v) >= 2**63 for v in inexact):
            raise ValueFault(OUT_OF_RANGE, f"a number beyond {dtype}")
        expect(kinds, int)
    try:
        return pa.array(values, dtype)
    except (OverflowError, pa.ArrowInvalid) as error:
        raise ValueFault(OUT_OF_RANGE, f"a number beyond {dtype}") from error


def _strings(values: Values, kinds: set[type], dtype: pa.DataType) -> pa.Array:
    expect(kinds, str)
    return pa.array(values, dtype)


def _binaries(values: Values, kinds: set[type], dtype: pa.DataType) -> pa.Array:
    expect(kinds, str, bytes)
    if str in kinds:
        try:
            values = [b64decode(v, validate=True) if type(v) is str else v for v in values]
        except (binascii.Error, ValueError) as error:
            raise ValueFault(WRONG_TYPE, "a string that is not base64") from error
    return pa.array(values, dtype)


def lists(element: Converter | None) -> Converter:
    """The converter of a list's column whose elements `element` converts."""

    def convert(values: Values, kinds: set[type], dtype: pa.DataType) -> pa.Array:
        expect(kinds, list)
        assert isinstance(dtype, pa.ListType)
        flat = [e for v in values if v is not None for e in v]
        elements = to_array(flat, dtype.value_field, element)
        lengths = (0 if v is None else len(v) for v in values)
        ends = pa.array(list(accumulate(lengths, initial=0)), pa.int32())
        absent = pa.array([v is None for v in values], pa.bool_())
        array: pa.Array = pa.ListArray.from_arrays(ends, elements, mask=absent)
        return array

    return convert


def read(values: Values, make: Callable[[Any], Any], dtype: pa.DataType, what: str) -> pa.Array:
    """Applies `make` to the values that are not NULL; its ValueError becomes a fault on `what`."""
    try:
        return pa.array([None if v is None else make(v) for v in values], dtype)
    except (ValueError, OverflowError, RecursionError) as error:
        raise ValueFault(WRONG_TYPE, f"a string that is no {what}") from error


def _intervals(values: Values, kinds: set[type], dtype: pa.DataType) -> pa.Array:
    expect(kinds, str, int)

    def make(value: str | int) -> Any:
        parsed = Interval(0, 0, value) if isinstance(value, int) else parse_interval(value)
        return interval_constant(parsed)

    return read(values, make, dtype, "interval")


def _identifiers(values: Values, kinds: set[type], dtype: pa.DataType) -> pa.Array:
    expect(kinds, str)
    return read(values, lambda text: parse_uuid(text).bytes, dtype, "UUID")


def _documents(values: Values, kinds: set[type], dtype: pa.DataType) -> pa.Array:
    expect(kinds, str, dict, list, bool, int, float, Decimal)

    def make(value: Any) -> str:
        return canonical(value) if type(value) is str else canonical_of(value)

    return read(values, make, dtype, "JSON text")


def _booleans(values: Values, kinds: set[type], dtype: pa.DataType) -> pa.Array:
    expect(kinds, bool)
    return pa.array(values, dtype)


def _floats(values: Values, kinds: set[type], dtype: pa.DataType) -> pa.Array:
    if str in kinds:
        values = [_NO_NUMBERS.get(v, v) if type(v) is str else v for v in values]
        kinds = set(map(type, values)) - {NoneType}
    expect(kinds, float, int, Decimal)
    if Decimal in kinds:
        values = [float(v) if type(v) is Decimal else v for v in values]
    try:
        doubles = pa.array(values, pa.float64())
    except (OverflowError, pa.ArrowInvalid) as error:
        raise ValueFault(OUT_OF_RANGE, "an integer that a float64 does not hold exactly") from error
    column = doubles.cast(dtype)
    if dtype != pa.float64() and not pc.is_inf(column).equals(pc.is_inf(doubles)):
        raise ValueFault(OUT_OF_RANGE, f"a number beyond {dtype}")
    return column


def decimals(values: Values, kinds: set[type], dtype: pa.DataType) -> pa.Array:
    """A column of decimals, out of texts and exact numbers."""
    assert pa.types.is_decimal128(dtype)
    expect(kinds, str, int, Decimal)
    texts = values if kinds <= {str} else [None if v is None else str(v) for v in values]
    column = pa.array(texts, pa.string())
    doubtful: Any = pc.or_(
        pc.greater(pc.binary_length(column), _MOST_DIGITS - dtype.scale),
        pc.match_substring(column, "e", ignore_case=True),
    )
    try:
        if pc.any(doubtful).as_py():
            spelled = zip(texts, doubtful.to_pylist(), strict=True)
            column = pa.array([_spelled_out(t, dtype) if d else t for t, d in spelled], pa.string())
        return column.cast(dtype)
    except pa.ArrowInvalid as error:
        if all(v is None or _DECIMAL.fullmatch(v) for v in texts):
            raise ValueFault(OUT_OF_RANGE, f"a number with more digits than {dtype}") from error
        raise ValueFault(WRONG_TYPE, "a string that is not a decimal number") from error


def _spelled_out(text: str, dtype: "pa.Decimal128Type[Any, Any]") -> str:
    """A number that Arrow reads right: it wraps numbers beyond 128 bits, scaled or not."""
    if _DECIMAL.fullmatch(text) is None:
        return text
    try:
        number = Decimal(text)
    except InvalidOperation as error:
        raise ValueFault(OUT_OF_RANGE, "a number with an exponent that is too great") from error
    if not number:
        return "0"
    if -dtype.scale <= number.adjusted() < dtype.precision - dtype.scale:
        shortest = number.normalize(Context(prec=len(number.as_tuple().digits)))
        if int(shortest.as_tuple().exponent) >= -dtype.scale:
            return format(shortest, "f")
    raise ValueFault(OUT_OF_RANGE, f"a number with more digits than {dtype}")


def _dates(values: Values, kinds: set[type], dtype: pa.DataType) -> pa.Array:
    days = _counted(values, kinds, pa.int32(), lambda texts: _parsed(texts, dtype))
    return within(days, dtype)


def _timestamps(values: Values, kinds: set[type], dtype: pa.DataType) -> pa.Array:
    micros = _counted(values, kinds, pa.int64(), lambda texts: _parsed(texts, dtype))
    if int in kinds:
        _expect_micros(v for v in values if type(v) is int)
    return within(micros, dtype)


def _expect_micros(counts: Iterable[int]) -> None:
    """Raise ValueFault for a count that is near the epoch as microseconds, and not otherwise."""
    least, beyond = _DOUBTFUL
    doubtful = next((count for count in counts if least <= abs(count) < beyond), None)
    if doubtful is not None:
        moments = [
            f"{(_EPOCH + timedelta(microseconds=doubtful * micros)).date()} in {unit}"
            for unit, micros in _UNITS
            if abs(doubtful) * micros < beyond * 1000
        ]
        raise ValueFault(
            OUT_OF_RANGE,
            f"{doubtful} is {', '.join(moments)}: say in 'encodings' whether the column is in "
            "'us' or 'ms'; a column of seconds is an int64, and to_timestamp(...) in views",
        )


def _times(values: Values, kinds: set[type], dtype: pa.DataType) -> pa.Array:
    micros = _counted(values, kinds, pa.int64(), clock)
    return within(micros, dtype)


def _counted(
    values: Values, kinds: set[type], count: pa.DataType, parse: Callable[[Values], pa.Array]
) -> pa.Array:
    """Counts of days or microseconds, from integers and from strings by `parse`."""
    expect(kinds, int, str)
    if str not in kinds:
        return integers(values, kinds, count)
    if int not in kinds:
        return parse(values).cast(count)
    numbers = integers([v if type(v) is int else None for v in values], {int}, count)
    texts = parse([v if type(v) is str else None for v in values]).cast(count)
    return pc.coalesce(numbers, texts)


def _parsed(texts: Values, dtype: pa.DataType) -> pa.Array:
    try:
        return pa.array(texts, pa.string()).cast(dtype)
    except pa.ArrowInvalid as error:
        raise ValueFault(WRONG_TYPE, f"a string that is not an ISO {dtype}") from error


def clock(texts: Values) -> pa.Array:
    """Times of day out of ISO texts, of whole microseconds."""
    if any(text is not None and _NANOSECONDS.search(text) for text in texts):
        raise ValueFault(OUT_OF_RANGE, "nanoseconds, which a time does not hold")
    try:
        clocks = [None if text is None else time.fromisoformat(text) for text in texts]
    except ValueError as error:
        raise ValueFault(WRONG_TYPE, "a string that is not an ISO time") from error
    if any(clock is not None and clock.tzinfo is not None for clock in clocks):
        raise ValueFault(WRONG_TYPE, "a time with an offset")
    return pa.array(clocks, pa.time64("us"))


def within(counts: pa.Array, dtype: pa.DataType) -> pa.Array:
    """Counts of days or microseconds as dates and times of type `dtype`, if these are in range."""
    bounds = BOUNDS[dtype.id]
    least, greatest = pc.min(counts).as_py(), pc.max(counts).as_py()
    if least is not None and (least < bounds[0] or greatest > bounds[1]):
        raise ValueFault(OUT_OF_RANGE, f"a {dtype} out of its range")
    return counts.cast(dtype)
