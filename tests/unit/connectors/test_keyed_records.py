"""Change logs without whole images: what they set and delete, and what they leave as it was."""

from collections.abc import Sequence
from typing import Any

import orjson
import pyarrow as pa
import pytest

from connectors.decode import decode
from connectors.records import Decoded, Records
from connectors.tables.spec import TableSpec
from tests.unit.connectors.records import SCHEMA, record

PEOPLE = TableSpec("people", "people", SCHEMA, ("id",))
A, B = {"id": 1, "name": "a"}, {"id": 1, "name": "b"}


def run(
    *values: bytes | None, keys: Sequence[bytes | None] | None = None, spec: TableSpec = PEOPLE
) -> Decoded:
    return decode(Records(values, range(100, 100 + len(values)), keys=keys), spec)


def changes(decoded: Decoded) -> list[tuple[Any, ...]]:
    rows = [tuple(row.values()) for row in decoded.rows.to_pylist()]
    return list(zip(decoded.offsets.tolist(), decoded.diffs.tolist(), rows, strict=True))


def test_each_op_sets_or_deletes_the_row_of_its_key() -> None:
    decoded = run(record("r", after=A), record("c", after=A), record("u", A, B), record("d", B))
    assert changes(decoded) == [
        (100, 1, (1, "a")),
        (101, 1, (1, "a")),
        (102, 1, (1, "b")),
        (103, -1, (1, None)),
    ]


@pytest.mark.parametrize("before", [None, {"id": 1, "name": None}, {"id": 1}, {"name": 7}])
def test_an_update_needs_no_image_before_it(before: Any) -> None:
    assert changes(run(record("u", before, B))) == [(100, 1, (1, "b"))]


@pytest.mark.parametrize("before", [{"id": 1}, {"id": 1, "name": None}, {"id": 1, "name": 7}])
def test_of_a_deleted_row_only_the_key_matters(before: Any) -> None:
    assert changes(run(record("d", before))) == [(100, -1, (1, None))]


@pytest.mark.parametrize("before", [None, {}, {"id": None, "name": "a"}])
@pytest.mark.parametrize("key", [b'{"id":1}', b'{"schema":null,"payload":{"id":1}}'])
def test_a_delete_without_before_takes_the_key_of_its_record(before: Any, key: bytes) -> None:
    assert changes(run(record("d", before), keys=[key])) == [(100, -1, (1, None))]


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        (None, "missing-image"),
        ([None], "missing-image"),
        ([b'{"other":1}'], "missing-image"),
        ([b"{"], "not-json"),
        ([b'{"id":"x"}'], "wrong-type"),
    ],
)
def test_a_delete_without_any_key_is_rejected(keys: list[bytes | None], reason: str) -> None:
    assert [r.reason for r in run(record("d"), keys=keys).rejected] == [reason]


def test_an_update_of_the_key_deletes_the_row_of_the_former_key_first() -> None:
    decoded = run(record("u", {"id": 1, "name": None}, {"id": 2, "name": "a"}))
    assert changes(decoded) == [(100, -1, (1, None)), (100, 1, (2, "a"))]


def test_a_key_that_changes_by_delete_tombstone_and_create_leaves_no_ghost() -> None:
    decoded = run(record("d", A), None, record("c", after={"id": 2, "name": "a"}))
    assert changes(decoded) == [(100, -1, (1, None)), (102, 1, (2, "a"))]
    assert decoded.tombstones == 1


def test_a_column_that_is_not_nullable_is_null_only_in_rows_that_go() -> None:
    schema = pa.schema([SCHEMA.field(0), pa.field("name", pa.string(), nullable=False)])
    spec = TableSpec("t", "t", schema, ("id",))
    decoded = run(record("d", A), record("c", after=A), record("c", after={**A, "name": None}),
                  record("t"), spec=spec)  # fmt: skip
    assert changes(decoded) == [(100, -1, (1, None)), (101, 1, (1, "a")), (103, 0, (None, None))]
    assert [(r.offset, r.reason) for r in decoded.rejected] == [(102, "null-value")]


def test_a_key_is_never_null_whatever_the_declaration_says() -> None:
    spec = TableSpec("t", "t", pa.schema([pa.field("id", pa.int64()), SCHEMA.field(1)]), ("id",))
    assert [r.reason for r in run(record("c", after={**A, "id": None}), spec=spec).rejected] == [
        "null-value"
    ]


TOAST = "__debezium_unavailable_value"
TOAST_BASE64 = "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="


@pytest.mark.parametrize(
    ("dtype", "placeholder"),
    [
        (pa.string(), TOAST),
        (pa.string(), TOAST.encode().hex()),
        (pa.binary(), TOAST_BASE64),
        (pa.list_(pa.string()), [TOAST]),
        (pa.list_(pa.int32()), list(TOAST.encode())),
        (pa.list_(pa.binary()), [TOAST_BASE64]),
    ],
    ids=str,
)
def test_a_value_that_was_not_logged_is_left_as_it_was(
    dtype: pa.DataType, placeholder: Any
) -> None:
    schema = pa.schema([SCHEMA.field(0), pa.field("v", dtype, nullable=False)])
    spec = TableSpec("t", "t", schema, ("id",))
    ops = [record("u", None, {"id": n, "v": placeholder}) for n in (1, 2)]
    decoded = run(ops[0], record("d", {"id": 3}), ops[1], spec=spec)
    assert decoded.rejected == ()
    assert decoded.missing is not None
    assert [tuple(columns) for columns in decoded.missing] == [(1,), (), (1,)]
    assert [row["v"] for row in decoded.rows.to_pylist()] == [None] * 3


def test_with_whole_images_a_value_that_was_not_logged_is_an_error() -> None:
    spec = TableSpec("t", "t", SCHEMA, ("id",), replica_identity="full")
    decoded = run(record("u", A, {**A, "name": TOAST}), spec=spec)
    assert [r.reason for r in decoded.rejected] == ["unavailable-value"]


def at(source: dict[str, Any], op: str = "u", **more: Any) -> bytes:
    return orjson.dumps({"op": op, "after": A, "source": source, **more})


def test_positions_in_the_log_come_with_the_changes() -> None:
    decoded = run(
        at({"lsn": 9, "sequence": '["5","9"]'}),
        at({"file": "mysql-bin.000012", "pos": 154}),
        at({"lsn": 9, "sequence": '["5","9"]'}, op="r"),
        at({"lsn": 9}),
        at({"sequence": '[null,"9"]'}),
        at({"file": "mysql-bin.000012", "pos": 154, "gtid": "x:1"}),
    )
    assert decoded.order is not None
    assert decoded.order.tolist() == [[5, 9], [12, 154], [0, 0], [0, 0], [9, 9], [0, 0]]


def test_without_any_position_there_is_no_order() -> None:
    assert run(record("c", after=A)).order is None


def test_transactions_are_named_where_the_table_wants_them() -> None:
    block = {"id": "571:53195829", "total_order": 1}
    value = at({}, transaction=block)
    assert run(value).transactions is None
    spec = TableSpec(
        "t", "t", SCHEMA, ("id",), resolution="transaction", transaction_topic="t.transaction"
    )
    assert run(value, at({}), spec=spec).transactions == ["571:53195829", None]
