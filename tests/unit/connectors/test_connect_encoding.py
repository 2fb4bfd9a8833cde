"""JSON with the schema beside it, as Kafka Connect's converter reads it."""

import uuid
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import orjson
import pyarrow as pa
import pytest

from connectors.decode import decode
from connectors.offsets import Offsets
from connectors.records import Records
from connectors.sinks.connect import ConnectEncoding
from connectors.sinks.envelopes import Envelope
from connectors.sinks.sink import Output, Reached
from connectors.sinks.target import KafkaTarget, OutputEnvelope
from ivm.values.types import JSON, UUID, arrow_array
from tests.faults.publishing import SCHEMA, drained
from tests.unit.connectors.writers import kafka

REACHED = Reached(5, 1_000_000, Offsets.of_source("i", "input", {0: 9}))
CHANGES = drained(5, [((7, "old"), -1), ((7, "new"), 1), ((8, "gone"), -1)])
DECIMAL = "org.apache.kafka.connect.data.Decimal"
# A type, a value of it, and how Connect has it: its type, its name, the payload.
VALUES: list[tuple[pa.DataType, Any, str, str | None, Any]] = [
    (pa.int8(), -1, "int16", None, -1),
    (pa.uint32(), 2**32 - 1, "int64", None, 2**32 - 1),
    (pa.uint64(), 2**64 - 1, "bytes", DECIMAL, "AAAAAAAAAAD//////////w=="),
    (pa.decimal128(12, 2), Decimal("-12.50"), "bytes", DECIMAL, "///////////////////7Hg=="),
    (pa.float64(), 1.5, "double", None, 1.5),
    (pa.bool_(), True, "boolean", None, True),
    (pa.string(), 'a "b",', "string", None, 'a "b",'),
    (pa.binary(), b"ab", "bytes", None, "YWI="),
    (pa.date32(), date(1970, 1, 3), "int32", "io.debezium.time.Date", 2),
    (pa.time64("us"), time(0, 0, 1), "int64", "io.debezium.time.MicroTime", 1_000_000),
    (
        pa.timestamp("us"), datetime(1970, 1, 1, 0, 0, 2), "int64",
        "io.debezium.time.MicroTimestamp", 2_000_000,
    ),
    (
        pa.timestamp("us", "UTC"), datetime(2024, 2, 29, 12, tzinfo=UTC), "string",
        "io.debezium.time.ZonedTimestamp", "2024-02-29T12:00:00.000000Z",
    ),
    (JSON, '{"a": 1}', "string", "io.debezium.data.Json", '{"a": 1}'),
    (UUID, uuid.UUID(int=1), "string", "io.debezium.data.Uuid", str(uuid.UUID(int=1))),
]  # fmt: skip


def encoding(schema: pa.Schema, envelope: OutputEnvelope) -> ConnectEncoding:
    target = KafkaTarget("main", "topic", envelope, "connect-json")
    return ConnectEncoding(Output("v", schema, ("id",), True, "plan", target), "topic", envelope)


def messages(envelope: OutputEnvelope) -> list[tuple[Any, Any]]:
    """Key and value of each message about `CHANGES`, as JSON."""
    target = KafkaTarget("main", "topic", envelope, "connect-json")
    view = Output("v", SCHEMA, ("id",), True, "plan", target)
    making = Envelope("ivm", view, encoding(SCHEMA, envelope), 1)
    found = making.messages(CHANGES, REACHED, False)
    read = [[m and orjson.loads(m) for m in side] for side in (found.keys, found.values)]
    return list(zip(*read, strict=True))


@pytest.mark.parametrize(
    ("dtype", "value", "kind", "name", "payload"), VALUES, ids=[str(one[0]) for one in VALUES]
)
def test_a_column_has_connects_type(
    dtype: pa.DataType, value: Any, kind: str, name: str | None, payload: Any
) -> None:
    schema = pa.schema([("id", pa.int64()), ("v", dtype)])
    columns = [pa.array([0, 1, 2]), arrow_array([value, value, None], dtype)]
    rows = pa.RecordBatch.from_arrays(columns, schema=schema).slice(1)
    given, absent = map(orjson.loads, encoding(schema, "upsert").rows(rows))
    (_, described) = given["schema"]["fields"]
    assert (described["type"], described.get("name"), described["optional"]) == (kind, name, True)
    assert given["payload"] == {"id": 1, "v": payload}
    assert absent["payload"] == {"id": 2, "v": None}


def test_what_json_has_no_number_for_is_null() -> None:
    schema = pa.schema([SCHEMA.field("id"), pa.field("v", pa.float64(), nullable=False)])
    rows = pa.RecordBatch.from_pydict({"id": [1, 2], "v": [float("nan"), float("inf")]}, schema)
    found = [orjson.loads(row) for row in encoding(schema, "upsert").rows(rows)]
    assert [row["payload"]["v"] for row in found] == [None, None]
    assert found[0]["schema"]["fields"][1]["optional"] is True


def test_elements_of_a_list_are_carried_as_columns_are() -> None:
    schema = pa.schema([pa.field("id", pa.int64()), pa.field("v", pa.list_(pa.date32()))])
    values = [[date(1970, 1, 2)], None, [date(1970, 1, 3), None], []]
    rows = pa.RecordBatch.from_pydict({"id": [0, 1, 2, 3], "v": values}, schema).slice(1)
    found = [orjson.loads(row)["payload"]["v"] for row in encoding(schema, "upsert").rows(rows)]
    assert found == [None, [2, None], []]


def test_an_upsert_is_the_row_of_its_key_or_a_tombstone() -> None:
    (changed, row), (gone, nothing) = messages("upsert")
    assert (changed["payload"], gone["payload"], nothing) == ({"id": 7}, {"id": 8}, None)
    assert row["payload"] == {"id": 7, "name": "new"}
    assert [field["field"] for field in changed["schema"]["fields"]] == ["id"]


def test_an_event_names_its_schema_so_that_debezium_s_sink_knows_it() -> None:
    (_, updated), (_, deleted), (_, tombstone) = messages("debezium")
    assert updated["schema"]["name"] == "topic.Envelope"
    assert [updated["payload"]["op"], deleted["payload"]["op"], tombstone] == ["u", "d", None]
    assert set(updated["payload"]) == {field["field"] for field in updated["schema"]["fields"]}


def test_a_delta_and_a_frontier_have_members_of_one_schema() -> None:
    (_, first), *_ = messages("delta")
    frontier = orjson.loads(encoding(SCHEMA, "delta").frontier(5, REACHED.offsets))
    assert first["schema"] == frontier["schema"]
    named = {field["field"] for field in first["schema"]["fields"]}
    assert set(first["payload"]) | set(frontier["payload"]) < named


def test_a_source_reads_what_a_sink_writes() -> None:
    values = [value for _, value in messages("debezium")]
    contents = [None if value is None else orjson.dumps(value) for value in values]
    decoded = decode(Records(contents, range(len(contents))), kafka(SCHEMA))
    assert decoded.rejected == ()
    assert decoded.rows.to_pylist()[0] == {"id": 7, "name": "new"}
    assert decoded.diffs.tolist() == [1, -1]
