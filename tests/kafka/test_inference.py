"""Inference on topics of a broker, with a registry: by schemas, by keys, by how a topic is kept."""

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from connectors.connections import Connection
from connectors.decode import decode
from connectors.errors import InvalidTable, RegistryUnavailable, UnknownTopic
from connectors.inference.infer import describe, infer
from connectors.inference.proposal import Given, Proposal
from connectors.inference.topics import KafkaTopic
from connectors.tables.spec import TableSpec
from tests.kafka.client import Kafka, Record
from tests.kafka.registry import Registry
from tests.unit.api.filed import close_all, make_runtime
from tests.unit.connectors.protobufs import framed, message
from tests.unit.connectors.writers import envelope_schema, row_schema, written

KEY = {"type": "record", "name": "Key", "fields": [{"name": "id", "type": "long"}]}
AMOUNT = {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}
PLACED = {"type": "long", "connect.name": "io.debezium.time.MicroTimestamp"}
ORDERS = envelope_schema(id="long", amount=AMOUNT, placed=["null", PLACED])
ROW = {"id": 1, "amount": b"\x04\xe2", "placed": 1735689600000000}
COLUMNS = [
    {"name": "id", "type": "int64"},
    {"name": "amount", "type": "decimal128(12, 2)", "nullable": False},
    {"name": "placed", "type": "timestamp[us]"},
]
ITEMS = """
syntax = "proto3";
message Item { string sku = 1; optional uint32 stock = 2; repeated string tags = 3; }
"""

Make = Callable[..., KafkaTopic]


@pytest.fixture
def registry() -> Iterator[Registry]:
    with Registry.started() as started:
        yield started


@pytest.fixture
def topic(kafka: Kafka, registry: Registry) -> Make:
    """Makes topics of the test's own, with these records and settings."""

    def make(*records: Record, partitions: int = 1, **config: str) -> KafkaTopic:
        name = f"t{uuid.uuid4().hex[:8]}"
        settings = {setting.replace("_", "."): value for setting, value in config.items()}
        kafka.create_topic(name, partitions, settings)
        kafka.produce(name, records)
        connection = Connection(
            name="main", bootstrap_servers=kafka.address, schema_registry_url=registry.url
        )
        return KafkaTopic(connection, name)

    return make


def avro(number: int, schema: Any, value: Any) -> bytes:
    return b"\0" + number.to_bytes(4, "big") + written(schema, value)


def text(value: Any) -> bytes:
    return orjson.dumps(value)


def rows(topic: KafkaTopic, found: Proposal) -> list[Any]:
    """The rows of the topic's records, decoded as the proposal says."""
    members = found.members()
    columns = [{"nullable": True, **column} for column in members["columns"]]
    place = {"name": "t", "topic": topic.name, "connector": "kafka", "connection": "main"}
    spec = TableSpec.from_json({**members, **place, "columns": columns})
    decoded = decode(topic.first(1000), spec, topic.schemas)
    assert decoded.rejected == ()
    return decoded.rows.to_pylist()


def test_subjects_describe_a_topic_that_has_no_record_yet(topic: Make, registry: Registry) -> None:
    empty = topic()
    registry.register(f"{empty.name}-value", ORDERS)
    registry.register(f"{empty.name}-key", KEY)
    found = describe(empty, Given())
    assert found.members() == {
        "format": "avro",
        "envelope": "debezium",
        "key": ["id"],
        "columns": COLUMNS,
    }
    assert found.unsure == ()


def test_a_schema_that_only_the_record_names_is_found(topic: Make, registry: Registry) -> None:
    """As where subjects are named by records, and not by topics."""
    number, key = registry.register("Orders", ORDERS), registry.register("Key", KEY)
    change = {"op": "c", "before": None, "after": ROW, "ts_ms": 1}
    filled = topic(Record(avro(number, ORDERS, change), avro(key, KEY, {"id": 1})))
    found = describe(filled, Given())
    assert found.members()["columns"] == COLUMNS
    assert found.key == ("id",)
    assert [row["id"] for row in rows(filled, found)] == [1]


def test_protobuf_is_told_from_avro_by_its_schema(topic: Make, registry: Registry) -> None:
    content = message(ITEMS, "Item", {"sku": "a", "tags": ["x"]})
    number = registry.register_text("Item", ITEMS)
    filled = topic(Record(framed(number, content)))
    registry.register_text(f"{filled.name}-value", ITEMS)
    found = describe(filled, Given())
    assert (found.format, found.envelope) == ("protobuf", "append")
    assert found.members()["columns"] == [
        {"name": "sku", "type": "utf8", "nullable": False},
        {"name": "stock", "type": "uint32"},
        {"name": "tags", "type": "list<utf8>", "nullable": False},
    ]
    assert rows(filled, found) == [{"sku": "a", "stock": None, "tags": ["x"]}]


@pytest.mark.parametrize(("policy", "envelope"), [("compact", "upsert"), ("delete", "append")])
def test_a_compacted_topic_holds_the_row_of_each_key(
    topic: Make, registry: Registry, policy: str, envelope: str
) -> None:
    schema = row_schema(stock="int")
    number, key = registry.register("Stock", schema), registry.register("Key", KEY)
    record = Record(avro(number, schema, {"stock": 5}), avro(key, KEY, {"id": 1}))
    filled = topic(record, cleanup_policy=policy)
    found = describe(filled, Given())
    assert found.envelope == envelope
    is_table = envelope == "upsert"
    assert rows(filled, found) == [{"id": 1, "stock": 5} if is_table else {"stock": 5}]
    assert bool(found.unsure) == (not is_table)


@pytest.mark.parametrize("key", [b"a-1", b'"a-1"', b"\0\0\0\0\7a"])
def test_a_key_that_is_no_object_is_a_column(topic: Make, key: bytes) -> None:
    record = Record(text({"stock": 5}), key)
    found = infer(topic(record, cleanup_policy="compact"), Given(), 10)
    assert found.key == ("key",)
    assert found.schema.names == ["key", "stock"]


def test_records_without_a_value_tell_a_table(topic: Make) -> None:
    filled = topic(Record(text({"n": 1}), text({"id": 1})), Record(None, text({"id": 1})))
    found = infer(filled, Given(), 10)
    assert (found.envelope, found.key) == ("upsert", ("id",))
    assert [row["id"] for row in rows(filled, found)] == [1, 1]


def test_the_first_records_of_all_partitions_are_looked_at(topic: Make) -> None:
    filled = topic(
        *(Record(text({"n": n}), partition=0) for n in range(100)),
        Record(text({"m": 1}), partition=2),
        partitions=3,
    )
    assert infer(filled, Given(), 10).schema.names == ["n", "m"]


def test_a_schema_in_the_record_says_the_columns_of_plain_changes(topic: Make) -> None:
    image = {"type": "struct", "optional": True, "fields": [{"field": "id", "type": "int32"}]}
    schema = {
        "type": "struct",
        "fields": [{**image, "field": "after"}, {"field": "op", "type": "string"}],
    }
    value = {"schema": schema, "payload": {"op": "c", "after": {"id": 1}}}
    filled = topic(Record(text(value), text({"id": 1})))
    found = describe(filled, Given())
    assert (found.format, found.envelope, found.key) == ("json", "debezium", ("id",))
    assert rows(filled, found) == [{"id": 1}]


def test_a_registry_that_is_away_is_told_with_the_topic(topic: Make, registry: Registry) -> None:
    empty = topic()
    registry.fail()
    told = f"topic '{empty.name}' on connection 'main': .*schema_registry_url.*; try again, or "
    with pytest.raises(RegistryUnavailable, match=told):
        describe(empty, Given())


def test_a_topic_without_records_and_subjects_says_so(topic: Make) -> None:
    with pytest.raises(InvalidTable, match="no record yet, and the schema registry has no subject"):
        describe(topic(), Given())


def test_a_schema_of_no_format_is_told(topic: Make, registry: Registry) -> None:
    empty = topic()
    registry.register(f"{empty.name}-value", {"type": "object", "properties": {}})
    with pytest.raises(InvalidTable, match="avro: the writer's schema cannot be used"):
        describe(empty, Given())


def test_records_without_schemas_are_told(topic: Make) -> None:
    with pytest.raises(InvalidTable, match="its records have no schema that says their columns"):
        describe(topic(Record(text({"id": 1}))), Given())


def test_a_topic_that_is_not_there_is_told(topic: Make) -> None:
    missing = KafkaTopic(topic().connection, "missing")
    with pytest.raises(UnknownTopic, match="'missing'"):
        infer(missing, Given(), 10)


def test_connection_and_topic_declare_a_source_for_good(
    topic: Make, registry: Registry, tmp_path: Path
) -> None:
    empty = topic()
    registry.register(f"{empty.name}-value", ORDERS)
    registry.register(f"{empty.name}-key", KEY)
    body = {"connection": "main", "topic": empty.name}
    connections = {"main": empty.connection.model_dump(exclude_none=True)}
    runtime = make_runtime(tmp_path, connections=connections)
    with TestClient(create_app(runtime)) as client:
        answer = client.put("/v1/sources/orders", json=body)
        assert (answer.status_code, answer.json()["format"]) == (201, "avro")
    registry.fail()
    again = make_runtime(tmp_path, connections=connections)
    with TestClient(create_app(again)) as client:
        assert client.get("/v1/sources/orders").json()["columns"] == answer.json()["columns"]
        assert client.put("/v1/sources/orders", json=body).status_code == 200
        refused = client.put("/v1/sources/other", json=body)
        assert (refused.status_code, refused.json()["code"]) == (503, "registry-unavailable")
    close_all()
