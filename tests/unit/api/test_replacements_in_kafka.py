"""Topics in Kafka of views that get another definition: each envelope carries the difference."""

from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest

from connectors.errors import KeyNotUnique
from tests.kafka.client import Kafka
from tests.kafka.java import await_true
from tests.kafka.registry import Registry
from tests.unit.api.conftest import ORDERS, TOTALS
from tests.unit.api.orders import order
from tests.unit.api.test_kafka_sinks import Service, _last_by_key, last, service, values

__all__ = ["service"]

FEWER = TOTALS["query"].replace("GROUP", "WHERE id > 1 GROUP")
MORE = TOTALS["query"].replace("AS total", "AS total, min(id) AS first")
OTHER_KEY = "SELECT id, customer, 1::bigint AS orders, amount AS total FROM orders"
QUERIES = {"fewer rows": FEWER, "another column": MORE, "another key": OTHER_KEY}


def replace(service: Service, query: str) -> int:
    """Replace the view, which has orders of three customers: the time."""
    names = ["ada", "bob", "cyd", "cyd"]
    orders = [(order(i, name, "1"), 1) for i, name in enumerate(names, 1)]
    service.pipeline.deliver("orders", *orders)
    time = approve(service, query)
    service.pipeline.deliver("orders", (order(5, "eve", "1"), 1))
    return time


def approve(service: Service, query: str) -> int:
    """Let another definition take the view's place: the time."""
    body = {"query": query, "replace": True}
    assert service.client.put("/v1/views/totals", json=body).status_code == 202
    waiting = service.runtime.replacements.get("totals")
    assert waiting.ended.wait(10)
    answer = service.client.post(
        "/v1/views/totals/approve", json={"version": waiting.pending.version}
    )
    assert answer.status_code == 200, answer.text
    time: int = answer.json()["time"]
    return time


def rows(service: Service) -> list[Any]:
    """The rows of the view."""
    found: list[Any] = service.client.get("/v1/views/totals/rows?scan=true").json()["rows"]
    return sorted(found, key=str)


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
@pytest.mark.parametrize("envelope", ["upsert", "debezium"])
def test_a_reader_of_the_last_message_of_each_key_has_the_view(
    service: Service, kafka: Kafka, envelope: str, query: str
) -> None:
    service.put(envelope=envelope, partitions=2)
    replace(service, query)
    topic = f"{service.name}.totals"
    await_true("markers of the last transaction", lambda: kafka.is_decided(topic))
    there = [orjson.loads(v) for v in _last_by_key(kafka, topic).values() if v is not None]
    if envelope == "debezium":
        there = [event["after"] for event in there]
    assert sorted(there, key=str) == rows(service)


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_deltas_fold_to_the_view_and_each_time_is_complete_once(
    service: Service, kafka: Kafka, query: str
) -> None:
    service.put(partitions=1)
    time = replace(service, query)
    said = values(kafka, f"{service.name}.totals")
    frontiers = [value["frontier"] for value in said if "frontier" in value]
    assert frontiers == sorted(set(frontiers))
    assert time in frontiers
    counts: Counter[str] = Counter()
    for value in said:
        if "row" in value:
            counts[str(value["row"])] += value["diff"]
    assert +counts == Counter(map(str, rows(service)))
    assert min(counts.values()) == 0


def test_rows_that_stay_are_not_published_again(service: Service, kafka: Kafka) -> None:
    service.put(partitions=1)
    time = replace(service, FEWER)
    said = values(kafka, f"{service.name}.totals")
    [changed] = [value for value in said if value.get("time") == time]
    assert (changed["op"], changed["row"]["customer"]) == ("-", "ada")


@pytest.mark.parametrize("envelope", ["delta", "upsert"])
def test_a_restart_goes_on_with_the_new_definition(
    service: Service, kafka: Kafka, envelope: str
) -> None:
    service.put(envelope=envelope)
    approve(service, MORE)
    plan = last(kafka, service).views["totals"].plan
    service.stop()
    service.start()
    service.replay()
    assert service.runtime.readiness.faults() == []
    assert service.client.get("/v1/views/totals").json()["sink"]["status"] == "running"
    service.pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    assert last(kafka, service).views["totals"].plan == plan


def test_a_key_that_is_not_unique_is_refused(service: Service) -> None:
    service.put(envelope="upsert")
    body = {"query": "SELECT customer, id AS orders FROM orders", "key": ["customer"]}
    answer = service.client.put("/v1/views/totals", json={**body, "replace": True})
    assert answer.json()["code"] == KeyNotUnique.code
    assert service.client.get("/v1/views/totals/replacement").status_code == 404


def test_another_sink_is_refused(service: Service) -> None:
    service.put()
    body = {**TOTALS, "sink": service.sink(envelope="upsert"), "replace": True}
    answer = service.client.put("/v1/views/totals", json=body)
    assert answer.json()["code"] == "different-definition"


def test_with_avro_the_new_columns_are_the_next_version(kafka: Kafka, tmp_path: Path) -> None:
    with Registry.started() as registry:
        service = Service(tmp_path, kafka.address, schema_registry_url=registry.url)
        service.client.put("/v1/sources/orders", json=ORDERS)
        assert service.put(format="avro", partitions=1).status_code == 201
        replace(service, MORE)
        frames = {(m.value() or b"")[:5] for m in kafka.read_committed(f"{service.name}.totals")}
        assert len(frames) == 2
        service.stop()


def test_a_renamed_view_keeps_its_topic(service: Service, kafka: Kafka) -> None:
    service.put(partitions=1)
    answer = service.client.post("/v1/views/totals/rename", json={"to": "spent"})
    assert answer.status_code == 200, answer.text
    other = service.client.put("/v1/views/totals", json=TOTALS)
    assert other.json()["deltas"]["topic"] == "deltas.totals_2"
    service.stop()
    service.start()
    service.replay()
    assert service.runtime.readiness.faults() == []
    service.pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    said = values(kafka, f"{service.name}.totals")
    assert [value["row"]["orders"] for value in said if "row" in value] == [1]
    assert service.client.get("/v1/views/spent").json()["sink"]["status"] == "running"
