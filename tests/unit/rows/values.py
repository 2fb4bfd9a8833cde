"""Values of every column type, NULLs and extremes among them, as hypothesis strategies."""

from collections.abc import Iterable
from datetime import UTC, date, datetime
from decimal import Context, Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from ivm.values.types import INTERVAL, JSON, UUID, Interval, arrow_array, interval_constant

STAMP: pa.DataType = pa.timestamp("us")
_WIDE = Context(prec=60)
ZONED: pa.DataType = pa.timestamp("us", tz="UTC")
TYPES: tuple[pa.DataType, ...] = (
    pa.bool_(),
    pa.int8(),
    pa.int16(),
    pa.int32(),
    pa.int64(),
    pa.uint8(),
    pa.uint16(),
    pa.uint32(),
    pa.uint64(),
    pa.float32(),
    pa.float64(),
    pa.decimal128(12, 2),
    pa.decimal128(38, 0),
    pa.decimal128(38, 10),
    pa.date32(),
    pa.time64("us"),
    STAMP,
    ZONED,
    pa.string(),
    pa.binary(),
)
EXTENDED: tuple[pa.DataType, ...] = (UUID, JSON, INTERVAL)
LISTS: tuple[pa.DataType, ...] = (
    pa.list_(pa.bool_()),
    pa.list_(pa.int16()),
    pa.list_(pa.float64()),
    pa.list_(pa.decimal128(38, 10)),
    pa.list_(ZONED),
    pa.list_(pa.string()),
    pa.list_(pa.list_(pa.binary())),
    pa.list_(UUID),
    pa.list_(INTERVAL),
)
STRUCTS: tuple[pa.DataType, ...] = (
    pa.struct([("a", pa.int64())]),
    pa.struct([("a", pa.bool_()), ("b", pa.string()), ("c", pa.decimal128(38, 10))]),
    pa.struct([pa.field("a", pa.binary(), False), pa.field("b", pa.struct([("c", ZONED)]))]),
    pa.struct([("u", UUID), ("j", JSON), ("i", INTERVAL), ("l", pa.list_(pa.float64()))]),
    pa.list_(pa.struct([("a", pa.string()), ("b", pa.int8())])),
)


def integers(type_: pa.DataType) -> st.SearchStrategy[int]:
    """Small numbers, and those near the ends of the type's range."""
    low, high = 0, (1 << type_.bit_width) - 1
    if pa.types.is_signed_integer(type_):
        low, high = -(1 << (type_.bit_width - 1)), (1 << (type_.bit_width - 1)) - 1
    small = st.integers(max(low, -20), 20)
    return small | st.sampled_from([low, low + 1, high - 1, high]) | st.integers(low, high)


def decimals(precision: int, scale: int) -> st.SearchStrategy[Decimal]:
    """Small numbers, and those near the ends of the type's range."""
    most = 10**precision - 1
    whole = st.integers(-999, 999) | st.sampled_from([-most, most]) | st.integers(-most, most)
    return whole.map(lambda n: Decimal(n).scaleb(-scale, _WIDE))


def floats(width: int) -> st.SearchStrategy[float]:
    """Any float, infinities and NaN among them."""
    return st.integers(-20, 20).map(float) | (
        st.floats(width=32) if width == 32 else st.floats(width=64)
    )


def intervals() -> st.SearchStrategy[Any]:
    """Small intervals of any signs, of which some have equal spans, and large ones."""
    small = st.tuples(st.integers(-3, 3), st.sampled_from([-30, -1, 0, 1, 30, 31]))
    large = st.tuples(st.integers(-(2**31), 2**31 - 1), st.integers(-(2**31), 2**31 - 1))
    micros = st.sampled_from([0, 1, -1, 86_400_000_000]) | st.integers(-(2**53), 2**53)
    return st.builds(
        lambda days, rest: interval_constant(Interval(days[0], days[1], rest)),
        small | large,
        micros,
    )


def values(type_: pa.DataType) -> st.SearchStrategy[Any]:
    """Values of a column type, without NULL."""
    if pa.types.is_boolean(type_):
        return st.booleans()
    if pa.types.is_integer(type_):
        return integers(type_)
    if pa.types.is_floating(type_):
        return floats(type_.bit_width)
    if isinstance(type_, pa.Decimal128Type):
        return decimals(type_.precision, type_.scale)
    if pa.types.is_date(type_):
        return st.dates() | st.dates(date(1999, 12, 25), date(2000, 3, 5))
    if pa.types.is_time(type_):
        return st.times()
    if isinstance(type_, pa.TimestampType):
        zones = st.none() if type_.tz is None else st.just(UTC)
        return st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=zones)
    if isinstance(type_, pa.ListType):
        return st.lists(st.none() | values(type_.value_type), max_size=5)
    if isinstance(type_, pa.StructType):
        fields = {f.name: values(f.type) for f in type_}
        absent = {f.name: st.none() for f in type_ if f.nullable}
        return st.fixed_dictionaries(
            {n: absent[n] | field if n in absent else field for n, field in fields.items()}
        )
    if type_ == UUID:
        return st.uuids()
    if type_ == JSON:
        return st.sampled_from(["null", "1.5", '"a"', "[]", '{"a": [1, 2], "bb": {"c": "é"}}'])
    if type_ == INTERVAL:
        return intervals()
    if pa.types.is_binary(type_):
        return st.binary(max_size=20)
    return st.text("aAbB %_\\,é日ß\0", max_size=12) | st.text(max_size=20)


def columns(type_: pa.DataType, size: int) -> st.SearchStrategy[list[Any]]:
    """Columns of `size` values or NULLs."""
    return st.lists(st.none() | values(type_), min_size=size, max_size=size)


def schema_of(*fields: tuple[str, pa.DataType, bool]) -> pa.Schema:
    """A schema of (name, type, nullable)."""
    return pa.schema([pa.field(name, type_, nullable) for name, type_, nullable in fields])


def batch_of(schema: pa.Schema, *values_: Iterable[Any]) -> pa.RecordBatch:
    """A batch of these columns."""
    arrays = [arrow_array(list(v), t) for v, t in zip(values_, schema.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
