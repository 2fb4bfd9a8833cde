"""Rows of Kafka come to the shards that own them, by micro-batches and in real time."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from api.demo.service import Service
from ivm_client.client import Client
from tests.e2e.test_cluster import started
from tests.kafka.broker import Broker
from tests.kafka.client import Kafka, Record
from tests.kafka.java import await_true

pytestmark = pytest.mark.jvm

PEOPLE = 300
DECLARED: dict[str, Any] = {
    "connector": "kafka",
    "connection": "main",
    "topic": "people",
    "columns": [
        {"name": "id", "type": "int64", "nullable": False},
        {"name": "city", "type": "utf8", "nullable": False},
    ],
    "key": ["id"],
}


@pytest.fixture(params=["micro-batch", "real-time"])
def service(request: pytest.FixtureRequest, tmp_path: Path, broker: Broker) -> Iterator[Service]:
    """A service with two shards on three slots, whose topic has two partitions."""
    broker.create_topic("people", 2)
    settings = {
        "IVM_SPARK_MASTER": "local[3]",
        "IVM_CLUSTER": json.dumps({"shards": 2, "secret": "known to executors"}),
        "IVM_CONNECTIONS": json.dumps({"main": {"bootstrap_servers": broker.address}}),
        "IVM_TRIGGER": request.param,
    }
    with started(tmp_path, settings) as service:
        service.wait_ready()
        yield service


def person(number: int, city: str | None) -> Record:
    """A change that sets a person's city, or deletes the person."""
    after = None if city is None else {"id": number, "city": city}
    value = {"op": "d" if city is None else "u", "before": {"id": number}, "after": after}
    return Record(orjson.dumps(value), partition=number % 2)


def test_changes_by_key_are_folded_where_their_rows_lie(service: Service, broker: Broker) -> None:
    kafka = Kafka(broker.address)
    with Client(service.url) as client:
        client.create_source("people", **DECLARED)
        client.create_view("by_city", "SELECT city, count(*) AS n FROM people GROUP BY 1", ["city"])

        def cities() -> dict[str, int]:
            return {row["city"]: row["n"] for row in client.rows("by_city")}

        kafka.produce("people", [person(n, "Paris") for n in range(PEOPLE)])
        await_true("all are there", lambda: cities() == {"Paris": PEOPLE})
        kafka.produce("people", [person(n, "Rome") for n in range(0, PEOPLE, 3)])
        kafka.produce("people", [person(n, None) for n in range(1, PEOPLE, 3)])
        third = PEOPLE // 3
        await_true(
            "a third moved, a third went",
            lambda: cities() == dict.fromkeys(("Paris", "Rome"), third),
        )
        received = [share["received_rows"] for share in client.cluster()]
    assert sum(received) == PEOPLE + 2 * third
    assert min(received) > PEOPLE / 3
