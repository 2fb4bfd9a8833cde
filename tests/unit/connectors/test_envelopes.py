"""The envelopes besides Debezium's: what each record sets, adds, deletes and takes away."""

import math
from collections.abc import Sequence
from typing import Any

import orjson
import pyarrow as pa
import pytest

from connectors.declaration import Csv
from connectors.decode import decode
from connectors.records import Decoded, Records
from connectors.tables.spec import Envelope, TableSpec
from ivm.values.types import JSON
from tests.unit.connectors.records import SCHEMA
from tests.unit.connectors.writers import kafka


def run(
    spec: TableSpec, *values: Any, keys: Sequence[bytes | None] | None = None, **more: Any
) -> Decoded:
    contents = [orjson.dumps(v) if isinstance(v, dict) else v for v in values]
    return decode(Records(contents, range(len(values)), keys=keys, **more), spec)


def changes(decoded: Decoded) -> list[tuple[Any, ...]]:
    rows = [tuple(row.values()) for row in decoded.rows.to_pylist()]
    return list(zip(decoded.offsets.tolist(), decoded.diffs.tolist(), rows, strict=True))


def reasons(decoded: Decoded) -> list[tuple[int, str]]:
    return [(record.offset, record.reason) for record in decoded.rejected]


# --- append ---


def test_every_appended_record_is_a_row_stamped_with_the_records_time() -> None:
    spec = kafka(SCHEMA, (), envelope="append")
    decoded = run(spec, {"id": 1, "name": "a"}, {"id": 1, "name": "a"}, timestamps=[5, -1])
    assert changes(decoded) == [(0, 1, (1, "a")), (1, 1, (1, "a"))]
    assert decoded.ts_ms.tolist() == [5, 0]


def test_what_is_no_row_is_not_appended() -> None:
    spec = kafka(SCHEMA, (), envelope="append")
    decoded = run(spec, None, {"name": "a"}, b"[]", b"null", {"id": None, "name": "a"})
    assert changes(decoded) == []
    assert reasons(decoded) == [
        (0, "null-record"),
        (1, "missing-field"),
        (2, "not-an-envelope"),
        (3, "null-record"),
        (4, "null-value"),
    ]


_FIELDS: list[pa.Field] = [
    pa.field("id", pa.int64(), nullable=False),
    pa.field("n", pa.decimal128(9, 2)),
    pa.field("b", pa.bool_()),
    pa.field("f", pa.float64()),
    pa.field("t", pa.string()),
    pa.field("d", pa.date32()),
    pa.field("l", pa.list_(pa.int8())),
]
TYPES = pa.schema(_FIELDS)
CSV = TableSpec("t", "t", TYPES, (), envelope="append", format="csv")


def test_a_line_of_csv_has_a_text_for_each_column() -> None:
    decoded = run(CSV, b'1,1.50,true,2.5,"say ""a, b""",2020-01-01,"[1,2]"', b"2,,,,,,")
    assert reasons(decoded) == []
    first, second = decoded.rows.to_pylist()
    assert [str(v) for v in first.values()] == [
        *["1", "1.50", "True", "2.5", 'say "a, b"', "2020-01-01", "[1, 2]"]
    ]
    assert list(second.values()) == [2, None, None, None, None, None, None]


def test_a_quoted_text_is_never_null() -> None:
    assert run(CSV, b'1,,,,"",,').rows["t"].to_pylist() == [""]


def test_a_float_of_csv_may_be_infinite_by_name() -> None:
    decoded = run(CSV, b"1,,,-Infinity,,,", b"2,,,inf,,,", b"3,,,1e308,,,")
    assert decoded.rows["f"].to_pylist() == [-math.inf, math.inf, 1e308]


def test_csv_has_a_form() -> None:
    spec = TableSpec(
        "t", "t", SCHEMA, (), envelope="append", format="csv", csv=Csv(";", "'", "NULL")
    )
    decoded = run(spec, b"1;'a;''b'", b"2;NULL\r\n", b"3;'NULL'", b"4;")
    assert changes(decoded) == [
        (0, 1, (1, "a;'b")),
        (1, 1, (2, None)),
        (2, 1, (3, "NULL")),
        (3, 1, (4, "")),
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"1,2", "not-csv"),
        (b"1,,,,,,,", "not-csv"),
        (b'1,"2,,,,,', "not-csv"),
        (b'1,"2"x,,,,,', "not-csv"),
        (b'1,x"2",,,,,', "not-csv"),
        (b"\xff,,,,,,", "not-text"),
        (b"x,,,,,,", "wrong-type"),
        (b"1,,yes please,,,,", "wrong-type"),
        (b"1,,,,,,{}", "wrong-type"),
        (b"1,1.234,,,,,", "out-of-range"),
        (b"1,,,-1e999,,,", "out-of-range"),
        (b"", "not-csv"),
    ],
)
def test_a_line_that_is_no_row_is_rejected(line: bytes, reason: str) -> None:
    decoded = run(CSV, b"1,,,,,,", line, b"2,,,,,,")
    assert reasons(decoded) == [(1, reason)]
    assert decoded.offsets.tolist() == [0, 2]


@pytest.mark.parametrize(("dtype", "value"), [(pa.binary(), b"\xff\0"), (pa.string(), "\u00e9")])
def test_bytes_are_one_column(dtype: pa.DataType, value: Any) -> None:
    schema = pa.schema([pa.field("body", dtype, nullable=False)])
    spec = kafka(schema, (), envelope="append", format="bytes")
    content = value if isinstance(value, bytes) else value.encode()
    assert run(spec, content).rows.to_pylist() == [{"body": value}]


def test_a_text_column_takes_no_bytes_that_are_not_utf8() -> None:
    spec = kafka(pa.schema([("body", pa.string())]), (), envelope="append", format="bytes")
    assert reasons(run(spec, b"\xff", None)) == [(0, "not-text"), (1, "null-record")]


# --- upsert ---

UPSERT = kafka(SCHEMA, envelope="upsert")


def test_a_value_sets_the_row_of_its_key_and_none_deletes_it() -> None:
    decoded = run(UPSERT, {"name": "a"}, None, b"null", keys=[b'{"id":1}', b'{"id":2}', b"3"])
    assert changes(decoded) == [(0, 1, (1, "a")), (1, -1, (2, None)), (2, -1, (3, None))]
    assert decoded.tombstones == 0


def test_the_key_column_is_that_of_the_key() -> None:
    decoded = run(UPSERT, {"id": 9, "name": "a"}, keys=[b'{"id":1,"more":2}'])
    assert changes(decoded) == [(0, 1, (1, "a"))]


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        (None, "null-key"),
        (b"null", "null-key"),
        (b"{", "not-json"),
        (b"{}", "missing-field"),
        (b'{"id":"x"}', "wrong-type"),
        (b'{"id":null}', "null-value"),
        (b"[1]", "wrong-type"),
    ],
)
@pytest.mark.parametrize("value", [None, {"name": "a"}])
def test_a_record_without_a_good_key_is_rejected(
    key: bytes | None, reason: str, value: Any
) -> None:
    decoded = run(UPSERT, value, {"name": "b"}, keys=[key, b"2"])
    assert reasons(decoded) == [(0, reason)]
    assert changes(decoded) == [(1, 1, (2, "b"))]
    assert decoded.rejected[0].key == key


def test_without_keys_nothing_is_set() -> None:
    assert reasons(run(UPSERT, {"name": "a"})) == [(0, "null-key")]


def test_the_bytes_of_the_key_may_be_the_key_column() -> None:
    schema = pa.schema([pa.field("k", pa.string(), nullable=False), SCHEMA.field(1)])
    spec = kafka(schema, ("k",), envelope="upsert", metadata={"k": "key"})
    decoded = run(spec, {"name": "a"}, None, {"name": "b"}, {}, keys=[b"x", b"y", None, b"\xff"])
    assert changes(decoded) == [(0, 1, ("x", "a")), (1, -1, ("y", None))]
    assert reasons(decoded) == [(2, "null-key"), (3, "not-text")]


# --- Maxwell and Canal ---


def maxwell(kind: str, data: Any = None, old: Any = None, **more: Any) -> dict[str, Any]:
    return {"type": kind, "database": "d", "table": "t", "ts": 7, "data": data, "old": old, **more}


def canal(kind: str, data: Any = None, old: Any = None, **more: Any) -> dict[str, Any]:
    return {"type": kind, "isDdl": False, "es": 7, "ts": 8, "data": data, "old": old, **more}


def log(envelope: Envelope, is_whole: bool) -> TableSpec:
    identity: Any = "full" if is_whole else "default"
    return TableSpec("t", "t", SCHEMA, ("id",), envelope=envelope, replica_identity=identity)


A, B, MOVED = {"id": 1, "name": "a"}, {"id": 1, "name": "b"}, {"id": 2, "name": "a"}


def test_maxwell_sets_and_deletes_by_key() -> None:
    decoded = run(
        log("maxwell", False),
        maxwell("bootstrap-insert", A),
        maxwell("insert", A),
        maxwell("update", B, {"name": "a"}),
        maxwell("update", MOVED, {"id": 1}),
        maxwell("delete", MOVED),
    )
    assert changes(decoded) == [
        (0, 1, (1, "a")),
        (1, 1, (1, "a")),
        (2, 1, (1, "b")),
        (3, -1, (1, None)),
        (3, 1, (2, "a")),
        (4, -1, (2, None)),
    ]
    assert set(decoded.ts_ms.tolist()) == {7000}


def test_maxwell_has_whole_rows_too() -> None:
    decoded = run(
        log("maxwell", True),
        maxwell("insert", A),
        maxwell("update", B, {"name": "a"}),
        maxwell("delete", B),
    )
    assert changes(decoded) == [
        (0, 1, (1, "a")),
        (1, -1, (1, "a")),
        (1, 1, (1, "b")),
        (2, -1, (1, "b")),
    ]


def test_maxwell_says_where_in_the_log_a_change_stands() -> None:
    decoded = run(log("maxwell", False), maxwell("insert", A, position="master.000006:800911"))
    assert decoded.order is not None
    assert decoded.order.tolist() == [[6, 800911]]


@pytest.mark.parametrize("kind", ["table-create", "table-alter", "bootstrap-start"])
def test_maxwells_statements_and_marks_are_ignored(kind: str) -> None:
    decoded = run(log("maxwell", False), maxwell(kind), maxwell("insert", A))
    assert (decoded.ignored, changes(decoded)) == (1, [(1, 1, (1, "a"))])


def test_canal_carries_several_rows_whose_values_are_texts() -> None:
    types = pa.schema([*SCHEMA, TYPES.field("n"), TYPES.field("b")])
    spec = TableSpec("t", "t", types, ("id",), envelope="canal")
    rows = [{"id": "1", "name": "a", "n": "1.50", "b": "1"}, {"id": "2", "name": None, "n": None,
            "b": None}]  # fmt: skip
    decoded = run(spec, canal("INSERT", rows))
    assert [row["id"] for row in decoded.rows.to_pylist()] == [1, 2]
    assert str(decoded.rows["n"][0]) == "1.50"
    assert (decoded.offsets.tolist(), decoded.ts_ms.tolist()) == ([0, 0], [7, 7])


def test_canal_writes_bytes_as_latin_letters() -> None:
    schema = pa.schema([SCHEMA.field(0), pa.field("v", pa.binary())])
    spec = TableSpec("t", "t", schema, ("id",), envelope="canal")
    decoded = run(
        spec, canal("INSERT", [{"id": "1", "v": "a\xff\0"}, {"id": "2", "v": "\u0100"}]),
        canal("INSERT", [{"id": "3", "v": "a\xff\0"}]),
    )  # fmt: skip
    assert decoded.rows.to_pylist() == [{"id": 3, "v": b"a\xff\0"}]
    assert reasons(decoded) == [(0, "wrong-type")]


def test_canal_sets_deletes_and_truncates() -> None:
    decoded = run(
        log("canal", False),
        canal(
            "UPDATE",
            [{"id": "1", "name": "b"}, {"id": "2", "name": "a"}],
            [{"name": "a"}, {"id": "1"}],
        ),
        canal("DELETE", [{"id": "2", "name": "a"}]),
        canal("TRUNCATE", isDdl=True),
    )
    assert changes(decoded) == [
        (0, 1, (1, "b")),
        (0, -1, (1, None)),
        (0, 1, (2, "a")),
        (1, -1, (2, None)),
        (2, 0, (None, None)),
    ]


def test_canal_has_whole_rows_too() -> None:
    decoded = run(log("canal", True), canal("UPDATE", [{"id": "1", "name": "b"}], [{"name": "a"}]))
    assert changes(decoded) == [(0, -1, (1, "a")), (0, 1, (1, "b"))]


@pytest.mark.parametrize("kind", ["CREATE", "ALTER", "QUERY", "ERASE"])
def test_canals_other_statements_are_ignored(kind: str) -> None:
    decoded = run(log("canal", False), canal(kind, isDdl=True))
    assert (decoded.ignored, changes(decoded)) == (1, [])


@pytest.mark.parametrize(
    ("envelope", "value", "reason"),
    [
        ("maxwell", maxwell("insert"), "missing-image"),
        ("maxwell", maxwell("update", A), "missing-image"),
        ("maxwell", maxwell("delete", {"name": "a"}), "missing-image"),
        ("maxwell", maxwell("replace", A), "unknown-op"),
        ("maxwell", {"data": A}, "missing-field"),
        ("canal", canal("INSERT"), "missing-image"),
        ("canal", canal("INSERT", []), "missing-image"),
        ("canal", canal("INSERT", [7]), "missing-image"),
        ("canal", canal("UPDATE", [A], []), "missing-image"),
        ("canal", canal("DELETE", [{"name": "a"}]), "missing-image"),
        ("canal", canal("MERGE", [A]), "unknown-op"),
        ("canal", canal("INSERT", [A, {"id": "x", "name": "a"}]), "wrong-type"),
        ("canal", {"data": [A]}, "missing-field"),
        ("canal", b"[]", "not-an-envelope"),
        ("maxwell", b"7", "not-an-envelope"),
        ("maxwell", b"{", "not-json"),
    ],
)
def test_a_record_that_is_no_change_is_rejected_whole(
    envelope: Envelope, value: Any, reason: str
) -> None:
    decoded = run(log(envelope, False), value)
    assert (changes(decoded), reasons(decoded)) == ([], [(0, reason)])


# --- metadata ---

KINDS: dict[str, Any] = {
    "k": "key",
    "p": "partition",
    "o": "offset",
    "at": "timestamp",
    "h": "headers",
    "topic": "topic",
}
PLACED = pa.schema(
    [
        *SCHEMA,
        pa.field("k", pa.binary()),
        pa.field("p", pa.int32()),
        pa.field("o", pa.int64()),
        pa.field("at", pa.timestamp("us")),
        pa.field("h", JSON),
        pa.field("topic", pa.string()),
    ]
)


def test_columns_come_from_a_records_coordinates() -> None:
    spec = kafka(PLACED, metadata=KINDS, envelope="upsert")
    headers = [[("a", b"x"), ("a", b"\xff"), ("b", None)], None]
    decoded = run(spec, {"name": "a"}, {"name": "b"}, keys=[b"1", b"2"], timestamps=[1500, -1],
                  partition=3, headers=headers)  # fmt: skip
    first, second = decoded.rows.to_pylist()
    assert (first["k"], first["p"], first["o"], first["topic"]) == (b"1", 3, 0, "t")
    assert first["at"].isoformat() == "1970-01-01T00:00:01.500000"
    assert orjson.loads(first["h"]) == [
        {"key": "a", "value": "x"},
        {"key": "a", "base64": "/w=="},
        {"key": "b", "value": None},
    ]
    assert (second["at"], second["h"]) == (None, None)


@pytest.mark.parametrize("envelope", ["debezium", "append"])
def test_every_envelope_has_metadata(envelope: Envelope) -> None:
    key = () if envelope == "append" else ("id",)
    spec = kafka(PLACED, key, metadata=KINDS, envelope=envelope)
    row = {"id": 1, "name": "a"}
    value = row if envelope == "append" else {"op": "c", "after": row}
    assert run(spec, value, partition=2).rows["p"].to_pylist() == [2]


def test_a_record_whose_coordinates_do_not_fit_is_rejected() -> None:
    fields = [pa.field("at", pa.timestamp("us"), nullable=False), pa.field("k", pa.string())]
    schema = pa.schema([*SCHEMA, *fields])
    spec = kafka(schema, (), metadata={"at": "timestamp", "k": "key"}, envelope="append")
    row = {"id": 1, "name": "a"}
    decoded = run(spec, row, row, row, timestamps=[-1, 2**60, 0], keys=[None, None, b"\xff"])
    assert reasons(decoded) == [(0, "null-value"), (1, "out-of-range"), (2, "not-text")]


# --- plain rows ---


@pytest.mark.parametrize("envelope", ["debezium", "maxwell", "canal"])
def test_a_plain_row_in_place_of_an_envelope_is_told_of_the_envelopes_of_rows(
    envelope: Envelope,
) -> None:
    spec = kafka(SCHEMA, ("id",), envelope=envelope)
    [rejected] = run(spec, {"id": 1, "name": "ada"}).rejected
    assert "'append'" in rejected.message
    assert "'upsert'" in rejected.message


def test_an_envelope_without_its_op_is_none_of_them() -> None:
    spec = kafka(SCHEMA, ("id",))
    [rejected] = run(spec, {"before": None, "after": {"id": 1}}).rejected
    assert rejected.message == "the envelope has no field 'op'"
