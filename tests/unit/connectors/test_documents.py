"""A column of documents takes any JSON value, with the digits that are written."""

from typing import Any

import pyarrow as pa
import pytest

from connectors.decode import decode
from connectors.records import Decoded, Records
from ivm.values.types import JSON
from tests.unit.connectors.test_writer_types import CONNECT, DATA, avro, connect, value_of
from tests.unit.connectors.writers import kafka

ID: pa.Field = pa.field("id", pa.int64(), nullable=False)
# A record around the text of a column `doc`, by envelope.
RECORDS: dict[str, tuple[dict[str, Any], str]] = {
    "debezium": ({"envelope": "debezium"}, '{"op":"c","after":{"id":1,"doc":%s}}'),
    "debezium full": (
        {"envelope": "debezium", "replica_identity": "full"},
        '{"op":"c","after":{"id":1,"doc":%s}}',
    ),
    "without a schema": (
        {"envelope": "debezium"},
        '{"schema":null,"payload":{"op":"c","after":{"id":1,"doc":%s}}}',
    ),
    "flat": ({"envelope": "flat"}, '{"id":1,"doc":%s}'),
    "upsert": ({"envelope": "upsert"}, '{"doc":%s}'),
    "append": ({"envelope": "append", "key": ()}, '{"id":1,"doc":%s}'),
    "maxwell": ({"envelope": "maxwell"}, '{"type":"insert","data":{"id":1,"doc":%s}}'),
    "canal": ({"envelope": "canal"}, '{"type":"INSERT","data":[{"id":"1","doc":%s}]}'),
}
DOCUMENTS = [
    ('{"n": 1}', '{"n": 1}'),
    ("[1]", "[1]"),
    ("7", "7"),
    ("-0.5", "-0.5"),
    ("true", "true"),
    ("false", "false"),
    ("{}", "{}"),
    ("[]", "[]"),
    ('[{"b": null, "a": [true, "x"]}]', '[{"a": [true, "x"], "b": null}]'),
    ("327267367867168100000", "327267367867168100000"),
    ("0.1234567890123456789012345", "0.1234567890123456789012345"),
    ("[327267367867168100000.5, 1e2, 1E-7]", "[327267367867168100000.5, 100, 0.0000001]"),
    ("18446744073709551615", "18446744073709551615"),
    ('"{\\"n\\": 1.50}"', '{"n": 1.5}'),
    ('"7"', "7"),
]  # fmt: skip


def run(fields: dict[str, Any], *records: str, dtype: pa.DataType = JSON) -> Decoded:
    schema = pa.schema([ID, pa.field("doc", dtype)])
    keys = [b'{"id": 1}'] * len(records)
    contents = [record.encode() for record in records]
    return decode(Records(contents, range(len(records)), keys=keys), kafka(schema, **fields))


@pytest.mark.parametrize(("fields", "record"), RECORDS.values(), ids=RECORDS)
@pytest.mark.parametrize(("text", "document"), DOCUMENTS)
def test_a_document_is_a_json_value_as_it_is_written(
    fields: dict[str, Any], record: str, text: str, document: str
) -> None:
    decoded = run(fields, record % text)
    assert decoded.rejected == ()
    assert decoded.rows["doc"].to_pylist() == [document]


@pytest.mark.parametrize(("fields", "record"), RECORDS.values(), ids=RECORDS)
def test_json_s_null_is_null(fields: dict[str, Any], record: str) -> None:
    assert run(fields, record % "null").rows["doc"].to_pylist() == [None]


@pytest.mark.parametrize("text", ['"abc"', '"{"', '""', '["\\u0000"]', "[1e-999999999]"])
def test_what_no_document_holds_is_refused(text: str) -> None:
    fields, record = RECORDS["append"]
    decoded = run(fields, record % text)
    assert [fault.reason for fault in decoded.rejected] == ["wrong-type"]


def test_documents_of_all_kinds_stand_beside_one_another() -> None:
    fields, record = RECORDS["append"]
    texts = ["7", "2.50", '"[1]"', "null", '{"x": 0.10}']
    decoded = run(fields, *(record % text for text in texts))
    assert decoded.rows["doc"].to_pylist() == ["7", "2.5", "[1]", None, '{"x": 0.1}']


def test_documents_may_stand_in_a_list() -> None:
    fields, record = RECORDS["append"]
    decoded = run(fields, record % '[{"n": 0.1234567890123456789}, null, 1]', dtype=pa.list_(JSON))
    assert decoded.rows["doc"].to_pylist() == [['{"n": 0.1234567890123456789}', None, "1"]]


POINTS = {
    "type": "array",
    "items": {
        "type": "struct",
        "name": DATA + "geometry.Point",
        "fields": [{"type": "double", "field": "x"}, {"type": "bytes", "field": "wkb"}],
    },
}


@pytest.mark.parametrize(
    ("node", "value", "document"),
    [
        (POINTS, [{"x": 0.5, "wkb": "AQ=="}, None], '[{"x": 0.5, "wkb": "AQ=="}, null]'),
        (POINTS, [], "[]"),
        ({"type": "array", "items": POINTS}, [[{"x": 1, "wkb": "AQ=="}]],
         '[[{"x": 1, "wkb": "AQ=="}]]'),
        ({"type": "array", "items": {"type": "int32"}}, [1, 2], "[1, 2]"),
        ({"type": "map", "values": POINTS}, {"a": []}, '{"a": []}'),
        ({"type": "int64"}, 7, "7"),
        ({"type": "boolean"}, True, "true"),
        ({"type": "double"}, 0.25, "0.25"),
    ],
)  # fmt: skip
def test_what_connect_describes_is_a_document(
    node: dict[str, Any], value: Any, document: str
) -> None:
    assert value_of(connect(node, value, JSON)) == document


def test_structs_of_a_described_array_are_documents_of_a_list() -> None:
    decoded = connect(POINTS, [{"x": 0.5, "wkb": "AQ=="}], pa.list_(JSON))
    assert value_of(decoded) == ['{"x": 0.5, "wkb": "AQ=="}']


def test_what_avro_describes_is_a_document() -> None:
    fields = [{"name": "x", "type": "double"}, {"name": "wkb", "type": "bytes"}]
    points = {"type": "array", "items": {"type": "record", "name": "P", "fields": fields}}
    value = [{"x": 0.5, "wkb": b"\1"}]
    assert value_of(avro(points, value, JSON)) == '[{"x": 0.5, "wkb": "AQ=="}]'
    assert value_of(avro(points, value, pa.list_(JSON))) == ['{"x": 0.5, "wkb": "AQ=="}']
    assert value_of(avro("long", 7, JSON)) == "7"
    nan = [{"x": float("nan"), "wkb": b""}]
    assert value_of(avro(points, nan, JSON)) == '[{"x": "NaN", "wkb": ""}]'


def test_a_count_of_days_is_no_document() -> None:
    decoded = connect({"type": "int32", "name": CONNECT + "Date"}, 1, JSON)
    assert {fault.reason for fault in decoded.rejected} == {"incompatible-schema"}
