"""Envelope `flat`: rows of Debezium's, with each way to write that one was deleted."""

from collections.abc import Sequence
from typing import Any

import orjson
import pyarrow as pa
import pytest

from connectors.decode import decode
from connectors.errors import InvalidTable
from connectors.records import Decoded, Records
from connectors.tables.spec import TableSpec
from tests.unit.connectors.records import SCHEMA
from tests.unit.connectors.writers import Writers, kafka, row_schema

PEOPLE = kafka(SCHEMA, envelope="flat")
A = {"id": 1, "name": "a"}
SET, GONE = (1, (1, "a")), (-1, (1, None))


def run(
    *values: Any, keys: Sequence[Any] | None = None, spec: TableSpec = PEOPLE, **more: Any
) -> Decoded:
    def texts(found: Sequence[Any]) -> list[bytes | None]:
        return [v if v is None or type(v) is bytes else orjson.dumps(v) for v in found]

    given = texts(keys) if keys is not None else None
    return decode(Records(texts(values), range(len(values)), keys=given), spec, **more)


def changes(decoded: Decoded) -> list[tuple[int, tuple[Any, ...]]]:
    rows = [tuple(row.values()) for row in decoded.rows.to_pylist()]
    return list(zip(decoded.diffs.tolist(), rows, strict=True))


def reasons(decoded: Decoded) -> list[tuple[int, str]]:
    return [(record.offset, record.reason) for record in decoded.rejected]


@pytest.mark.parametrize("marks", [{}, {"__deleted": "false"}, {"__deleted": None}, {"__op": "c"},
                                   {"__op": "r", "__deleted": False, "__lsn": 7}])  # fmt: skip
@pytest.mark.parametrize("key", [{"id": 1}, 1, None])
def test_a_row_is_set(marks: dict[str, Any], key: Any) -> None:
    assert changes(run(A | marks, keys=[key])) == [SET]


@pytest.mark.parametrize("marks", [{"__deleted": "true"}, {"__deleted": True}, {"__op": "d"}])
@pytest.mark.parametrize("row", [A, {"id": 1, "name": None}, {"id": 1}])
@pytest.mark.parametrize("key", [{"id": 1}, 1, None])
def test_a_row_that_is_marked_is_deleted(row: Any, marks: dict[str, Any], key: Any) -> None:
    assert changes(run(row | marks, keys=[key])) == [GONE]


@pytest.mark.parametrize("payload", [None, b'{"schema":null,"payload":null}', b"null"])
@pytest.mark.parametrize("key", [{"id": 1}, 1, {"schema": None, "payload": {"id": 1}}])
def test_a_record_without_a_value_deletes_the_row_of_its_key(payload: Any, key: Any) -> None:
    spec = PEOPLE
    record = Records([payload], [0], keys=[orjson.dumps(key)])
    assert changes(decode(record, spec)) == [GONE]


def test_a_deletion_with_a_tombstone_behind_it_is_said_twice() -> None:
    keys = [{"id": 1}] * 3
    assert changes(run(A, A | {"__deleted": "true"}, None, keys=keys)) == [SET, GONE, GONE]


def test_a_file_topic_has_rows_and_marked_rows() -> None:
    spec = TableSpec("t", "t", SCHEMA, ("id",), envelope="flat")
    assert changes(run(A, A | {"__deleted": "true"}, spec=spec)) == [SET, GONE]


def test_what_the_transformation_adds_may_be_columns() -> None:
    columns: list[pa.Field] = [*SCHEMA, pa.field("__op", pa.string())]
    columns.append(pa.field("__source_ts_ms", pa.int64()))
    spec = kafka(pa.schema(columns), envelope="flat")
    decoded = run(A | {"__op": "u", "__source_ts_ms": 9, "__table": "t"}, spec=spec)
    assert changes(decoded) == [(1, (1, "a", "u", 9))]


def test_a_value_that_was_not_logged_stays_as_it_was() -> None:
    decoded = run(A | {"name": "__debezium_unavailable_value"}, keys=[1])
    assert (changes(decoded), decoded.missing) == ([(1, (1, None))], [(1,)])


def test_the_record_s_key_tells_whose_row_it_is() -> None:
    assert changes(run(A, keys=[{"id": 2}])) == [(1, (2, "a"))]


@pytest.mark.parametrize(
    ("value", "key", "reason"),
    [
        (None, None, "null-key"),
        (None, {"name": "a"}, "missing-field"),
        (None, b"{", "not-json"),
        ({"name": "a"}, None, "missing-field"),
        ({"id": None, "name": "a"}, None, "missing-field"),
        (A | {"__deleted": "perhaps"}, {"id": 1}, "unknown-op"),
        (A | {"__deleted": []}, {"id": 1}, "unknown-op"),
        (A | {"__op": "m"}, {"id": 1}, "unknown-op"),
        ([A], {"id": 1}, "not-an-envelope"),
        ([A], None, "not-an-envelope"),
        (b"{", {"id": 1}, "not-json"),
        ({"id": 1, "name": 5}, {"id": 1}, "wrong-type"),
        ({"op": "c", "after": A}, {"id": 1}, "missing-field"),
    ],
)
def test_what_says_nothing_of_a_row_is_rejected(value: Any, key: Any, reason: str) -> None:
    decoded = run(A, value, A, keys=[1, key, 1])
    assert reasons(decoded) == [(1, reason)]
    assert changes(decoded) == [SET, SET]


@pytest.mark.parametrize("alone", [True, False])
def test_a_key_is_read_by_its_own_schema_whatever_stands_beside_it(alone: bool) -> None:
    writers = Writers()
    millis = {"type": "long", "connect.name": "io.debezium.time.Timestamp"}
    micros = {"type": "long", "connect.name": "io.debezium.time.MicroTimestamp"}
    at: pa.Field = pa.field("at", pa.timestamp("us"), nullable=False)
    spec = kafka(
        pa.schema([at, pa.field("name", pa.string())]), ("at",), envelope="flat", format="avro"
    )
    key = writers.record(row_schema(at=millis), {"at": 5})
    value = writers.record(row_schema(at=micros, name="string"), {"at": 5000, "name": "a"})
    values = [None] if alone else [value, None]
    decoded = decode(Records(values, range(len(values)), keys=[key] * len(values)), spec, writers)
    moments = decoded.rows.column("at").cast(pa.int64()).to_pylist()
    assert (moments, decoded.diffs.tolist()) == ([5000] * len(values), [1, -1][-len(values) :])


def test_records_with_keys_and_without_are_read_each_by_what_they_have() -> None:
    decoded = run(A, {"id": 2, "name": "b"}, None, A, keys=[1, None, 2, None])
    assert changes(decoded) == [SET, (1, (2, "b")), (-1, (2, None)), SET]


@pytest.mark.parametrize("fields", [{"replica_identity": "full"}, {"key": ()}, {"format": "csv"},
                                    {"resolution": "transaction", "transaction_topic": "x"},
                                    {"key": ("name",), "metadata": {"name": "key"}}])  # fmt: skip
def test_what_flat_records_cannot_tell_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidTable, match=r"flat|primary key|needs envelope"):
        kafka(SCHEMA, **({"key": ("id",)} | fields), envelope="flat")
