"""Records that are odd in one member, and are read, or put aside, for themselves alone."""

from typing import Any

import orjson
import pyarrow as pa
import pytest

from connectors.decode import decode
from connectors.progress.resolution import _FIELDS
from connectors.records import Records
from connectors.spark.chunks import encode
from connectors.tables.spec import TableSpec
from ivm.values.types import JSON

INT = pa.int64()
POINT: dict[str, Any] = {
    "type": "struct",
    "field": "p",
    "name": "io.debezium.data.geometry.Point",
    "fields": [{"type": "double", "field": "x"}, {"type": "double", "field": "y"}],
}


def _records(*values: bytes) -> Records:
    return Records(list(values), range(len(values)), 0, None, None, None)


def _appended(dtype: pa.DataType, *texts: str) -> tuple[list[Any], list[str]]:
    """The values of a column that are read of JSON texts, and why the others are not."""
    table = TableSpec("t", "t", pa.schema([pa.field("v", dtype)]), (), envelope="append")
    decoded = decode(_records(*(f'{{"v":{text}}}'.encode() for text in texts)), table)
    return decoded.rows["v"].to_pylist(), [fault.reason for fault in decoded.rejected]


@pytest.mark.parametrize("amount", ["2", "2.5"])
def test_a_document_of_floats_is_read_beside_a_decimal(amount: str) -> None:
    fields: list[pa.Field[Any]] = [
        pa.field("id", INT, False),
        pa.field("amount", pa.decimal128(10, 2)),
        pa.field("p", JSON),
    ]
    table = TableSpec("t", "t", pa.schema(fields), ("id",), envelope="debezium")
    inner = [{"type": "int64", "field": "id"}, {"type": "double", "field": "amount"}, POINT]
    schema = {"type": "struct", "fields": [{"type": "struct", "field": "after", "fields": inner}]}
    row = b'{"id":1,"amount":' + amount.encode() + b',"p":{"x":0.5,"y":1.5}}'
    payload = b'{"op":"c","after":' + row + b"}"
    record = b'{"schema":' + orjson.dumps(schema) + b',"payload":' + payload + b"}"
    decoded = decode(_records(record), table)
    assert not decoded.rejected
    assert decoded.rows["p"].to_pylist() == ['{"x": 0.5, "y": 1.5}']


def test_decimals_in_a_list_are_read_as_they_are_written() -> None:
    values, faults = _appended(pa.list_(pa.decimal128(38, 18)), "[0.100000000000000001, 2]")
    assert [str(value) for value in values[0]] == ["0.100000000000000001", "2.000000000000000000"]
    assert faults == []


def test_a_time_with_nanoseconds_is_refused_and_one_of_whole_microseconds_read() -> None:
    values, faults = _appended(
        pa.time64("us"), '"12:00:00.123456789"', '"12:00:00.123456000"', '"12:00:00.5"'
    )
    assert [value.microsecond for value in values] == [123_456, 500_000]
    assert faults == ["out-of-range"]


def test_a_time_stamp_that_is_a_list_is_none() -> None:
    table = TableSpec("t", "t", pa.schema([pa.field("id", INT, False)]), ("id",))
    assert encode("t@0", table, _records(b'{"op":"c","after":{"id":1},"ts_ms":[5]}'))


def test_the_end_of_a_transaction_of_an_odd_form_is_put_aside() -> None:
    table = TableSpec("t", "t", pa.schema(_FIELDS), (), envelope="transactions")
    decoded = decode(_records(b'{"status":"END","id":"1","data_collections":1}'), table)
    assert [fault.reason for fault in decoded.rejected] == ["not-an-envelope"]
