"""Rows that sinks encode natively are those that orjson and fastavro know, byte for byte."""

import io
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import fastavro
import orjson
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from connectors.sinks.avro_columns import record_cells, record_schema
from connectors.sinks.json import object_lines
from connectors.sinks.json_rows import json_rows
from connectors.sinks.native.lines import lines
from ivm.values.types import JSON, UUID, arrow_array


def integers(bits: int, *, signed: bool = True) -> st.SearchStrategy[int]:
    least, most = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    return st.integers(least, most)


def decimals(precision: int, scale: int) -> st.SearchStrategy[Decimal]:
    most = 10**precision - 1
    return st.integers(-most, most).map(lambda digits: Decimal(f"{digits}e-{scale}"))


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
MOMENTS = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999_999))
COLUMNS: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.bool_(), st.booleans()),
    (pa.int8(), integers(8)),
    (pa.int16(), integers(16)),
    (pa.int32(), integers(32)),
    (pa.int64(), integers(64)),
    (pa.uint8(), integers(8, signed=False)),
    (pa.uint16(), integers(16, signed=False)),
    (pa.uint32(), integers(32, signed=False)),
    (pa.uint64(), integers(64, signed=False)),
    (pa.float32(), st.floats(width=32, allow_nan=False)),
    (pa.float64(), st.floats(allow_nan=False)),
    (pa.decimal128(12, 2), decimals(12, 2)),
    (pa.decimal128(38, 0), decimals(38, 0)),
    (pa.decimal128(38, 18), decimals(38, 18)),
    (pa.string(), TEXTS),
    (pa.binary(), st.binary(max_size=20)),
    (pa.date32(), st.dates(date(1, 1, 1), date(9999, 12, 31))),
    (pa.time64("us"), st.times()),
    (pa.timestamp("us"), MOMENTS),
    (pa.timestamp("us", "UTC"), MOMENTS.map(lambda moment: moment.replace(tzinfo=UTC))),
    (UUID, st.uuids()),
    (JSON, TEXTS.map(lambda text: orjson.dumps(text).decode())),
    (pa.list_(pa.string()), st.lists(st.none() | TEXTS, max_size=3)),
]


@st.composite
def batches(draw: st.DrawFn) -> pa.RecordBatch:
    """Rows of some columns, with and without NULLs, that may begin amid their buffers."""
    columns = draw(st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=4))
    count, skipped = draw(st.integers(0, 20)), draw(st.integers(0, 9))
    arrays, fields = [], list[pa.Field]()
    for place, (dtype, values) in enumerate(columns):
        nullable = draw(st.booleans())
        each = st.none() | values if nullable else values
        length = count + skipped
        arrays.append(arrow_array(draw(st.lists(each, min_size=length, max_size=length)), dtype))
        fields.append(pa.field(f"c{place}", dtype, nullable))
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields)).slice(skipped)


@given(batches())
def test_a_row_in_json_is_what_orjson_writes(batch: pa.RecordBatch) -> None:
    assert object_lines(batch) == [orjson.dumps(row) for row in json_rows(batch)]


@given(batches())
def test_a_row_in_avro_is_read_as_it_was(batch: pa.RecordBatch) -> None:
    schema: Any = fastavro.parse_schema(record_schema("Row", batch.schema))
    for row, data in zip(
        batch.to_pylist(), lines(record_cells(batch, batch.schema), batch.num_rows), strict=True
    ):
        stream = io.BytesIO(data)
        assert fastavro.schemaless_reader(stream, schema, None) == row
        assert not stream.read(), "nothing is left"


@given(batches())
def test_a_row_in_avro_is_what_fastavro_writes(batch: pa.RecordBatch) -> None:
    """But for decimals, which fastavro writes in as few bytes as they need."""
    names = [field.name for field in batch.schema if not is_decimal(field.type)]
    batch = batch.select(names)
    schema: Any = fastavro.parse_schema(record_schema("Row", batch.schema))
    for row, data in zip(
        batch.to_pylist(), lines(record_cells(batch, batch.schema), batch.num_rows), strict=True
    ):
        stream = io.BytesIO()
        fastavro.schemaless_writer(stream, schema, row)
        assert data == stream.getvalue()


def is_decimal(dtype: pa.DataType) -> bool:
    return pa.types.is_decimal(dtype) or dtype == pa.uint64()


def test_times_are_those_of_the_day() -> None:
    batch = pa.RecordBatch.from_pydict({"t": pa.array([time(23, 59, 59, 999_999)])})
    assert object_lines(batch) == [b'{"t":"23:59:59.999999"}']
