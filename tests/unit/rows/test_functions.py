"""Every function, against the oracle's plain Python."""

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ivm.dataflow.expressions import Call, Column
from ivm.expressions.program import evaluate
from tests.oracle.scalars import evaluate as expected
from tests.oracle.values import NAN, Error, canonical
from tests.unit.rows.signatures import CALLS
from tests.unit.rows.values import STAMP, columns

ROWS = 8


def name(call: Call) -> str:
    arguments = ", ".join(str(getattr(a, "value", a.type)) for a in call.arguments)
    return f"{call.function}({arguments}): {call.type}"


def arguments_of(call: Call) -> dict[int, pa.DataType]:
    return {a.index: a.type for a in call.arguments if isinstance(a, Column)}


def table(call: Call, data: st.DataObject) -> pa.RecordBatch:
    """Rows for the call's columns; positions that it takes from literals hold zeros."""
    types = arguments_of(call)
    arrays = [
        pa.array(data.draw(column(call, i, types[i])), types[i])
        if i in types
        else pa.array([0] * ROWS, pa.int8())
        for i in range(max(types) + 1)
    ]
    return pa.RecordBatch.from_arrays(arrays, names=[f"c{i}" for i in range(len(arrays))])


def column(call: Call, index: int, type_: pa.DataType) -> st.SearchStrategy[list[Any]]:
    """Columns that make sense for this argument of this function, often enough."""
    plain = columns(type_, ROWS)
    if call.function == "cast" and pa.types.is_string(type_):
        return st.lists(st.none() | written(call.type), min_size=ROWS, max_size=ROWS)
    if call.function in ("add_days", "add_months", "add_micros") and index == 1:
        return st.lists(st.none() | st.integers(-500, 500), min_size=ROWS, max_size=ROWS)
    if call.function in ("add_days", "add_months", "add_micros") and index == 0:
        return st.lists(st.none() | far_from_the_ends(type_), min_size=ROWS, max_size=ROWS)
    if call.function in ("left", "right", "repeat", "lpad", "rpad") and index == 1:
        return st.lists(st.none() | st.integers(-9, 20), min_size=ROWS, max_size=ROWS)
    if call.function in ("substring", "split_part") and pa.types.is_integer(type_):
        return plain | st.lists(st.integers(-3, 9), min_size=ROWS, max_size=ROWS)
    if call.function in ("like", "ilike") and index:
        return st.lists(st.text("aA%_é\\", max_size=5), min_size=ROWS, max_size=ROWS)
    if call.function in ("replace", "split_part", "position", "starts_with") and index:
        return st.lists(st.text("aA% é", max_size=2), min_size=ROWS, max_size=ROWS)
    return plain


def far_from_the_ends(type_: pa.DataType) -> st.SearchStrategy[Any]:
    """Dates or timestamps to which years or days can be added within what Python can hold."""
    first, last = datetime(100, 1, 1), datetime(9900, 1, 1)
    if pa.types.is_date(type_):
        return st.dates(first.date(), last.date())
    return st.datetimes(first, last, timezones=st.none() if type_ == STAMP else st.just(UTC))


NUMBERS = (
    "0", "7", " 7 ", "-0", "+5", "127", "128", "-129", "255", "256", "65536", "2147483648",
    "9223372036854775807", "9223372036854775808", "-9223372036854775809", "18446744073709551616",
    "1.5", "-2.5", "0.005", "-0.015", ".5", "5.", "1e3", "1E-2", "12e40", "99999999999.995",
    "1e400", "4e38", "-1e-400", "inf", "-Infinity", "NaN", "nano", "", " ", ".", "-", "+-1", "1-",
    "1e", "1e+", "0x1", "1_0", "one", "1 2", "123456789012345678901234567890123456789",
)  # fmt: skip
MOMENTS = (
    "2024-02-29", "2023-02-29", "2024-13-01", "0001-01-01", "9999-12-31", "2024-02-29 23:59:59",
    "2024-02-29T12:30:00.5", "2024-02-29 12:30", "2024-02-29 12:30:00.000001", "12:30",
    "23:59:59.999999", "25:00", "12:60", "2024-02-29 12:30:00+02", "2024-02-29 12:30:00Z",
    "2024-02-29 12:30:00-05:30", "2024-02-29 12:30:00 noon", "", "today", "2024-02", "24-02-29",
)  # fmt: skip
TIMES = ("12:30", "12:30:01", "23:59:59.999999", "00:00:00.5", "25:00", "12:60", "noon", "")
TRUTHS = ("true", "FALSE", "t", "f", "y", "No", "on", "of", "off", "o", "1", "0", " yes ", "2", "")


def written(type_: pa.DataType) -> st.SearchStrategy[str]:
    """Texts that are values of the type, or nearly."""
    if pa.types.is_boolean(type_):
        return st.sampled_from(TRUTHS)
    if pa.types.is_time(type_):
        return st.sampled_from(TIMES)
    return st.sampled_from(MOMENTS if pa.types.is_temporal(type_) else NUMBERS)


@pytest.mark.parametrize("call", CALLS, ids=name)
@settings(max_examples=8)
@given(data=st.data())
def test_agrees_with_the_oracle(call: Call, data: st.DataObject) -> None:
    batch = table(call, data)
    outcomes = [expected(call, row) for row in rows_of(batch)]
    result, errors = evaluate(batch.schema, [], [("out", call)], batch)
    assert [canonical(v) for v in result["out"].to_pylist()] == [
        o for o in outcomes if not isinstance(o, Error)
    ]
    assert len(errors) == sum(isinstance(o, Error) for o in outcomes)


def rows_of(batch: pa.RecordBatch) -> list[list[Any]]:
    return [[canonical(v) for v in row.values()] for row in batch.to_pylist()]


def test_nan_is_one_value_to_the_oracle() -> None:
    assert canonical(float("nan")) is NAN
