"""Numbers that are written as bytes need one at least: no bytes at all are no zero."""

from typing import Any

import pyarrow as pa
import pytest

from connectors.decode import decode
from connectors.records import Decoded, Records
from ivm.values.types import INTERVAL
from tests.unit.connectors.protobufs import framed
from tests.unit.connectors.test_writer_types import BITS, CONNECT, DATA, ID, avro, connect
from tests.unit.connectors.writers import Writers, kafka

MONEY = pa.decimal128(9, 2)
DECIMAL = {"type": "bytes", "name": CONNECT + "Decimal", "parameters": {"scale": "2"}}
WHOLE = {"type": "bytes", "name": CONNECT + "Decimal", "parameters": {"scale": "0"}}
VARIABLE = {
    "type": "struct",
    "name": DATA + "VariableScaleDecimal",
    "fields": [{"type": "int32", "field": "scale"}, {"type": "bytes", "field": "value"}],
}


def reasons(decoded: Decoded) -> set[str]:
    assert len(decoded.rows) == 0
    return {record.reason for record in decoded.rejected}


@pytest.mark.parametrize(
    ("node", "value", "dtype"),
    [
        (DECIMAL, "", MONEY),
        (WHOLE, "", pa.uint64()),
        (WHOLE, "", pa.decimal128(20, 0)),
        (VARIABLE, {"scale": 2, "value": ""}, MONEY),
        (BITS, "", pa.int64()),
        (BITS, "", pa.string()),
        ({"type": "array", "items": DECIMAL}, ["AfQ=", ""], pa.list_(MONEY)),
        ({"type": "array", "items": BITS}, [""], pa.list_(pa.int32())),
    ],
)
def test_connect_s_json(node: dict[str, Any], value: Any, dtype: pa.DataType) -> None:
    assert reasons(connect(node, value, dtype)) == {"wrong-type"}


@pytest.mark.parametrize(
    ("node", "dtype"),
    [
        ({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, MONEY),
        ({"type": "bytes", "logicalType": "decimal", "precision": 9}, pa.int64()),
        ({"type": "bytes", "connect.name": DATA + "Bits"}, pa.int64()),
        ({"type": "bytes", "connect.name": DATA + "Bits"}, pa.string()),
        ({"type": "fixed", "name": "U", "size": 0, "logicalType": "duration"}, INTERVAL),
    ],
)
def test_avro(node: dict[str, Any], dtype: pa.DataType) -> None:
    assert reasons(avro(node, b"", dtype)) == {"wrong-type"}


def test_json_without_a_schema() -> None:
    spec = kafka(pa.schema([ID, pa.field("v", MONEY)]), encodings={"v": "base64"})
    decoded = decode(Records([b'{"op":"c","after":{"id":1,"v":""}}'], [0]), spec)
    assert reasons(decoded) == {"wrong-type"}


def test_protobuf() -> None:
    text = """syntax = "proto3"; import "confluent/type/decimal.proto";
        message Row { confluent.type.Decimal v = 1; }"""
    number = (writers := Writers()).add_texts(text)
    spec = kafka(pa.schema([pa.field("v", MONEY)]), (), envelope="append", format="protobuf")
    decoded = decode(Records([framed(number, bytes.fromhex("0a021802"))], [0]), spec, writers)
    assert reasons(decoded) == {"wrong-type"}


@pytest.mark.parametrize(
    "dtype", [pa.int8(), pa.uint64(), pa.float32(), pa.bool_(), MONEY, pa.date32(), INTERVAL]
)
def test_csv(dtype: pa.DataType) -> None:
    spec = kafka(pa.schema([pa.field("v", dtype)]), (), envelope="append", format="csv")
    assert reasons(decode(Records([b'""'], [0]), spec)) == {"wrong-type"}


def test_bytes_that_are_no_number_may_be_none_at_all() -> None:
    decoded = connect(BITS, "", pa.binary())
    assert decoded.rows["v"].to_pylist() == [b"", b""]
