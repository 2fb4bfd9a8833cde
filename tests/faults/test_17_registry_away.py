"""Row 17: a schema registry that does not answer, then answers 5xx, makes records wait.

None is rejected for it; the fault is told with its setting, and reading goes on by itself.
"""

import io
from typing import Any, get_args

import fastavro
import httpx
import orjson
import pytest

from connectors.ingest.settings import Trigger
from tests.e2e.connectors.conftest import PATIENCE, Service, service, spark
from tests.e2e.connectors.test_kafka import connect, kafka_table, start, topic
from tests.kafka.client import Kafka
from tests.kafka.java import await_true
from tests.kafka.registry import Registry

__all__ = ["service", "spark", "topic"]


def schema(name: str) -> dict[str, Any]:
    fields = [{"name": "id", "type": "long"}, {"name": "name", "type": "string"}]
    return {"type": "record", "name": name, "fields": fields}


def written(registry: Registry, number: int) -> bytes:
    """A row whose schema nobody has asked the registry for yet."""
    form = schema(f"Row{number}")
    answer = httpx.post(
        f"{registry.url}/subjects/row-{number}/versions",
        json={"schema": orjson.dumps(form).decode()},
    )
    content = io.BytesIO()
    fastavro.schemaless_writer(content, fastavro.parse_schema(form), {"id": number, "name": "a"})
    return b"\0" + int(answer.json()["id"]).to_bytes(4, "big") + content.getvalue()


def await_told(service: Service) -> None:
    """Wait until the setting is told, for the table alone or, where a query goes on, as a fault."""

    def is_told() -> bool:
        faults = [fault.detail for fault in service.pipeline.status().faults]
        return "schema_registry_url" in " ".join([*faults, *service.pipeline.stalled.values()])

    await_true("the fault", is_told, PATIENCE)


def wait_rows(service: Service, topic: str, count: int) -> None:
    service.collector.wait(lambda: service.collector.count(topic) == count)


@pytest.mark.parametrize("trigger", get_args(Trigger))
def test_records_wait_for_a_registry_that_is_away(
    service: Service, kafka: Kafka, topic: str, trigger: Trigger
) -> None:
    with Registry.started() as registry:
        service.close()
        service.open(trigger=trigger)
        connect(service, kafka.address, schema_registry_url=registry.url)
        spec = kafka_table(
            topic, format="avro", envelope="append", key=(), replica_identity="default"
        )
        start(service, spec)
        kafka.produce(topic, [written(registry, 0)])
        wait_rows(service, topic, 1)
        for number, go_wrong in ((1, registry.hang), (2, registry.fail)):
            record = written(registry, number)
            go_wrong()
            kafka.produce(topic, [record])
            await_told(service)
            assert service.collector.count(topic) == number
            registry.heal()
            wait_rows(service, topic, number + 1)
        assert service.collector.ids(topic) == [0, 1, 2]
        assert service.quarantine.page(1) == []
        assert service.pipeline.status().state == "running"
