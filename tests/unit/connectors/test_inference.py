"""Inference without a broker: envelopes, columns and keys by the first records of file topics."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from connectors.errors import InvalidTable
from connectors.files.writer import TopicWriter
from connectors.inference import topics
from connectors.inference.infer import describe, infer
from connectors.inference.proposal import Given, Proposal
from connectors.inference.topics import FileTopic, topic_of
from connectors.tables.spec import TableSpec


def topic(root: Path, *records: Any) -> FileTopic:
    """A topic of these records: bytes as they are, all else as JSON."""
    writer = TopicWriter(root, "orders")
    writer.append([r if isinstance(r, bytes) else orjson.dumps(r) for r in records])
    writer.close()
    return FileTopic(root, "orders")


def inferred(root: Path, *records: Any, **given: Any) -> Proposal:
    return infer(topic(root, *records), Given(**given), 1000)


def columns(proposal: Proposal) -> dict[str, tuple[str, bool]]:
    """The type of each column, and whether it may be NULL."""
    spec = TableSpec.from_json(
        {
            **proposal.members(),
            "columns": [{"nullable": True, **c} for c in proposal.members()["columns"]],
            "name": "orders",
            "topic": "orders",
        }
    )
    named = {c["name"]: c["type"] for c in spec.to_json()["columns"]}
    return {f.name: (named[f.name], f.nullable) for f in proposal.schema}


def change(op: str, after: Any, before: Any = None) -> dict[str, Any]:
    return {"op": op, "before": before, "after": after}


def with_schema(payload: Any, **fields: dict[str, Any]) -> dict[str, Any]:
    """A record with Connect's schema of Debezium's envelope."""
    listed = [{"field": name, **schema} for name, schema in fields.items()]
    image = {"type": "struct", "optional": True, "fields": listed}
    schema = {
        "type": "struct",
        "fields": [
            {**image, "field": "before"},
            {**image, "field": "after"},
            {"type": "string", "field": "op"},
        ],
    }
    return {"schema": schema, "payload": payload}


@pytest.mark.parametrize(
    ("values", "name", "nullable"),
    [
        ([1, 2], "int64", False),
        ([1, None], "int64", True),
        ([2**63, 1], "uint64", False),
        ([2**63, -1], "decimal128(38, 0)", False),
        ([1, 2.5], "float64", False),
        ([True, False], "bool", False),
        (["a", "2024-01-31"], "utf8", False),
        (["2024-01-31", "2024-02-01"], "date32", False),
        (["2024-01-31T10:00:00Z", "2024-01-31T10:00:00+02:00"], "timestamp[us, tz=UTC]", False),
        (["2024-01-31T10:00:00", None], "timestamp[us]", True),
        (["10:00:00", "11:30:00.5"], "time64[us]", False),
        (["12.50", "-7.25"], "decimal128(38, 2)", False),
        (["12.50", "7.5"], "utf8", False),
        (["007", "12"], "utf8", False),
        (["20240131", "1230"], "utf8", False),
        (["5f0c6d3e-3c1b-4b1e-9f0a-1f0a5f0c6d3e"] * 2, "uuid", False),
        ([{"a": 1}, {}], "json", False),
        ([[1, 2], []], "list<int64>", False),
        ([["a"], [None]], "list<utf8>", False),
        ([[1, "a"], []], "json", False),
        ([[{"a": 1}], []], "json", False),
        ([{"a": 1}, 7], "json", False),
        ([None, None], "utf8", True),
    ],
)
def test_a_column_has_the_type_of_all_its_values(
    tmp_path: Path, values: list[Any], name: str, nullable: bool
) -> None:
    found = inferred(tmp_path, *({"v": value} for value in values))
    assert columns(found) == {"v": (name, nullable)}


def test_a_column_that_a_row_lacks_may_be_null(tmp_path: Path) -> None:
    found = inferred(tmp_path, {"a": 1}, {"a": 2, "b": 3})
    assert columns(found) == {"a": ("int64", False), "b": ("int64", True)}


@pytest.mark.parametrize(
    ("values", "doubt"),
    [
        ([1.5], "column 'v': a float rounds"),
        (["12.50"], "column 'v': its texts all look like decimals"),
        ([1735689600000], "column 'v': if it counts milliseconds"),
        ([None], "column 'v': only NULL was seen"),
        ([1, "a"], "column 'v': texts were seen, and int"),
        ([1], "by 1 records: there may be more than they show, as NULL in v"),
    ],
)
def test_what_values_cannot_say_is_told(tmp_path: Path, values: list[Any], doubt: str) -> None:
    found = inferred(tmp_path, *({"v": value} for value in values))
    assert any(told.startswith(doubt) for told in found.unsure), found.unsure


def test_plain_rows_are_added(tmp_path: Path) -> None:
    found = inferred(tmp_path, {"id": 1})
    assert (found.format, found.envelope, found.key) == ("json", "append", ())


def test_columns_are_those_of_whole_images_alone(tmp_path: Path) -> None:
    """An image before a change is mostly NULL, which says nothing of the columns."""
    found = inferred(
        tmp_path,
        change("c", {"id": 1, "n": 5}),
        change("u", {"id": 1, "n": 6}, {"id": 1, "n": None}),
        change("d", None, {"id": 1, "n": None}),
    )
    assert found.envelope == "debezium"
    assert columns(found) == {"id": ("int64", False), "n": ("int64", False)}


def test_a_key_that_nothing_names_is_taken_by_its_name_and_told(tmp_path: Path) -> None:
    found = inferred(tmp_path, change("c", {"id": 1}))
    assert found.key == ("id",)
    assert "no record names the primary key; 'id' is taken by its name" in found.unsure


def test_without_any_key_whole_images_are_proposed_and_told(tmp_path: Path) -> None:
    found = inferred(tmp_path, change("c", {"n": 1}))
    assert (found.key, found.replica_identity) == ((), "full")
    assert any("replica_identity 'full' if the table has none" in told for told in found.unsure)


@pytest.mark.parametrize(
    ("record", "envelope", "key", "names"),
    [
        ({"id": 1, "n": 2, "__deleted": "false"}, "flat", ("id",), ["id", "n"]),
        (
            {"database": "d", "table": "t", "type": "insert", "ts": 1, "data": {"id": 1, "n": 2}},
            "maxwell",
            ("id",),
            ["id", "n"],
        ),
        (
            {
                "database": "d",
                "table": "t",
                "type": "INSERT",
                "isDdl": False,
                "pkNames": ["code"],
                "data": [{"code": "1", "n": "2"}, {"code": "2", "n": "3"}],
            },
            "canal",
            ("code",),
            ["code", "n"],
        ),
        (
            {"op": "c", "before": None, "after": '{"_id": 1}', "updateDescription": None},
            "mongodb",
            ("id",),
            ["id", "document"],
        ),
    ],
)
def test_an_envelope_is_told_by_its_members(
    tmp_path: Path, record: Any, envelope: str, key: tuple[str, ...], names: list[str]
) -> None:
    found = inferred(tmp_path, record)
    assert (found.envelope, found.key) == (envelope, key)
    assert list(columns(found)) == names


def test_a_few_other_records_do_not_hide_the_envelope(tmp_path: Path) -> None:
    found = inferred(tmp_path, change("c", {"id": 1}), change("c", {"id": 2}), {"a": 1})
    assert found.envelope == "debezium"


def test_the_envelope_that_is_given_stands(tmp_path: Path) -> None:
    found = inferred(tmp_path, change("c", {"id": 1}), envelope="append")
    assert list(columns(found)) == ["op", "before", "after"]


def test_lines_are_cut_and_have_the_types_that_they_spell(tmp_path: Path) -> None:
    found = inferred(tmp_path, b'1;"a;b";1.5;true', b"2;;2;false")
    assert (found.format, found.envelope) == ("csv", "append")
    assert found.members()["csv"] == {"delimiter": ";"}
    assert columns(found) == {
        "column1": ("int64", False),
        "column2": ("utf8", True),
        "column3": ("float64", False),
        "column4": ("bool", False),
    }


def test_a_header_names_the_columns_and_is_told(tmp_path: Path) -> None:
    found = inferred(tmp_path, b"id,name", b"1,ada", b"2,bob")
    assert columns(found) == {"id": ("int64", False), "name": ("utf8", False)}
    assert any("looks like a header" in told for told in found.unsure)


@pytest.mark.parametrize(("record", "name"), [(b"a text", "utf8"), (b"\xff\x00", "binary")])
def test_records_of_no_other_form_are_one_column(tmp_path: Path, record: bytes, name: str) -> None:
    found = inferred(tmp_path, record)
    assert (found.format, columns(found)) == ("bytes", {"value": (name, False)})


def test_no_more_records_are_looked_at_than_asked(tmp_path: Path) -> None:
    assert columns(infer(topic(tmp_path, {"a": 1}, {"a": "b"}), Given(), 1)) == {
        "a": ("int64", False)
    }


def test_an_empty_topic_says_what_to_declare(tmp_path: Path) -> None:
    with pytest.raises(InvalidTable, match="'orders': it has no record yet; declare `columns`"):
        infer(FileTopic(tmp_path, "orders"), Given(), 10)


def test_a_name_that_leads_elsewhere_is_no_topic(tmp_path: Path) -> None:
    with pytest.raises(InvalidTable, match="not a usable name"):
        topic_of("../orders", None, tmp_path, {})


TIME, CONNECT = "io.debezium.time.", "org.apache.kafka.connect.data."


@pytest.mark.parametrize(
    ("schema", "name"),
    [
        ({"type": "int16"}, "int16"),
        ({"type": "double"}, "float64"),
        ({"type": "boolean"}, "bool"),
        ({"type": "bytes"}, "binary"),
        ({"type": "int32", "name": TIME + "Date"}, "date32"),
        ({"type": "int64", "name": TIME + "MicroTime"}, "time64[us]"),
        ({"type": "int64", "name": TIME + "Timestamp"}, "timestamp[us]"),
        ({"type": "string", "name": TIME + "ZonedTimestamp"}, "timestamp[us, tz=UTC]"),
        ({"type": "int64", "name": TIME + "MicroDuration"}, "interval"),
        (
            {
                "type": "bytes",
                "name": CONNECT + "Decimal",
                "parameters": {"scale": "2", "connect.decimal.precision": "12"},
            },
            "decimal128(12, 2)",
        ),
        (
            {"type": "bytes", "name": CONNECT + "Decimal", "parameters": {"scale": "3"}},
            "decimal128(38, 3)",
        ),
        ({"type": "struct", "name": "io.debezium.data.VariableScaleDecimal"}, "decimal128(38, 18)"),
        ({"type": "string", "name": "io.debezium.data.Uuid"}, "uuid"),
        ({"type": "string", "name": "io.debezium.data.Json"}, "json"),
        ({"type": "string", "name": "io.debezium.data.Enum"}, "utf8"),
        ({"type": "string", "name": "io.debezium.data.EnumSet"}, "list<utf8>"),
        ({"type": "array", "items": {"type": "int32"}}, "list<int32>"),
        ({"type": "array", "items": {"type": "struct", "fields": []}}, "json"),
        ({"type": "map", "values": {"type": "string"}}, "json"),
    ],
)
def test_a_column_is_as_the_schema_in_the_record_says(
    tmp_path: Path, schema: dict[str, Any], name: str
) -> None:
    record = with_schema(
        change("c", {"id": 1, "v": None}),
        id={"type": "int64"},
        v={**schema, "optional": True},
    )
    found = describe(topic(tmp_path, record), Given(key=("id",)))
    assert (found.format, found.envelope, found.key) == ("json", "debezium", ("id",))
    assert columns(found) == {"id": ("int64", False), "v": (name, True)}


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ((), "file topic 'orders': it has no record yet; declare `columns`"),
        (
            ({"id": 1},),
            "file topic 'orders': its records have no schema that .* \\(`ivm source infer orders`",
        ),
        ((b"a,b",), r"its records have no schema .*\(json: not JSON.*\); declare `columns`"),
        (
            (with_schema(change("c", {"id": 1}), id={"type": "int64"}),),
            "file topic 'orders': key: no record names the primary key; declare `key`",
        ),
        (
            (with_schema(change("c", {"v": 1}), v={"type": "odd"}),),
            "no row was found .* column 'v' is left out: its schema gives several types",
        ),
    ],
)
def test_what_schemas_do_not_say_is_to_be_declared(
    tmp_path: Path, records: tuple[Any, ...], message: str
) -> None:
    found = topic(tmp_path, *records) if records else FileTopic(tmp_path, "orders")
    with pytest.raises(InvalidTable, match=message):
        describe(found, Given())


def test_a_column_without_a_type_is_left_out_and_told(tmp_path: Path) -> None:
    record = with_schema(change("c", {"id": 1, "v": 1}), id={"type": "int64"}, v={"type": "odd"})
    found = describe(topic(tmp_path, record), Given(key=("id",)))
    assert columns(found) == {"id": ("int64", False)}
    assert found.unsure == ("column 'v' is left out: its schema gives several types",)


@pytest.mark.parametrize(
    "record",
    [
        b"[" * 900 + b"]" * 900,
        b'{"v": ' + b"[" * 900 + b"]" * 900 + b"}",
        b'{"v": ' + b'{"w": ' * 900 + b"1" + b"}" * 901,
        b'{"": 1, "v": 2}',
        b'{"v": 1e400, "w": 123456789012345678901234567890}',
        b"a,b\0c,d",
        b"a," + b"x" * 200_000,
        b'"a,b',
        b"{" * 100,
        b"null",
        b"",
    ],
)
def test_no_record_is_too_odd_to_look_at(tmp_path: Path, record: bytes) -> None:
    found = inferred(tmp_path, record)
    assert all(name for name in columns(found))


def test_a_name_that_no_column_can_have_is_left_out_and_told(tmp_path: Path) -> None:
    found = inferred(tmp_path, {"": 1, "v": 2})
    assert list(columns(found)) == ["v"]
    assert "column '' is left out: no column can be called so" in found.unsure


def of_arrays(depth: int) -> bytes:
    """A record whose schema has so many arrays within each other."""
    record = with_schema(change("c", {"id": 1}), id={"type": "int64"}, v={"type": "int32"})
    opened, closed = b'{"type":"array","items":' * depth, b"}" * depth
    inner = b'{"type":"int32"}'
    nested = opened + inner + closed
    text = orjson.dumps(record)
    return text.replace(b'"type":"int32"', b'"type":"array","items":' + nested)


def test_a_schema_that_is_nested_deeply_is_a_document(tmp_path: Path) -> None:
    found = describe(topic(tmp_path, of_arrays(200)), Given(key=("id",)))
    assert columns(found)["v"][0] == "json"


def test_a_schema_that_is_nested_too_deeply_is_told(tmp_path: Path) -> None:
    with pytest.raises(
        InvalidTable, match="json: the writer's schema cannot be used: Recursion limit"
    ):
        describe(topic(tmp_path, of_arrays(980)), Given(key=("id",)))


def test_no_more_bytes_are_looked_at_than_are_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topics, "MOST_BYTES", 10)
    assert len(topic(tmp_path, *({"n": n} for n in range(100))).first(100)) == 2
