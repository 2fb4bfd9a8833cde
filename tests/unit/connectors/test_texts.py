"""JSON texts that are written natively are those that orjson writes for the rows."""

import uuid
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import orjson
import pyarrow as pa
import pytest

from connectors.sinks.json import object_lines
from connectors.sinks.json_rows import json_rows
from ivm.values.types import INTERVAL, JSON, UUID, Interval, arrow_array, interval_constant

SAMPLES: list[tuple[pa.DataType, list[Any]]] = [
    (pa.bool_(), [True, False]),
    (pa.int64(), [2**63 - 1, -(2**63), 0]),
    (pa.uint64(), [2**64 - 1]),
    (pa.float64(), [0.1, 1e300, -0.0, float("nan"), float("inf")]),
    (pa.float32(), [0.1, 3.0]),
    (pa.decimal128(12, 2), [Decimal("1.50"), Decimal("-0.05")]),
    (pa.decimal128(38, 18), [Decimal("0.000000000000000001")]),
    (pa.string(), ["", 'a","b', "a\\", '"', '\\","', "\n\0é😀", "null"]),
    (pa.string(), ['a",', "b", '",', ",", '"']),  # the ends of one and the beginning of another
    (pa.date32(), [date(1, 1, 1)]),
    (pa.time64("us"), [time(1, 2, 3, 4)]),
    (pa.timestamp("us"), [datetime(2020, 1, 1, 1, 2, 3, 4)]),
    (pa.timestamp("us", "Europe/Berlin"), [datetime(2020, 1, 1, tzinfo=UTC)]),
    (pa.binary(), [b"", b"\0\xff"]),
    (UUID, [uuid.UUID(int=1)]),
    (JSON, ['{"a": [1, "x,y"]}']),
    (INTERVAL, [interval_constant(Interval(14, -3, 5_500_000))]),
    (pa.list_(pa.string()), [[], [None, 'a","b']]),
]


@pytest.mark.parametrize(("dtype", "values"), SAMPLES, ids=lambda value: str(value)[:20])
def test_a_text_is_what_orjson_writes(dtype: pa.DataType, values: list[Any]) -> None:
    for chosen in (values, [None, *values, None], [None]):
        batch = pa.RecordBatch.from_arrays([arrow_array(chosen, dtype)], ['a "column"'])
        assert object_lines(batch) == [orjson.dumps(row) for row in json_rows(batch)]


def test_columns_stand_in_order() -> None:
    batch = pa.RecordBatch.from_pydict({"b": [1, 2], "a": ["x", None]})
    assert object_lines(batch) == [b'{"b":1,"a":"x"}', b'{"b":2,"a":null}']


def test_no_rows_make_no_texts() -> None:
    batch = pa.RecordBatch.from_pydict({"a": pa.array([], pa.string())})
    assert object_lines(batch) == []


def test_rows_without_columns_are_empty_objects() -> None:
    batch = pa.RecordBatch.from_pydict({"a": [1, 2]}).select([])
    assert object_lines(batch) == [b"{}", b"{}"]
