"""A table that was never declared: its columns by the registry, its rows through Spark."""

import uuid
from decimal import Decimal

from connectors.inference.infer import describe
from connectors.inference.proposal import Given
from connectors.inference.topics import KafkaTopic
from connectors.tables.spec import TableSpec
from tests.e2e.connectors.conftest import Service
from tests.e2e.connectors.test_kafka import connect, start
from tests.kafka.client import Kafka, Record
from tests.kafka.registry import Registry
from tests.unit.connectors.writers import envelope_schema, row_schema, written

AMOUNT = {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}
ORDERS = envelope_schema(id="long", amount=AMOUNT)
KEY = row_schema(id="long")


def test_changes_arrive_as_the_schemas_say(service: Service, kafka: Kafka) -> None:
    topic = f"t{uuid.uuid4().hex[:8]}"
    kafka.create_topic(topic)
    with Registry.started() as registry:
        value = b"\0" + registry.register(f"{topic}-value", ORDERS).to_bytes(4, "big")
        key = b"\0" + registry.register(f"{topic}-key", KEY).to_bytes(4, "big")
        connect(service, kafka.address, schema_registry_url=registry.url)
        found = describe(KafkaTopic(service.connections["main"], topic), Given())
        place = {"name": topic, "topic": topic, "connector": "kafka", "connection": "main"}
        columns = [{"nullable": True, **column} for column in found.members()["columns"]]
        start(service, TableSpec.from_json({**found.members(), **place, "columns": columns}))
        row = {"id": 1, "amount": Decimal("12.50")}
        change = {"op": "c", "before": None, "after": row, "ts_ms": 1}
        kafka.produce(
            topic,
            [Record(value + written(ORDERS, change), key + written(KEY, {"id": 1}))],
        )
        service.collector.wait(lambda: service.collector.count(topic) == 1)
    (arrived,) = (batch.tables[topic] for batch in service.collector.batches if batch.tables)
    assert arrived.rows.to_pylist() == [row]
    assert service.quarantine.page(1) == []
