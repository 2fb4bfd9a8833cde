"""Python values that callers give: each is one of its column's type, or is refused by its name.

A value has three ways in, which take and refuse the same: as a key that is looked up, as a row of a
`Constant`, and as a `Literal`.
"""

import uuid
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.expressions import Literal
from ivm.dataflow.nodes import Constant, Map, Reduce
from ivm.errors import SchemaMismatch, Unsupported
from ivm.pool import Pool
from ivm.values.types import INTERVAL, JSON, UUID

INT, SINGLE, DOUBLE, TEXT, DAY = pa.int64(), pa.float32(), pa.float64(), pa.string(), pa.date32()
PRICE, CLOCK, LOCAL = pa.decimal128(10, 2), pa.time64("us"), pa.timestamp("us")
MOMENT = pa.timestamp("us", "UTC")
LIST = pa.list_(INT)
NOON = datetime(2020, 2, 29, 12, 0, 0, 1)
NOON_UTC = NOON.replace(tzinfo=UTC)
IDENTITY = uuid.UUID(int=7)

month_day_nano: Any = pa.MonthDayNano

TAKEN: dict[str, tuple[pa.DataType, object, object]] = {
    "NULL": (INT, None, None),
    "a truth value": (pa.bool_(), True, True),
    "NumPy's truth value": (pa.bool_(), np.bool_(True), True),
    "the greatest of 8 bits": (pa.int8(), 127, 127),
    "the least of 64 bits": (INT, -(2**63), -(2**63)),
    "the greatest of 64 bits without a sign": (pa.uint64(), 2**64 - 1, 2**64 - 1),
    "NumPy's integer": (INT, np.int64(5), 5),
    "NumPy's integer of another width": (INT, np.uint8(5), 5),
    "Arrow's integer": (INT, pa.scalar(5, INT), 5),
    "a float": (DOUBLE, 0.1, 0.1),
    "NumPy's float": (DOUBLE, np.float64(0.1), 0.1),
    "a single float of NumPy's as a double": (DOUBLE, np.float32(1.5), 1.5),
    "an integer as a float": (DOUBLE, 3, 3.0),
    "the nearest single float": (SINGLE, 0.1, float(np.float32(0.1))),
    "the greatest single float, as it is written": (SINGLE, 3.4028235e38, 2.0**128 - 2.0**104),
    "an infinite single float": (SINGLE, float("inf"), float("inf")),
    "a decimal": (PRICE, Decimal("1.50"), Decimal("1.50")),
    "a decimal of fewer digits": (PRICE, Decimal("1.5"), Decimal("1.50")),
    "an integer as a decimal": (PRICE, 2, Decimal("2.00")),
    "a date": (DAY, date(2020, 2, 29), date(2020, 2, 29)),
    "the days since 1970": (DAY, 1, date(1970, 1, 2)),
    "a time": (CLOCK, time(1, 2, 3, 4), time(1, 2, 3, 4)),
    "a local timestamp": (LOCAL, NOON, NOON),
    "NumPy's timestamp": (LOCAL, np.datetime64(NOON, "us"), NOON),
    "the microseconds since 1970": (LOCAL, 1, datetime(1970, 1, 1, 0, 0, 0, 1)),
    "a moment": (MOMENT, NOON_UTC, NOON_UTC),
    "a moment of another zone": (
        MOMENT,
        NOON_UTC.astimezone(timezone(timedelta(hours=2))),
        NOON_UTC,
    ),
    "an interval": (INTERVAL, month_day_nano([1, -2, 3000]), month_day_nano([1, -2, 3000])),
    "a timedelta": (INTERVAL, timedelta(1, 2, 3), month_day_nano([0, 1, 2_000_003_000])),
    "a text": (TEXT, "ünïcode", "ünïcode"),
    "bytes": (pa.binary(), b"\xff", b"\xff"),
    "a UUID": (UUID, IDENTITY, IDENTITY),
    "a UUID's bytes": (UUID, IDENTITY.bytes, IDENTITY),
    "a document": (JSON, '{"a": 1}', '{"a": 1}'),
    "a list": (LIST, (1, None, 3), [1, None, 3]),
    "an empty list": (LIST, (), []),
    "a list of UUIDs": (pa.list_(UUID), (IDENTITY,), [IDENTITY]),
    "a list of lists": (pa.list_(LIST), ((1,), None), [[1], None]),
}

REFUSED: dict[str, tuple[pa.DataType, object]] = {
    "a float for an integer": (INT, 1.5),
    "a whole float for an integer": (INT, 1.0),
    "NumPy's double for an integer": (INT, np.float64(1.5)),
    "NumPy's single for an integer": (INT, np.float32(1.5)),
    "NumPy's half for an integer": (INT, np.float16(1.5)),
    "a decimal for an integer": (INT, Decimal("1.9")),
    "Arrow's float for an integer": (INT, pa.scalar(1.5)),
    "a truth value for an integer": (INT, True),
    "NumPy's truth value for an integer": (INT, np.bool_(True)),
    "a moment of NumPy's for an integer": (INT, np.datetime64(1, "ns")),
    "a text for an integer": (INT, "1"),
    "a list for an integer": (INT, (1,)),
    "more than 8 bits": (pa.int8(), 128),
    "more than 64 bits": (INT, 2**63),
    "many more than 64 bits": (INT, 2**70),
    "less than nothing without a sign": (pa.uint16(), -1),
    "an integer for a truth value": (pa.bool_(), 1),
    "a truth value for a float": (DOUBLE, True),
    "a decimal for a float": (DOUBLE, Decimal("1.5")),
    "an integer that no float is": (DOUBLE, 2**53 + 1),
    "NumPy's integer that no float is": (DOUBLE, np.int64(2**53 + 1)),
    "an integer that no single float is": (SINGLE, 2**24 + 1),
    "more than double precision": (DOUBLE, np.longdouble("0.1")),
    "a float beyond single ones": (SINGLE, 1e300),
    "a float for a decimal": (PRICE, 1.5),
    "a decimal of more digits": (PRICE, Decimal("1.999")),
    "a decimal that is too great": (PRICE, Decimal("1e9")),
    "a decimal that is no number": (PRICE, Decimal("NaN")),
    "a fraction of days for a date": (DAY, 2.5),
    "a local timestamp for a date": (DAY, NOON),
    "a text for a date": (DAY, "2020-02-29"),
    "a number for a time": (CLOCK, 5),
    "a time of a zone": (CLOCK, time(1, tzinfo=UTC)),
    "a fraction of microseconds": (LOCAL, 5.7),
    "a decimal of microseconds": (LOCAL, Decimal("5.7")),
    "a date for a timestamp": (LOCAL, date(2020, 2, 29)),
    "nanoseconds for microseconds": (LOCAL, np.datetime64(1, "ns")),
    "no moment at all": (LOCAL, np.datetime64("NaT", "us")),
    "a moment for a local timestamp": (LOCAL, NOON_UTC),
    "a local timestamp for a moment": (MOMENT, NOON),
    "an interval with a part of a microsecond": (INTERVAL, month_day_nano([0, 0, 1500])),
    "numbers for an interval": (INTERVAL, (1, 2, 3)),
    "bytes for a text": (TEXT, b"a"),
    "half of a character": (TEXT, "\ud800"),
    "a text for bytes": (pa.binary(), "a"),
    "sixteen characters for a UUID": (UUID, "0123456789abcdef"),
    "fifteen bytes for a UUID": (UUID, bytes(15)),
    "bytes for a document": (JSON, b"{}"),
    "a text for a list": (pa.list_(TEXT), "abc"),
    "bytes for a list": (LIST, b"abc"),
    "an interval for a list": (LIST, month_day_nano([1, 2, 3])),
    "a list of fractions for one of integers": (LIST, (1, 1.5)),
    "a list of lists of fractions": (pa.list_(LIST), ((1.5,),)),
}


@pytest.fixture
def pool() -> Pool:
    pool = Pool()
    pool.advance(1)
    return pool


Way = Callable[[Pool, pa.DataType, Any], object]


def _as_key(pool: Pool, type_: pa.DataType, value: Any) -> object:
    pool.create_input("input", pa.schema([pa.field("a", type_)]), ["a"])
    try:
        return pool.peek("input", {"a": value})
    finally:
        pool.drop_input("input")


def _as_constant(pool: Pool, type_: pa.DataType, value: Any) -> object:
    pool.install("constant", Constant(((value,),), pa.schema([pa.field("a", type_)])), ["a"])
    return pool.scan("constant").rows["a"].to_pylist()


def _as_literal(pool: Pool, type_: pa.DataType, value: Any) -> object:
    one = Constant(((0,),), pa.schema([pa.field("zero", INT)]))
    pool.install("literal", Map(one, (("a", Literal(value, type_)),)), ["a"])
    return pool.scan("literal").rows["a"].to_pylist()


@pytest.mark.parametrize("case", TAKEN)
def test_a_value_is_held_as_it_is_and_found_again(pool: Pool, case: str) -> None:
    type_, value, held = TAKEN[case]
    assert _as_constant(pool, type_, value) == [held]
    assert _as_literal(pool, type_, value) == [held]
    for name in ("constant", "literal"):
        assert pool.peek(name, {"a": value}).rows["a"].to_pylist() == [held]


@pytest.mark.parametrize("way", [_as_key, _as_constant, _as_literal])
@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_value_of_the_type_is_refused_and_changes_nothing(
    pool: Pool, case: str, way: Way
) -> None:
    type_, value = REFUSED[case]
    with pytest.raises(SchemaMismatch) as refusal:
        way(pool, type_, value)
    column = "literal" if way is _as_literal else "a"
    assert str(refusal.value).startswith(f"column '{column}' is {type_}: ")
    assert pool.names == frozenset()


@pytest.mark.parametrize("value", [[1, 2], (1, 2), np.array([1, 2]), pa.scalar([1, 2], LIST)])
def test_a_list_is_looked_up_by_any_sequence_of_its_elements(pool: Pool, value: object) -> None:
    _as_constant(pool, LIST, (1, 2))
    assert pool.peek("constant", {"a": value}).counts.tolist() == [1]


@pytest.mark.parametrize("value", [{1: 2}, {1}, [1.5], bytearray(b"a"), np.array(1), object()])
def test_what_only_looks_like_a_list_is_no_key(pool: Pool, value: object) -> None:
    with pytest.raises(SchemaMismatch):
        _as_key(pool, LIST, value)


@pytest.mark.parametrize("value", [[1], {1: 2}, bytearray(b"a")])
@pytest.mark.parametrize("way", [_as_constant, _as_literal])
def test_what_may_change_is_no_constant(pool: Pool, value: object, way: Way) -> None:
    for type_ in (INT, LIST):
        with pytest.raises(Unsupported):
            way(pool, type_, value)
    assert pool.names == frozenset()


def test_each_row_of_a_constant_is_looked_at(pool: Pool) -> None:
    fields: list[pa.Field] = [pa.field("a", INT), pa.field("b", TEXT)]
    with pytest.raises(SchemaMismatch, match=r"column 'a' is int64: 2\.5 does not fit"):
        pool.install("view", Constant(((1, "x"), (2.5, "y")), pa.schema(fields)), ["a"])


def test_a_constant_has_no_null_where_there_is_none(pool: Pool) -> None:
    schema = pa.schema([pa.field("a", INT, nullable=False)])
    with pytest.raises(SchemaMismatch, match="NOT NULL"):
        pool.install("view", Constant(((None,),), schema), ["a"])
    assert pool.names == frozenset()


def test_rows_of_no_columns_are_as_many_as_were_given(pool: Pool) -> None:
    empty = Constant(((), ()), pa.schema([]))
    pool.install("view", empty, [])
    assert pool.scan("view").counts.tolist() == [2]
    count = Aggregate("count", None, "n", INT, False)
    pool.install("counted", Reduce(empty, (), (count,)), [])
    assert pool.scan("counted").rows["n"].to_pylist() == [2]
