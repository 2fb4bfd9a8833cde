"""Documents of MongoDB as Debezium writes them: texts that are set and deleted by their `_id`."""

from typing import Any

import orjson
import pyarrow as pa
import pytest

from connectors.decode import decode
from connectors.errors import InvalidTable
from connectors.records import Decoded, Records
from connectors.tables.spec import TableSpec
from ivm.values.types import JSON
from tests.unit.connectors.writers import Writers, kafka, row_schema, written

DOC: pa.Field = pa.field("doc", JSON)


def table(identity: pa.DataType, **fields: Any) -> TableSpec:
    schema = pa.schema([pa.field("_id", identity, nullable=False), DOC])
    return kafka(schema, ("_id",), envelope="mongodb", **fields)


IDS, NUMBERS = table(pa.string()), table(pa.int64())


def run(spec: TableSpec, *values: Any, key: Any = None, writers: Writers | None = None) -> Decoded:
    contents = [orjson.dumps(v) if isinstance(v, dict) else v for v in values]
    keys = [orjson.dumps(key) if isinstance(key, dict) else key] * len(values)
    return decode(Records(contents, range(len(values)), keys=keys), spec, writers)


def changes(decoded: Decoded) -> list[tuple[Any, ...]]:
    assert decoded.rejected == ()
    rows = [tuple(row.values()) for row in decoded.rows.to_pylist()]
    return list(zip(decoded.diffs.tolist(), rows, strict=True))


def event(op: str, after: Any = None, before: Any = None, **more: Any) -> dict[str, Any]:
    source = {"connector": "mongodb", "collection": "customers", "ord": 31}
    return {"before": before, "after": after, "source": source, "op": op, "ts_ms": 7, **more}


ANNE = '{"_id": {"$oid": "596e275826f08b2730779e1f"}, "name": "Anne", "n": {"$numberLong": "5"}}'
KEY = {"id": '{"$oid": "596e275826f08b2730779e1f"}'}


def test_documents_are_set_by_their_id() -> None:
    update = {"removedFields": None, "updatedFields": '{"name": "Ann"}', "truncatedArrays": None}
    decoded = run(
        IDS,
        event("r", ANNE),
        event("c", '{"_id": "x", "price": 0.1234567890123456789012345}'),
        event("u", '{"_id": "x", "name": "Ann"}', updateDescription=update),
        key=KEY,
    )
    oid = "596e275826f08b2730779e1f"
    assert changes(decoded) == [
        (1, (oid, f'{{"n": {{"$numberLong": "5"}}, "_id": {{"$oid": "{oid}"}}, "name": "Anne"}}')),
        (1, ("x", '{"_id": "x", "price": 0.1234567890123456789012345}')),
        (1, ("x", '{"_id": "x", "name": "Ann"}')),
    ]
    assert decoded.ts_ms.tolist() == [7, 7, 7]


def test_a_document_is_deleted_by_the_record_s_key_or_by_what_it_was() -> None:
    decoded = run(IDS, event("d"), event("d", before=ANNE), None, key=KEY)
    assert changes(decoded) == [(-1, ("596e275826f08b2730779e1f", None))] * 2
    assert decoded.tombstones == 1


@pytest.mark.parametrize(
    ("written", "text"),
    [("1004", "1004"), ('{"$numberLong": "1004"}', '{"$numberLong": "1004"}')],
)
def test_numbers_are_ids_of_an_integer_column(written: str, text: str) -> None:
    decoded = run(NUMBERS, event("c", f'{{"_id": {written}}}'), event("d"), key={"id": text})
    assert [(diff, row[0]) for diff, row in changes(decoded)] == [(1, 1004), (-1, 1004)]


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ('{"$uuid": "a0eebc99"}', "a0eebc99"),
        ('{"b": 1, "a": {"$oid": "ff"}}', '{"a": {"$oid": "ff"}, "b": 1}'),
        ('{"$date": 5}', '{"$date": 5}'),
        ('""', ""),
    ],
)  # fmt: skip
def test_an_id_of_another_kind_is_a_text(written: str, found: str) -> None:
    decoded = run(IDS, event("c", f'{{"_id": {written}}}'), event("d"), key={"id": written})
    assert [(diff, row[0]) for diff, row in changes(decoded)] == [(1, found), (-1, found)]


def test_a_document_may_come_as_an_object() -> None:
    decoded = run(NUMBERS, b'{"op":"c","after":{"_id":1,"n":2.50,"m":327267367867168100000}}')
    assert changes(decoded) == [(1, (1, '{"m": 327267367867168100000, "n": 2.5, "_id": 1}'))]


def test_a_schema_may_stand_beside() -> None:
    schema = {"type": "struct", "fields": [{"type": "string", "field": "after"}]}
    value = {"schema": schema, "payload": event("c", '{"_id": 1}')}
    gone = {"schema": schema, "payload": event("d")}
    key = {"schema": {"type": "struct", "fields": []}, "payload": {"id": "1"}}
    assert changes(run(NUMBERS, value, gone, key=key)) == [(1, (1, '{"_id": 1}')), (-1, (1, None))]


def test_documents_come_as_avro_too() -> None:
    writers = Writers()
    nullable = {"before": ["null", "string"], "after": ["null", "string"]}
    schema = row_schema(**nullable, op="string", ts_ms=["null", "long"])
    head = b"\0" + writers.add(schema).to_bytes(4, "big")
    values = [{"before": None, "after": '{"_id": 1}', "op": "c", "ts_ms": 1},
              {"before": None, "after": None, "op": "d", "ts_ms": 1}]  # fmt: skip
    key = writers.record(row_schema(id="string"), {"id": "1"})
    contents = [head + written(schema, value) for value in values]
    spec = table(pa.int64(), format="avro")
    decoded = run(spec, *contents, key=key, writers=writers)
    assert changes(decoded) == [(1, (1, '{"_id": 1}')), (-1, (1, None))]


@pytest.mark.parametrize(
    ("spec", "value", "reason"),
    [
        (IDS, event("u", updateDescription={"updatedFields": '{"a": 1}'}), "missing-image"),
        (IDS, event("d"), "missing-image"),
        (IDS, event("c", '{"name": "a"}'), "missing-field"),
        (IDS, event("c", '{"_id": null}'), "missing-field"),
        (IDS, event("c", '{"_id": 5}'), "wrong-type"),
        (NUMBERS, event("c", '{"_id": "5"}'), "wrong-type"),
        (NUMBERS, event("c", '{"_id": 1.5}'), "wrong-type"),
        (NUMBERS, event("c", '{"_id": 9223372036854775808}'), "out-of-range"),
        (IDS, event("c", "{"), "not-an-envelope"),
        (IDS, event("c", "[1]"), "not-an-envelope"),
        (IDS, event("c", 5), "not-an-envelope"),
        (IDS, event("t"), "unknown-op"),
        (IDS, {"after": "{}"}, "missing-field"),
        (IDS, b"[]", "not-an-envelope"),
    ],
)
def test_what_says_nothing_of_a_document_is_rejected(
    spec: TableSpec, value: Any, reason: str
) -> None:
    decoded = run(spec, value)
    assert [record.reason for record in decoded.rejected] == [reason]


def test_an_update_without_its_document_tells_the_connector_s_setting() -> None:
    (rejected,) = run(IDS, event("u")).rejected
    assert "capture.mode" in rejected.message


def test_rows_with_documents_for_images_are_told_their_envelope() -> None:
    spec = kafka(IDS.schema, ("_id",))
    (rejected,) = run(spec, event("c", ANNE)).rejected
    assert rejected.reason == "not-an-envelope"
    assert "'mongodb'" in rejected.message


ID = IDS.schema.field("_id")


@pytest.mark.parametrize(
    ("columns", "key"),
    [
        ([ID], ("_id",)),
        ([ID, pa.field("doc", pa.string())], ("_id",)),
        ([ID, DOC, pa.field("more", JSON)], ("_id",)),
        ([ID, DOC], ()),
        ([pa.field("_id", pa.float64(), False), DOC], ("_id",)),
        ([ID, pa.field("b", pa.string(), False), DOC], ("_id", "b")),
    ],
)
def test_a_table_is_a_key_and_a_column_of_documents(
    columns: list[pa.Field], key: tuple[str, ...]
) -> None:
    with pytest.raises(InvalidTable, match=r"key|columns"):
        kafka(pa.schema(columns), key, envelope="mongodb")


def test_metadata_may_stand_beside_a_document() -> None:
    schema = pa.schema([*IDS.schema, pa.field("offset", pa.int64())])
    spec = kafka(schema, ("_id",), envelope="mongodb", metadata={"offset": "offset"})
    assert changes(run(spec, event("c", '{"_id": "x"}'))) == [(1, ("x", '{"_id": "x"}', 0))]
