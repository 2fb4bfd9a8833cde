"""A nullable column that a record lacks is NULL, unless the table refuses such records."""

from typing import Any

import orjson
import pyarrow as pa
import pytest

from connectors.decode import decode
from connectors.records import Decoded, Records
from connectors.tables.spec import TableSpec
from ivm.values.types import JSON
from tests.unit.connectors.protobufs import framed, message
from tests.unit.connectors.writers import Writers, envelope_schema, kafka, row_schema

FIELDS: list[pa.Field] = [
    pa.field("id", pa.int64(), nullable=False),
    pa.field("name", pa.string()),
    pa.field("note", pa.string()),
    pa.field("price", pa.decimal128(5, 2)),
    pa.field("tags", pa.list_(pa.string())),
    pa.field("doc", JSON),
]
SCHEMA = pa.schema(FIELDS)
ROW: dict[str, Any] = {"id": 1, "name": "a"}
NULLS = {name: None for name in SCHEMA.names if name not in ROW}
DESCRIBED = {
    "type": "struct",
    "fields": [{"field": "id", "type": "int64"}, {"field": "name", "type": "string"}],
}


def envelope(**images: Any) -> dict[str, Any]:
    """Connect's schema of a Debezium envelope, and the envelope."""
    fields = [{"field": "after", **DESCRIBED}, {"field": "op", "type": "string"}]
    return {"schema": {"type": "struct", "fields": fields}, "payload": images}


ENVELOPES: dict[str, tuple[dict[str, Any], Any]] = {
    "debezium": ({"envelope": "debezium"}, {"op": "c", "after": ROW}),
    "debezium full": (
        {"envelope": "debezium", "replica_identity": "full"},
        {"op": "c", "after": ROW},
    ),
    "debezium with a schema": ({"envelope": "debezium"}, envelope(op="c", after=ROW)),
    "flat": ({"envelope": "flat"}, ROW),
    "upsert": ({"envelope": "upsert"}, ROW),
    "append": ({"envelope": "append", "key": ()}, ROW),
    "maxwell": ({"envelope": "maxwell"}, {"type": "insert", "data": ROW}),
    "canal": ({"envelope": "canal"}, {"type": "INSERT", "data": [{"id": "1", "name": "a"}]}),
}


def run(spec: TableSpec, *values: Any, writers: Writers | None = None) -> Decoded:
    contents = [v if isinstance(v, bytes) else orjson.dumps(v) for v in values]
    keys = [b'{"id": 1}'] * len(values) if spec.format == "json" else None
    return decode(Records(contents, range(len(values)), keys=keys), spec, writers)


def reasons(decoded: Decoded) -> list[str]:
    return [record.reason for record in decoded.rejected]


@pytest.mark.parametrize(("fields", "value"), ENVELOPES.values(), ids=ENVELOPES)
def test_an_absent_nullable_field_is_null(fields: dict[str, Any], value: Any) -> None:
    decoded = run(kafka(SCHEMA, **fields), value)
    assert reasons(decoded) == []
    assert decoded.rows.to_pylist() == [ROW | NULLS]


@pytest.mark.parametrize(("fields", "value"), ENVELOPES.values(), ids=ENVELOPES)
def test_an_absent_field_is_refused_where_the_table_says_so(
    fields: dict[str, Any], value: Any
) -> None:
    decoded = run(kafka(SCHEMA, **fields, fail_on_missing_field=True), value)
    assert reasons(decoded)[0] in ("missing-field", "incompatible-schema")
    assert "note" in decoded.rejected[0].message


@pytest.mark.parametrize(("fields", "value"), ENVELOPES.values(), ids=ENVELOPES)
def test_an_absent_field_of_a_column_that_is_not_nullable_is_refused(
    fields: dict[str, Any], value: Any
) -> None:
    schema = pa.schema([*SCHEMA, pa.field("more", pa.int64(), nullable=False)])
    decoded = run(kafka(schema, **fields), value)
    assert reasons(decoded)[0] in ("missing-field", "incompatible-schema")


def test_a_field_may_be_absent_of_some_records_and_null_or_there_in_others() -> None:
    rows = [ROW, ROW | {"note": None}, ROW | {"note": "x", "price": 1.25}, ROW]
    decoded = run(kafka(SCHEMA), *({"op": "c", "after": row} for row in rows))
    assert reasons(decoded) == []
    assert decoded.rows["note"].to_pylist() == [None, None, "x", None]
    assert [p and str(p) for p in decoded.rows["price"].to_pylist()] == [None, None, "1.25", None]


def test_a_null_is_no_absent_field() -> None:
    spec = kafka(SCHEMA, fail_on_missing_field=True)
    decoded = run(spec, {"op": "c", "after": ROW | NULLS})
    assert reasons(decoded) == []


@pytest.mark.parametrize("refuses", [False, True])
def test_a_field_that_an_avro_schema_lacks_is_null_or_refused(refuses: bool) -> None:
    writers = Writers()
    spec = kafka(SCHEMA, format="avro", fail_on_missing_field=refuses)
    content = writers.record(
        envelope_schema(id="long", name="string"),
        {"before": None, "after": ROW, "op": "c", "ts_ms": 1},
    )
    decoded = run(spec, content, writers=writers)
    assert reasons(decoded) == (["incompatible-schema"] if refuses else [])
    assert decoded.rows.to_pylist() == ([] if refuses else [ROW | NULLS])


def test_a_field_that_protobuf_does_not_write_is_null() -> None:
    text = 'syntax = "proto3"; message Row { int64 id = 1; string name = 2; }'
    writers = Writers()
    record = framed(writers.add_texts(text), message(text, "Row", ROW))
    spec = kafka(SCHEMA, (), format="protobuf", envelope="append")
    assert run(spec, record, writers=writers).rows.to_pylist() == [ROW | NULLS]


@pytest.mark.parametrize("envelope", ["append", "upsert", "flat"])
def test_an_object_with_none_of_the_columns_is_no_row(envelope: str) -> None:
    spec = kafka(SCHEMA, () if envelope == "append" else ("id",), envelope=envelope)
    decoded = run(spec, {"op": "c", "after": ROW})
    assert reasons(decoded) == ["missing-field"]
    assert "envelope" in decoded.rejected[0].message


def test_an_upsert_of_nothing_but_its_key_is_a_row() -> None:
    keys = pa.schema([SCHEMA.field("id")])
    spec, alone = kafka(SCHEMA, envelope="upsert"), kafka(keys, envelope="upsert")
    assert run(spec, {}).rows.to_pylist() == [{"id": 1, "name": None} | NULLS]
    assert run(alone, {"other": 5}).rows.to_pylist() == [{"id": 1}]


def test_an_avro_row_with_none_of_the_columns_is_no_row() -> None:
    writers = Writers()
    spec = kafka(pa.schema([SCHEMA.field("note")]), (), format="avro", envelope="append")
    decoded = run(spec, writers.record(row_schema(x="int"), {"x": 1}), writers=writers)
    assert reasons(decoded) == ["missing-field"]
