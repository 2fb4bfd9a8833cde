"""Format `protobuf`: messages of a registered schema as rows, by the presence of their fields."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
import pyarrow as pa
import pytest

from connectors.decode import decode
from connectors.errors import InvalidTable, RegistryUnavailable
from connectors.formats.schemas import SchemaId, SchemaText
from connectors.records import Decoded, Records
from connectors.tables.spec import TableSpec, type_of
from tests.unit.connectors.protobufs import framed, message
from tests.unit.connectors.writers import Writers, kafka

THIRD = 'syntax = "proto3"; package shop; '
INSTANT = "google.protobuf.Timestamp f = 1;"
IMPORTS = "".join(
    f'import "google/protobuf/{name}.proto"; '
    for name in ("timestamp", "duration", "wrappers", "struct", "any")
)


def table(columns: Mapping[str, str], **fields: Any) -> TableSpec:
    schema = pa.schema([pa.field(name, type_of(kind)) for name, kind in columns.items()])
    return kafka(schema, (), **{"format": "protobuf", "envelope": "append"} | fields)


def run(
    columns: Mapping[str, str], fields: str, *values: Any, head: str = THIRD, **imported: str
) -> Decoded:
    """Messages `Row` with these fields, one for each value."""
    text = f"{head} message Row {{ {fields} }}"
    writers = Writers()
    number = writers.add_texts(text, **imported)
    package = "shop." if "package shop" in head else ""
    contents = [message(text, f"{package}Row", value, **imported) for value in values]
    framings = [framed(number, content) for content in contents]
    return decode(Records(framings, range(len(framings))), table(columns), writers)


def read(kind: str, fields: str, *values: Any, **more: Any) -> list[Any]:
    decoded = run({"f": kind}, fields, *values, **more)
    assert decoded.rejected == ()
    column = decoded.rows.column("f")
    found = (column.storage if isinstance(column, pa.ExtensionArray) else column).to_pylist()
    return [orjson.loads(one) if kind == "json" and one is not None else one for one in found]


def reasons(decoded: Decoded) -> list[str]:
    return [record.reason for record in decoded.rejected]


@pytest.mark.parametrize(
    ("proto", "kind", "value"),
    [
        ("int32", "int32", -5), ("int64", "int64", 2**62), ("uint64", "uint64", 2**64 - 1),
        ("sint32", "int32", -7), ("fixed64", "int64", 9), ("sfixed32", "int16", -9),
        ("double", "float64", 0.1), ("float", "float32", 0.5), ("bool", "bool", True),
        ("string", "utf8", "\u00e9"), ("int64", "decimal128(20, 0)", 7),
    ],
)  # fmt: skip
def test_a_scalar_is_what_was_written(proto: str, kind: str, value: Any) -> None:
    assert read(kind, f"{proto} f = 1;", {"f": value}) == [value]


def test_bytes_are_bytes() -> None:
    assert read("binary", "bytes f = 1;", {"f": "AP8="}) == [b"\0\xff"]


@pytest.mark.parametrize(
    ("field", "head", "absent"),
    [
        ("int32 f = 1;", THIRD, 0),
        ("optional int32 f = 1;", THIRD, None),
        ("oneof one { int32 f = 1; string other = 2; }", THIRD, None),
        ("google.protobuf.Int32Value f = 1;", THIRD + IMPORTS, None),
        ("optional int32 f = 1;", 'syntax = "proto2";', None),
        ("optional int32 f = 1 [default = 5];", 'syntax = "proto2";', None),
        ("int32 f = 1;", 'edition = "2023";', None),
    ],
)
def test_a_field_that_can_be_absent_is_null_where_it_is(field: str, head: str, absent: Any) -> None:
    assert read("int32", field, {}, {"f": 0}, {"f": 3}, head=head) == [absent, 0, 3]


def test_of_a_oneof_one_member_has_a_value() -> None:
    fields = "oneof one { int64 a = 1; string b = 2; In c = 3; } message In { int32 n = 1; }"
    columns = {"a": "int64", "b": "utf8", "c": "json"}
    decoded = run(columns, fields, {"a": 0}, {"b": ""}, {"c": {}}, {})
    rows = [tuple(row.values()) for row in decoded.rows.to_pylist()]
    assert rows == [(0, None, None), (None, "", None), (None, None, '{"n": 0}'), (None,) * 3]


def test_an_enum_is_its_symbol_and_a_number_without_one_its_digits() -> None:
    fields = "enum Color { RED = 0; GREEN = 1; } Color f = 1;"
    assert read("utf8", fields, {}, {"f": "GREEN"}, {"f": 7}) == ["RED", "GREEN", "7"]


def test_nested_messages_lists_and_maps_are_documents() -> None:
    fields = """message In { int64 n = 1; bytes b = 2; repeated In more = 3; double d = 4; }
        In f = 1; repeated In list = 2; map<int32, In> map = 3;"""
    one = {"n": 2**60, "b": "AP8=", "more": [{"n": 1}], "d": "NaN"}
    leaf = {"n": 1, "b": "", "more": [], "d": 0.0}
    expected = {"n": 2**60, "b": "AP8=", "more": [leaf], "d": "NaN"}
    assert read("json", fields, {"f": one}) == [expected]
    columns = {"list": "list<json>", "map": "json"}
    value = {"list": [one, {"n": 1}], "map": {"4": {"n": 1}}}
    (row,) = run(columns, fields, value).rows.to_pylist()
    assert [orjson.loads(text or "") for text in row["list"]] == [expected, leaf]
    assert orjson.loads(row["map"]) == {"4": leaf}


def test_a_list_of_messages_may_be_one_document() -> None:
    fields = "message In { int64 n = 1; } repeated In f = 1;"
    assert read("json", fields, {"f": [{"n": 1}, {}]}) == [[{"n": 1}, {"n": 0}]]


def test_a_list_of_scalars_is_a_list() -> None:
    assert read("list<int32>", "repeated int32 f = 1;", {"f": [1, 2]}, {}) == [[1, 2], []]


@pytest.mark.parametrize("kind", ["timestamp[us]", "timestamp[us, tz=UTC]", "utf8"])
@pytest.mark.parametrize(
    "text",
    [
        "2024-01-31T10:00:00Z",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59.999999Z",
        "1969-12-31T23:59:59.5Z",
    ],
)
def test_a_timestamp_is_an_instant(kind: str, text: str) -> None:
    (found,) = read(kind, INSTANT, {"f": text}, head=THIRD + IMPORTS)
    if kind == "utf8":
        assert found == text
    else:
        assert found.replace(tzinfo=None) == datetime.fromisoformat(text.removesuffix("Z"))


@pytest.mark.parametrize(("text", "micros"), [("1.5s", 1_500_000), ("-0.000001s", -1), ("0s", 0)])
def test_a_duration_is_an_interval(text: str, micros: int) -> None:
    head = THIRD + IMPORTS
    (found,) = read("interval", "google.protobuf.Duration f = 1;", {"f": text}, head=head)
    (by_hand,) = read("interval", "string f = 1;", {"f": f"PT{micros / 1e6:.6f}S"})
    assert found == by_hand


@pytest.mark.parametrize(
    ("value", "expected"),
    [({"a": 1, "b": [True, None, 0.5]}, {"a": 1, "b": [True, None, 0.5]}), ({}, {})],
)
def test_a_struct_is_a_document(value: Any, expected: Any) -> None:
    assert read("json", "google.protobuf.Struct f = 1;", {"f": value}, head=THIRD + IMPORTS) == [
        expected
    ]


def test_decimals_and_dates_of_connect_are_exact() -> None:
    head = THIRD + 'import "confluent/type/decimal.proto"; import "google/type/date.proto"; '
    fields = "confluent.type.Decimal f = 1; google.type.Date d = 2;"
    text = f"{head} message Row {{ {fields} }}"
    number = (writers := Writers()).add_texts(text)
    # f { value: 1234, scale: 2 }, d { 2024, 2, 29 }
    content = bytes.fromhex("0a060a0204d21802") + bytes.fromhex("120708e80f1002181d")
    columns = {"f": "decimal128(9, 2)", "d": "date32"}
    decoded = decode(Records([framed(number, content)], [0]), table(columns), writers)
    (row,) = decoded.rows.to_pylist()
    assert [str(value) for value in row.values()] == ["12.34", "2024-02-29"]


def test_imported_files_are_found_by_their_names() -> None:
    other = 'syntax = "proto3"; package other; message X { int32 y = 1; }'
    head = THIRD + 'import "other.proto";'
    assert read("json", "other.X f = 1;", {"f": {"y": 3}}, head=head, other=other) == [{"y": 3}]


TYPES = THIRD + "message A { int32 a = 1; } message B { message C { string f = 1; } C c = 1; }"


@pytest.mark.parametrize("places", [(1, 0), ()])
def test_the_type_is_named_by_its_place(places: Sequence[int]) -> None:
    number = (writers := Writers()).add_texts(TYPES)
    kind, value = ("shop.B.C", {"f": "x"}) if places else ("shop.A", {"a": 1})
    record = framed(number, message(TYPES, kind, value), *places)
    decoded = decode(Records([record], [0]), table({"f": "utf8", "a": "int32"}), writers)
    assert decoded.rows.to_pylist() == [{"f": value.get("f"), "a": value.get("a")}]


def test_types_of_one_schema_may_alternate() -> None:
    number = (writers := Writers()).add_texts(TYPES)
    a, c = message(TYPES, "shop.A", {"a": 1}), message(TYPES, "shop.B.C", {"f": "x"})
    records = [framed(number, a), framed(number, c, 1, 0), framed(number, a)]
    decoded = decode(Records(records, range(3)), table({"f": "utf8", "a": "int32"}), writers)
    assert [tuple(row.values()) for row in decoded.rows.to_pylist()] == [
        (None, 1),
        ("x", None),
        (None, 1),
    ]


@pytest.mark.parametrize("places", [b"\4\2\0", b""])
def test_a_header_names_the_schema_and_the_type(places: bytes) -> None:
    guid = UUID(int=7)
    writers = Writers()
    writers.schemas[SchemaId("guid", str(guid))] = (SchemaText(TYPES),)
    kind, value = ("shop.B.C", {"f": "x"}) if places else ("shop.A", {"a": 1})
    headers = [[("__value_schema_id", b"\1" + guid.bytes + places)]]
    records = Records([message(TYPES, kind, value)], [0], headers=headers)
    decoded = decode(records, table({"f": "utf8", "a": "int32"}), writers)
    assert decoded.rows.to_pylist() == [{"f": value.get("f"), "a": value.get("a")}]


def test_what_the_writer_has_more_is_left_out_and_what_it_lacks_is_null() -> None:
    decoded = run({"a": "int32", "z": "utf8"}, "int32 a = 1; int32 b = 2;", {"a": 1, "b": 2})
    assert decoded.rows.to_pylist() == [{"a": 1, "z": None}]


@pytest.mark.parametrize(
    ("kind", "field"),
    [("int32", "string f = 1;"), ("bool", "int32 f = 1;"), ("decimal128(9, 2)", "double f = 1;"),
     ("date32", "int32 f = 1;"), ("utf8", "bytes f = 1;")],
)  # fmt: skip
def test_a_field_that_does_not_fit_its_column_is_named(kind: str, field: str) -> None:
    (rejected,) = run({"f": kind}, field, {}).rejected
    assert rejected.reason == "incompatible-schema"
    assert "column 'f'" in rejected.message


def test_types_that_share_their_parts_are_told_in_part() -> None:
    levels = [f"message M{n} {{ M{n + 1} a = 1; M{n + 1} b = 2; }}" for n in range(30)]
    fields = f"int32 f = 1; M0 m = 2; {' '.join(levels)} message M30 {{ int32 a = 1; }}"
    (rejected,) = run({"f": "bool"}, fields, {}).rejected
    assert rejected.reason == "incompatible-schema"
    assert "column 'f'" in rejected.message


@pytest.mark.parametrize(
    ("kind", "fields", "value", "reason"),
    [
        ("int32", "int64 f = 1;", {"f": 2**40}, "out-of-range"),
        ("timestamp[us]", INSTANT, {"f": "2024-01-01T00:00:00.000000001Z"}, "wrong-type"),
    ],
)  # fmt: skip
def test_a_value_that_a_column_does_not_hold_is_refused(
    kind: str, fields: str, value: Any, reason: str
) -> None:
    assert reasons(run({"f": kind}, fields, value, head=THIRD + IMPORTS)) == [reason]


GOOD = THIRD + "message Row { int64 id = 1; string name = 2; }"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\0\x08", "not-protobuf"),
        (b"\0\x12\x05ab", "not-protobuf"),
        (b"\0\x12\x02\xff\xfe", "not-protobuf"),
        (b"\0\xff\xff\xff", "not-protobuf"),
        (b"\2\2\x08\1", "not-protobuf"),
        (b"\2\1\x08\1", "not-protobuf"),
        (b"\2", "not-protobuf"),
        (b"", "not-protobuf"),
        (b"\x80" * 20, "not-protobuf"),
        (b"\xfe\xff\xff\xff\x0f\0", "not-protobuf"),
    ],
)
def test_bytes_that_are_no_message_of_the_schema_are_rejected(content: bytes, reason: str) -> None:
    number = (writers := Writers()).add_texts(GOOD)
    bad = b"\0" + number.to_bytes(4, "big") + content
    good = framed(number, message(GOOD, "shop.Row", {"id": 1}))
    decoded = decode(Records([good, bad, good], range(3)), table({"id": "int64"}), writers)
    assert [(r.offset, r.reason) for r in decoded.rejected] == [(1, reason)]
    assert decoded.offsets.tolist() == [0, 2]


def test_a_message_nested_too_deeply_is_rejected() -> None:
    text = THIRD + "message Row { Row f = 1; int32 n = 2; }"
    number = (writers := Writers()).add_texts(text)
    content = b""
    for _ in range(200):
        size = len(content)
        digits = bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])
        content = b"\x0a" + digits + content
    decoded = decode(Records([framed(number, content)], [0]), table({"f": "json"}), writers)
    assert reasons(decoded) == ["not-protobuf"]


def test_a_message_without_a_required_field_is_rejected() -> None:
    head = 'syntax = "proto2";'
    assert reasons(run({"f": "int32"}, "required int32 f = 1;", {}, head=head)) == ["not-protobuf"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no type"),
        ("nonsense", "1:1: Expected top-level statement"),
        ('{"type": "string"}', "Expected top-level statement"),
        ('syntax = "proto3"; import "absent.proto";', "absent.proto"),
        ('syntax = "proto3"; message A { B b = 1; }', '"B" is not defined'),
        ('syntax = "proto3"; message A { int32 a = 1; int32 b = 1; }', "already been used"),
    ],
)
def test_a_schema_that_cannot_be_used_is_told_by_its_compiler(text: str, told: str) -> None:
    number = (writers := Writers()).add_texts(text)
    records = Records([framed(number, b"")], [0])
    (rejected,) = decode(records, table({"f": "utf8"}), writers).rejected
    assert rejected.reason in ("incompatible-schema", "not-protobuf")
    assert told in rejected.message
    assert "/tmp" not in rejected.message


@pytest.mark.parametrize("name", ["../evil.proto", "/evil.proto", "", "a\0b.proto", "e" * 300])
def test_an_import_cannot_lead_out_of_its_directory(name: str) -> None:
    writers = Writers()
    writers.schemas[SchemaId("id", "1")] = (SchemaText(GOOD, name), SchemaText(GOOD))
    (rejected,) = decode(Records([framed(1, b"")], [0]), table({"id": "int64"}), writers).rejected
    assert (rejected.reason, "no name of a file" in rejected.message) == (
        "incompatible-schema",
        True,
    )


@pytest.mark.parametrize("names", [("a", "a/b.proto"), ("a/b.proto", "a"), ("a\ud800",)])
def test_names_of_imports_that_no_files_can_have_are_told(names: Sequence[str]) -> None:
    writers = Writers()
    files = [SchemaText(GOOD, name) for name in names]
    writers.schemas[SchemaId("id", "1")] = (*files, SchemaText(GOOD))
    decoded = decode(Records([framed(1, b"")], [0]), table({"id": "int64"}), writers)
    assert reasons(decoded) == ["incompatible-schema"]


def test_an_unknown_schema_is_told() -> None:
    decoded = decode(Records([framed(9, b"")], [0]), table({"id": "int64"}), Writers())
    assert reasons(decoded) == ["unknown-schema"]


def test_a_registry_that_is_not_configured_is_told() -> None:
    with pytest.raises(RegistryUnavailable, match="format 'protobuf'"):
        decode(Records([b""], [0]), table({"id": "int64"}))


def test_a_file_topic_holds_no_protobuf() -> None:
    schema = pa.schema([pa.field("id", pa.int64())])
    with pytest.raises(InvalidTable, match="holds lines"):
        TableSpec("t", "t", schema, (), format="protobuf", envelope="append")


ENVELOPE = (
    THIRD
    + """
    message Envelope { Value before = 1; Value after = 2; string op = 3; optional int64 ts_ms = 4; }
    message Value { int64 id = 1; optional string name = 2; }
    message Key { int64 id = 1; }"""
)


def test_debezium_s_envelopes_and_keys_may_be_protobuf() -> None:
    number = (writers := Writers()).add_texts(ENVELOPE)
    changes: list[dict[str, Any]] = [
        {"op": "c", "after": {"id": 1, "name": "a"}, "ts_ms": 5},
        {"op": "d", "before": {"id": 1}},
        {"op": "d"},
    ]
    values = [framed(number, message(ENVELOPE, "shop.Envelope", one)) for one in changes]
    key = framed(number, message(ENVELOPE, "shop.Key", {"id": 2}), 2)
    keyed = kafka(table({"id": "int64", "name": "utf8"}).schema, format="protobuf")
    decoded = decode(Records(values, range(3), keys=[key] * 3), keyed, writers)
    rows = [tuple(row.values()) for row in decoded.rows.to_pylist()]
    assert (decoded.diffs.tolist(), rows) == ([1, -1, -1], [(1, "a"), (1, None), (2, None)])
    assert decoded.ts_ms.tolist() == [5, 0, 0]


@pytest.mark.parametrize("envelope", ["upsert", "flat"])
def test_a_tombstone_deletes_by_a_key_in_protobuf(envelope: str) -> None:
    number = (writers := Writers()).add_texts(ENVELOPE)
    value = framed(number, message(ENVELOPE, "shop.Value", {"id": 2, "name": "a"}), 1)
    key = framed(number, message(ENVELOPE, "shop.Key", {"id": 2}), 2)
    schema = table({"id": "int64", "name": "utf8"}).schema
    records = Records([value, None], range(2), keys=[key] * 2)
    decoded = decode(records, kafka(schema, format="protobuf", envelope=envelope), writers)
    rows = [tuple(row.values()) for row in decoded.rows.to_pylist()]
    assert (decoded.diffs.tolist(), rows) == ([1, -1], [(2, "a"), (2, None)])
