"""Avro records: how they name their schemas, how schemas change, and what bad bytes come to."""

from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest

from connectors.connections import Connection
from connectors.decode import decode
from connectors.errors import InvalidTable, RegistryUnavailable
from connectors.formats.schemas import SchemaId
from connectors.kafka.clusters import Clusters
from connectors.records import Decoded, Headers, Records
from tests.unit.connectors.records import SCHEMA
from tests.unit.connectors.writers import Writers, envelope_schema, kafka, row_schema, written

VALUE = row_schema(id="long", name=["null", "string"])
ROW = {"id": 1, "name": "a"}
CONTENT = written(VALUE, ROW)
APPENDED = kafka(SCHEMA, (), format="avro", envelope="append")
GUID = UUID("89791762-2336-4186-9674-299b90a802e2")


def run(
    writers: Writers, *values: bytes | None, headers: list[Headers | None] | None = None
) -> Decoded:
    return decode(Records(values, range(len(values)), headers=headers), APPENDED, writers)


def rows(decoded: Decoded) -> list[dict[str, Any]]:
    assert decoded.rejected == ()
    return decoded.rows.to_pylist()


def number(value: int, width: int) -> bytes:
    return value.to_bytes(width, "big")


NAMED: list[tuple[SchemaId, bytes, Headers | None]] = [
    (SchemaId("id", "7"), b"\0" + number(7, 4), None),
    (SchemaId("long", "7"), b"\0" + number(7, 8), None),
    (SchemaId("global", "7"), b"", [("apicurio.value.globalId", number(7, 8))]),
    (SchemaId("content", "7"), b"", [("apicurio.value.contentId", number(7, 8))]),
    (SchemaId("guid", str(GUID)), b"", [("__value_schema_id", b"\1" + GUID.bytes)]),
    (SchemaId("id", "7"), b"", [("x", None), ("__value_schema_id", b"\0" + number(7, 4))]),
]


@pytest.mark.parametrize(("name", "prefix", "headers"), NAMED)
def test_a_record_names_its_schema_before_its_value_or_in_a_header(
    name: SchemaId, prefix: bytes, headers: Headers | None
) -> None:
    writers = Writers()
    writers.add(VALUE, name=name)
    assert rows(run(writers, prefix + CONTENT, headers=[headers])) == [ROW]
    assert writers.asked == [name]


def test_each_record_names_its_schema_for_itself() -> None:
    writers = Writers()
    for name, _, _ in NAMED:
        writers.add(VALUE, name=name)
    values = [prefix + CONTENT for _, prefix, _ in NAMED]
    headers = [headers for _, _, headers in NAMED]
    assert rows(run(writers, *values, headers=headers)) == [ROW] * len(NAMED)


@pytest.mark.parametrize(
    ("value", "headers", "reason"),
    [
        (b"", None, "not-avro"),
        (b"\0", None, "not-avro"),
        (b"\0\0\0", None, "not-avro"),
        (b"\0" + number(0, 4) + b"\1", None, "not-avro"),
        (b"\1" + number(1, 4) + CONTENT, None, "not-avro"),
        (b'{"id":1}', None, "not-avro"),
        (b"\0" + number(9, 4) + CONTENT, None, "unknown-schema"),
        (b"\0" + number(9, 8) + CONTENT, None, "unknown-schema"),
        (b"\0" + number(1, 4) + CONTENT[:-1], None, "not-avro"),
        (b"\0" + number(1, 4), None, "not-avro"),
        (b"\0" + number(1, 4) + CONTENT + b"\0", None, "not-avro"),
        (b"\0" + number(1, 4) + b"\2\2\2\xff", None, "not-avro"),
        (b"\0" + number(1, 4) + b"\xff" * 20, None, "not-avro"),
        (b"\0" + number(1, 4) + b"\2\x08a", None, "not-avro"),
        (CONTENT, [("__value_schema_id", b"\2abc")], "not-avro"),
        (CONTENT, [("apicurio.value.globalId", b"7")], "not-avro"),
        (b"{}", [("apicurio.value.encoding", b"JSON")], "not-avro"),
        (None, None, "null-record"),
    ],
)
def test_bad_bytes_are_rejected_and_nothing_else_is(
    value: bytes | None, headers: Headers | None, reason: str
) -> None:
    writers = Writers()
    good = writers.record(VALUE, ROW)
    decoded = run(writers, good, value, good, headers=[None, headers, None])
    assert decoded.rows.to_pylist() == [ROW, ROW]
    (rejected,) = decoded.rejected
    assert (rejected.offset, rejected.reason, rejected.value) == (1, reason, value)
    assert rejected.headers == headers


ENUM = {"type": "enum", "name": "E", "symbols": ["a", "b"]}


@pytest.mark.parametrize(
    ("schema", "content"),
    [
        (row_schema(id="long", name=ENUM), b"\2\x01"),
        (row_schema(id="long", name={"type": "array", "items": ENUM}), b"\2\2\x01\0"),
        (row_schema(id="long", name=["null", "string"]), b"\2\x01\2a"),
        (row_schema(id="long", name=["string", "null"]), b"\2\x01"),
        (["null", row_schema(id="long", name="string")], b"\x01\2\2a"),
    ],
)
def test_an_index_below_zero_is_no_symbol_and_no_branch(schema: Any, content: bytes) -> None:
    writers = Writers()
    name = writers.add(schema)
    (rejected,) = run(writers, b"\0" + number(name, 4) + content).rejected
    assert (rejected.reason, "no index" in rejected.message) == ("not-avro", True)


def test_a_symbol_is_found_in_an_enum_that_another_schema_declares() -> None:
    writers = Writers()
    name = writers.add(row_schema(id="long", name="E"), ENUM)
    good, bad = (b"\0" + number(name, 4) + b"\2" + index for index in (b"\2", b"\x01"))
    decoded = run(writers, good, bad)
    assert decoded.rows.to_pylist() == [{"id": 1, "name": "b"}]
    assert [r.reason for r in decoded.rejected] == ["not-avro"]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"type": "record", "name": "R", "fields": [{"name": "r", "type": ["null", "R"]}]},
        {"type": "record", "name": "R", "fields": [
            {"name": "n", "type": {"type": "array", "items": "null"}}]},
        {"type": "record", "name": "R", "fields": [{"name": "n", "type": "Unknown"}]},
        "not a type",
    ],
)  # fmt: skip
def test_a_schema_that_cannot_be_used_is_the_records_fault(schema: Any) -> None:
    writers = Writers()
    name = writers.add(schema)
    value = b"\0" + number(name, 4) + b"\2" * 100_000
    assert [r.reason for r in run(writers, value).rejected] == ["incompatible-schema"]


def test_a_schema_may_refer_to_others() -> None:
    writers = Writers()
    city = row_schema(name="string") | {"name": "City"}
    schema = row_schema(id="long", name="string", city="City")
    name = writers.add(schema, city)
    content = written(row_schema(id="long", name="string", city=city), {**ROW, "city": ROW})
    assert rows(run(writers, b"\0" + number(name, 4) + content)) == [ROW]


def test_a_schema_may_change_from_record_to_record() -> None:
    writers = Writers()
    later = row_schema(more="string", name="string", id="int")
    values = [
        writers.record(VALUE, ROW),
        writers.record(later, {"more": "x", "name": "b", "id": 2}),
        writers.record(row_schema(id="long"), {"id": 3}),
    ]
    assert rows(run(writers, *values, values[0])) == [
        ROW,
        {"id": 2, "name": "b"},
        {"id": 3, "name": None},
        ROW,
    ]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (row_schema(id="string", name="string"), {"id": "1", "name": "a"}),
        (row_schema(name="string"), {"name": "a"}),
        (row_schema(id="long", name="long"), {"id": 1, "name": 1}),
        (row_schema(id=["long", "string"], name="string"), {"id": 1, "name": "a"}),
    ],
)
def test_schemas_that_do_not_fit_are_both_in_the_message(schema: Any, value: Any) -> None:
    writers = Writers()
    decoded = run(writers, writers.record(VALUE, ROW), writers.record(schema, value))
    assert decoded.rows.to_pylist() == [ROW]
    (rejected,) = decoded.rejected
    assert rejected.reason == "incompatible-schema"
    assert "the table has {id: int64, name: string}" in rejected.message
    assert "the writer {" in rejected.message


def test_a_wider_number_is_taken_as_long_as_it_fits() -> None:
    writers = Writers()
    narrow = pa.schema([pa.field("id", pa.int32(), nullable=False)])
    values = [writers.record(row_schema(id="long"), {"id": n}) for n in (7, 2**31)]
    spec = kafka(narrow, (), format="avro", envelope="append")
    decoded = decode(Records(values, [0, 1]), spec, writers)
    assert decoded.rows.to_pylist() == [{"id": 7}]
    assert [r.reason for r in decoded.rejected] == ["out-of-range"]


def test_a_debezium_envelope_comes_in_avro() -> None:
    writers = Writers()
    schema = envelope_schema(id="long", name=["null", "string"])
    name = writers.add(schema)
    key = row_schema(id="long")
    values = [
        b"\0" + number(name, 4) + written(schema, {"ts_ms": 5, **envelope})
        for envelope in (
            {"op": "c", "before": None, "after": ROW},
            {"op": "d", "before": None, "after": None},
        )
    ]
    keys = [writers.record(key, {"id": 1})] * 3
    spec = kafka(SCHEMA, format="avro")
    decoded = decode(Records([*values, None], range(3), keys=keys), spec, writers)
    assert decoded.rejected == ()
    assert decoded.diffs.tolist() == [1, -1]
    assert decoded.rows.to_pylist() == [ROW, {"id": 1, "name": None}]
    assert (decoded.ts_ms.tolist(), decoded.tombstones) == ([5, 5], 1)


def test_a_value_that_was_not_logged_comes_as_bytes_too() -> None:
    writers = Writers()
    schema = envelope_schema(id="long", v="bytes")
    after = {"id": 1, "v": b"__debezium_unavailable_value"}
    value = writers.record(schema, {"op": "u", "before": None, "after": after, "ts_ms": None})
    spec = kafka(pa.schema([SCHEMA.field(0), pa.field("v", pa.binary())]), format="avro")
    decoded = decode(Records([value], [0]), spec, writers)
    assert decoded.missing == [(1,)]


def test_upserts_have_a_schema_each_for_key_and_value() -> None:
    writers = Writers()
    value = row_schema(name="string")
    keys = [writers.record(row_schema(id="int"), {"id": 1}), writers.record("long", 2), None]
    contents = [writers.record(value, {"name": "a"}), None, writers.record(value, {"name": "b"})]
    spec = kafka(SCHEMA, format="avro", envelope="upsert")
    decoded = decode(Records(contents, range(3), keys=keys), spec, writers)
    assert decoded.diffs.tolist() == [1, -1]
    assert decoded.rows.to_pylist() == [ROW, {"id": 2, "name": None}]
    assert [r.reason for r in decoded.rejected] == ["null-key"]


def test_keys_and_values_may_change_their_schemas_one_after_the_other() -> None:
    writers = Writers()
    later = row_schema(name="string", more="string")
    keys = [writers.record("long", 1), writers.record("int", 2), writers.record("int", 3)]
    values = [writers.record(row_schema(name="string"), {"name": name}) for name in "aa"]
    values[1] = values[0]
    values.append(writers.record(later, {"name": "b", "more": "x"}))
    wide = pa.schema([*SCHEMA, pa.field("more", pa.string())])
    spec = kafka(wide, format="avro", envelope="upsert")
    decoded = decode(Records(values, range(3), keys=keys), spec, writers)
    assert decoded.rows["id"].to_pylist() == [1, 2, 3]
    assert decoded.rows["more"].to_pylist() == [None, None, "x"]


def test_a_delete_stands_beside_a_value_whose_schema_does_not_fit() -> None:
    writers = Writers()
    key = [writers.record("long", n) for n in (1, 2)]
    values = [None, writers.record(row_schema(name="long"), {"name": 1})]
    spec = kafka(SCHEMA, format="avro", envelope="upsert")
    decoded = decode(Records(values, range(2), keys=key), spec, writers)
    assert decoded.rows.to_pylist() == [{"id": 1, "name": None}]
    assert [(r.offset, r.reason) for r in decoded.rejected] == [(1, "incompatible-schema")]


def test_without_a_registry_a_table_in_avro_is_refused_and_its_records_wait() -> None:
    connection = Connection(name="main", bootstrap_servers="127.0.0.1:1")
    with pytest.raises(InvalidTable, match="schema_registry_url of connection 'main'"):
        Clusters({"main": connection}).preflight(APPENDED)
    with pytest.raises(RegistryUnavailable, match="'main': schema_registry_url"):
        decode(Records([b"\0"], [0]), APPENDED)


def test_a_schema_of_types_that_share_their_parts_is_read() -> None:
    def record(level: int) -> dict[str, Any]:
        inner = record(level + 1) if level < 30 else "int"
        fields: list[Any] = [{"name": "a", "type": inner}]
        if level < 30:
            fields.append({"name": "b", "type": ["null", f"M{level + 1}"]})
        return {"type": "record", "name": f"M{level}", "fields": fields}

    value: Any = 1
    for _ in range(31):
        value = {"a": value, "b": None}
    writers = Writers()
    schema = row_schema(id="int", nested=record(0))
    content = writers.record(schema, {"id": 7, "nested": value})
    spec = kafka(pa.schema([pa.field("id", pa.int64())]), (), format="avro", envelope="append")
    assert decode(Records([content], [0]), spec, writers).rows.to_pylist() == [{"id": 7}]
