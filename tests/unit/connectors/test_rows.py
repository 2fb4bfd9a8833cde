"""Rows become JSON values that keep them exactly."""

import uuid
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from connectors.sinks.json_rows import json_rows, json_values
from ivm.values.types import INTERVAL, JSON, UUID, Interval, arrow_array, interval_constant


@pytest.mark.parametrize(
    ("dtype", "value", "expected"),
    [
        (pa.int64(), 2**63 - 1, 2**63 - 1),
        (pa.bool_(), True, True),
        (pa.float64(), 0.1, 0.1),
        (pa.float64(), float("nan"), "NaN"),
        (pa.float64(), float("inf"), "Infinity"),
        (pa.float32(), float("-inf"), "-Infinity"),
        (pa.decimal128(12, 2), Decimal("1.50"), "1.50"),
        (pa.decimal128(12, 2), Decimal("-0.05"), "-0.05"),
        (pa.decimal128(38, 18), Decimal("0.000000000000000001"), "0.000000000000000001"),
        (pa.decimal128(38, 6), Decimal(0), "0.000000"),
        (pa.decimal128(38, 6), Decimal("0.000001"), "0.000001"),
        (pa.decimal128(38, 7), Decimal(0), "0.0000000"),
        (pa.decimal128(38, 0), Decimal("9" * 38), "9" * 38),
        (pa.date32(), date(1, 1, 1), "0001-01-01"),
        (pa.date32(), date(2020, 2, 29), "2020-02-29"),
        (pa.time64("us"), time(1, 2, 3, 4), "01:02:03.000004"),
        (pa.timestamp("us"), datetime(2020, 1, 1, 1, 2, 3, 4), "2020-01-01T01:02:03.000004"),
        (pa.timestamp("us", "UTC"), datetime(1969, 1, 1), "1969-01-01T00:00:00.000000Z"),
        (pa.timestamp("us", "Europe/Berlin"), datetime(2020, 1, 1), "2020-01-01T00:00:00.000000Z"),
        (pa.string(), 'a"\n', 'a"\n'),
        (pa.binary(), b"\0\xff", "AP8="),
        (UUID, uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (JSON, '{"a": 1.5}', '{"a": 1.5}'),
        (
            INTERVAL,
            interval_constant(Interval(14, -3, 5_500_000)),
            "1 year 2 mons -3 days +00:00:05.5",
        ),
        (pa.list_(pa.int8()), [1, None, 2], [1, None, 2]),
        (pa.list_(UUID), [uuid.UUID(int=1)], ["00000000-0000-0000-0000-000000000001"]),
        (
            pa.list_(pa.list_(pa.date32())),
            [[], None, [date(2020, 1, 1)]],
            [[], None, ["2020-01-01"]],
        ),
    ],
)
def test_a_value_keeps_all_it_says(dtype: pa.DataType, value: Any, expected: object) -> None:
    assert json_values(arrow_array([value, None], dtype)) == [expected, None]


def test_rows_name_their_columns_in_order() -> None:
    batch = pa.RecordBatch.from_pydict({"b": [1, 2], "a": ["x", None]})
    assert [list(row.items()) for row in json_rows(batch)] == [
        [("b", 1), ("a", "x")],
        [("b", 2), ("a", None)],
    ]


def test_rows_without_columns_are_empty_objects() -> None:
    batch = pa.RecordBatch.from_pydict({"a": [1, 2]}).select([])
    assert json_rows(batch) == [{}, {}]
