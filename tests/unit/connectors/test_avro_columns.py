"""Rows in Avro's binary form, as fastavro reads them."""

import io
import uuid
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import fastavro
import pyarrow as pa
import pytest

from connectors.errors import InvalidSink
from connectors.sinks.avro_columns import number, record_cells, record_schema
from connectors.sinks.native.lines import lines
from ivm.values.types import INTERVAL, JSON, UUID, Interval, arrow_array, interval_constant

BERLIN = pa.timestamp("us", "Europe/Berlin")
SAMPLES: list[tuple[pa.DataType, list[Any]]] = [
    (pa.bool_(), [True, False]),
    (pa.int8(), [-128, 127]),
    (pa.int64(), [2**63 - 1, -(2**63), 0, -1, 63, 64, -64, -65]),
    (pa.uint32(), [2**32 - 1]),
    (pa.float64(), [0.1, float("inf")]),
    (pa.float32(), [0.5]),
    (pa.decimal128(12, 2), [Decimal("1.50"), Decimal("-0.05"), Decimal(0)]),
    (pa.decimal128(38, 0), [Decimal("9" * 38), Decimal("-" + "9" * 38)]),
    (pa.string(), ["", "é😀", "x" * 300]),
    (pa.binary(), [b"", b"\0\xff"]),
    (pa.date32(), [date(1, 1, 1), date(2020, 2, 29)]),
    (pa.time64("us"), [time(1, 2, 3, 4)]),
    (pa.timestamp("us"), [datetime(2020, 1, 1, 1, 2, 3, 4)]),
    (BERLIN, [datetime(2020, 1, 1, tzinfo=UTC)]),
    (UUID, [uuid.UUID(int=1)]),
    (JSON, ['{"a": [1, "x,y"]}']),
    (pa.list_(pa.string()), [[], [None, "a"], ["b"] * 70]),
    (pa.list_(pa.list_(pa.int32())), [[[1], None, []]]),
]


def read(batch: pa.RecordBatch, schema: pa.Schema) -> list[Any]:
    parsed = fastavro.parse_schema(record_schema("Row", schema))
    found = []
    for data in lines(record_cells(batch, schema), batch.num_rows):
        stream = io.BytesIO(data)
        found.append(fastavro.schemaless_reader(stream, parsed, None))
        assert not stream.read(), "nothing is left"
    return found


@pytest.mark.parametrize(("dtype", "values"), SAMPLES, ids=lambda value: str(value)[:20])
def test_a_value_keeps_all_it_says(dtype: pa.DataType, values: list[Any]) -> None:
    for nullable, chosen in ((False, values), (True, values), (True, [None, *values, None])):
        schema = pa.schema([pa.field("v", dtype, nullable)])
        batch = pa.RecordBatch.from_arrays([arrow_array(chosen, dtype)], schema=schema)
        assert [row["v"] for row in read(batch, schema)] == chosen
        assert [row["v"] for row in read(batch.slice(1), schema)] == chosen[1:]


def test_an_unsigned_long_is_a_decimal() -> None:
    schema = pa.schema([pa.field("v", pa.uint64(), False)])
    batch = pa.RecordBatch.from_arrays([pa.array([2**64 - 1], pa.uint64())], schema=schema)
    assert read(batch, schema) == [{"v": Decimal(2**64 - 1)}]


def test_an_interval_is_its_text() -> None:
    schema = pa.schema([pa.field("v", INTERVAL, True)])
    value = interval_constant(Interval(14, -3, 5_500_000))
    batch = pa.RecordBatch.from_arrays([arrow_array([value, None], INTERVAL)], schema=schema)
    assert read(batch, schema) == [{"v": "1 year 2 mons -3 days +00:00:05.5"}, {"v": None}]


def test_numbers_take_as_few_bytes_as_they_need() -> None:
    numbers = [0, -1, 63, 64, 2**63 - 1]
    assert [number(each) for each in numbers] == [
        b"\0",
        b"\1",
        b"\x7e",
        b"\x80\1",
        b"\xfe" + b"\xff" * 8 + b"\1",
    ]


def test_rows_without_columns_are_empty() -> None:
    batch = pa.RecordBatch.from_pydict({"a": [1, 2]}).select([])
    assert lines(record_cells(batch, pa.schema([])), 2) == [b"", b""]


def test_a_column_that_avro_cannot_name_is_refused() -> None:
    with pytest.raises(InvalidSink, match="total amount"):
        record_schema("Row", pa.schema([("total amount", pa.int64())]))
