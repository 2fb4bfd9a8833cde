"""A view that goes to Kafka besides: how it is declared, shown, restored and dropped."""

import json
import random
import re
import threading
import time as clock
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import orjson
import pytest
from confluent_kafka import Message
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

from api.app import create_app
from api.feed import Feed
from api.runtime import Runtime
from connectors.sinks.kafka.progress import Progress
from tests.faults.publishing import progress
from tests.kafka.broker import Broker
from tests.kafka.client import Kafka, Record
from tests.kafka.java import await_true
from tests.kafka.registry import Registry
from tests.unit.api.conftest import ORDERS, TOTALS, make_runtime
from tests.unit.api.direct import DirectPipeline
from tests.unit.api.orders import order

# The ways to fold deltas that the page shows: `fold_by_key(deltas, key)`, `fold_by_sums(deltas)`.
PAGE = (Path(__file__).parents[3] / "docs" / "sinks.md").read_text()
FOLDS: dict[str, Any] = {"json": json}
exec(re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)[0], FOLDS)


class Service:
    """A service with a connection `main`, started and stopped on one data directory."""

    def __init__(self, data: Path, address: str, **connection: str) -> None:
        self.name = f"s{uuid.uuid4().hex[:8]}"
        self._data = data
        self._connection = {"bootstrap_servers": address, **connection}
        self.start()

    def start(self, **settings: Any) -> None:
        """Start, for the first time or again; the pipeline has nothing to replay."""
        given = {"service": self.name, "connections": {"main": self._connection}, **settings}
        self.runtime: Runtime = make_runtime(self._data, **given)
        self._client = TestClient(create_app(self.runtime), raise_server_exceptions=False)
        self.client = self._client.__enter__()
        self.runtime.readiness.wait()
        self.pipeline = cast(DirectPipeline, cast(Any, self.runtime.pipeline))

    def stop(self) -> None:
        """Stop as on SIGTERM."""
        self._client.__exit__(None, None, None)

    def sink(self, **more: Any) -> dict[str, Any]:
        """The sink of the view `totals`."""
        topic = f"{self.name}.totals"
        return {"connector": "kafka", "connection": "main", "topic": topic, **more}

    def put(self, **sink: Any) -> Any:
        """Put the view `totals` with this sink."""
        body = {**TOTALS, "sink": self.sink(**sink)}
        return self.client.put("/v1/views/totals", json=body)

    def replay(self) -> None:
        """Give the pipeline's batches again, as the journal has them."""
        self.runtime.applier.complete_replay()


@pytest.fixture
def service(kafka: Kafka, tmp_path: Path) -> Iterator[Service]:
    service = Service(tmp_path, kafka.address)
    assert service.client.put("/v1/sources/orders", json=ORDERS).status_code == 201
    yield service
    service.stop()


def values(kafka: Kafka, topic: str) -> list[Any]:
    """The committed values of a topic with one partition."""
    return [orjson.loads(record.value() or b"null") for record in kafka.read_committed(topic)]


def last(kafka: Kafka, service: Service) -> Progress:
    """The last record of progress."""
    return progress(kafka, service.name)[-1]


def test_metrics_count_what_is_published(service: Service, kafka: Kafka) -> None:
    service.put()
    service.pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    records = kafka.read_committed(f"{service.name}.totals")
    families = text_string_to_metric_families(service.client.get("/metrics").text)
    found = {(s.name, *s.labels.values()): s.value for f in families for s in f.samples}
    assert found["ivm_sink_messages_total", "totals"] == len(records)
    size = sum(len(r.key() or b"") + len(r.value() or b"") for r in records)
    assert found["ivm_sink_bytes_total", "totals"] == size
    assert found["ivm_sink_waiting_bytes", "totals"] == 0
    # That of the start, of the snapshot, and of the batch.
    assert found["ivm_sink_transactions_total", "main", "committed"] == 3
    assert found["ivm_sink_transactions_total", "main", "given up"] == 0
    assert found["ivm_sink_transaction_seconds_total", "main"] > 0


def test_a_view_is_published_from_its_snapshot_on(service: Service, kafka: Kafka) -> None:
    service.pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    answer = service.put()
    assert answer.status_code == 201
    assert answer.json()["sink"] == {
        "connector": "kafka",
        "connection": "main",
        "topic": f"{service.name}.totals",
        "envelope": "delta",
        "format": "json",
        "snapshot": True,
        "partitions": None,
        "replication": None,
        "config": {},
        "headers": [],
        "status": "running",
        "reason": None,
    }
    service.pipeline.deliver("orders", (order(2, "ada", "2"), 1))
    assert values(kafka, f"{service.name}.totals") == [
        {"op": "+", "diff": 1, "time": 1, "row": _total(1, "1.00")},
        {"frontier": 1, "offsets": {"orders": {"0": 1}}, "sources": {"orders": {"0": 1}}},
        {"op": "-", "diff": -1, "time": 2, "row": _total(1, "1.00")},
        {"op": "+", "diff": 1, "time": 2, "row": _total(2, "3.00")},
        {"frontier": 2, "offsets": {"orders": {"0": 2}}, "sources": {"orders": {"0": 2}}},
    ]


def _total(orders: int, total: str) -> dict[str, Any]:
    return {"customer": "ada", "orders": orders, "total": total}


def test_a_view_put_at_a_published_time_leaves_that_time_its_ranges(
    service: Service, kafka: Kafka
) -> None:
    service.put()
    batch = service.pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    body = {"query": "SELECT id FROM orders", "sink": service.sink(topic=f"{service.name}.ids")}
    assert service.client.put("/v1/views/ids", json=body).status_code == 201
    assert last(kafka, service).views.keys() == {"totals", "ids"}
    assert (last(kafka, service).time, last(kafka, service).ranges) == (batch.time, batch.ranges)


def put_idle(service: Service) -> None:
    """Five views that no order of the tests concerns, beside `totals`."""
    service.put()
    for number in range(5):
        sink = service.sink(topic=f"{service.name}.above{number}", partitions=2)
        body = {"query": f"SELECT id FROM orders WHERE id > {100 + number}", "sink": sink}
        assert service.client.put(f"/v1/views/above{number}", json=body).status_code == 201


def test_the_progress_of_a_time_or_of_a_new_view_names_only_views_that_change(
    service: Service, kafka: Kafka
) -> None:
    service.stop()
    service.start(progress_seconds=0)
    put_idle(service)
    before = last(kafka, service)
    assert before.changes is not None
    assert before.changes.keys() == {"above4"}
    service.pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    after = last(kafka, service)
    assert after.changes is not None
    assert after.changes.keys() == {"totals"}
    assert after.views["above3"].sequence == before.views["above3"].sequence + 2
    assert len(kafka.read_committed(f"{service.name}.above3")) == after.views["above3"].sequence


def test_views_that_do_not_change_are_told_one_frontier_for_the_times_of_an_interval(
    service: Service, kafka: Kafka
) -> None:
    service.stop()
    service.start(progress_seconds=1_000)
    put_idle(service)
    before = last(kafka, service).views["above3"].sequence
    for number in range(1, 4):
        service.pipeline.deliver("orders", (order(number, "ada", "1"), 1))
    after = last(kafka, service)
    assert (after.changes or {}).keys() == {"totals"}
    assert after.views["above3"].sequence == before
    service.stop()
    service.start(progress_seconds=1_000)  # with whom nobody has spoken yet
    service.replay()
    service.runtime.applier.tend()
    told = values(kafka, f"{service.name}.above3")
    assert sorted(value["frontier"] for value in told) == [0, 0, 3, 3]
    assert last(kafka, service).views["above3"].sequence == len(told)


def test_without_a_snapshot_only_changes_are_published(service: Service, kafka: Kafka) -> None:
    service.pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    assert service.put(snapshot=False).status_code == 201
    service.pipeline.deliver("orders", (order(2, "bob", "2"), 1))
    found = values(kafka, f"{service.name}.totals")
    assert [value["row"]["customer"] for value in found if "row" in value] == ["bob"]


def test_the_file_topic_and_the_kafka_topic_say_the_same(
    service: Service, kafka: Kafka, tmp_path: Path
) -> None:
    service.put()
    for i in range(1, 6):
        service.pipeline.deliver("orders", (order(i, f"c{i % 2}", "1"), 1))
    file = tmp_path / "topics" / "deltas.totals" / "0" / f"{0:020d}.jsonl"
    lines = [orjson.loads(line) for line in file.read_bytes().splitlines()]
    assert values(kafka, f"{service.name}.totals") == lines


def test_deltas_fold_by_key_and_by_sums_as_the_page_says(
    service: Service, kafka: Kafka, tmp_path: Path
) -> None:
    assert service.put().status_code == 201
    _change_at_random(service)
    file = tmp_path / "topics" / "deltas.totals" / "0" / f"{0:020d}.jsonl"
    feed = Feed(service.runtime.topics, "deltas.totals", 1 << 20)
    right = service.client.get("/v1/views/totals/rows?scan=true").json()["rows"]
    assert right
    for deltas in (
        values(kafka, f"{service.name}.totals"),
        [orjson.loads(line) for line in file.read_bytes().splitlines()],
        [d for e in feed.events(service.runtime.sink.published["totals"]) for d in e.deltas],
    ):
        by_key = sorted(FOLDS["fold_by_key"](deltas, ["customer"]), key=str)
        assert by_key == sorted(right, key=str)
        counts = {json.dumps(row, sort_keys=True): 1 for row in right}
        assert FOLDS["fold_by_sums"](deltas) == counts


def _change_at_random(service: Service) -> None:
    """Orders of few customers come and go, several at a time."""
    chosen = random.Random(5)
    there: dict[int, dict[str, Any]] = {}
    for _ in range(12):
        changes = []
        for number in chosen.sample(range(1, 13), 6):
            if number in there:
                changes.append((there.pop(number), -1))
            else:
                there[number] = order(number, f"c{chosen.randrange(3)}", "1")
                changes.append((there[number], 1))
        service.pipeline.deliver("orders", *changes)


@pytest.mark.parametrize("envelope", ["upsert", "debezium"])
def test_a_view_made_anew_takes_back_the_keys_that_only_its_former_life_had(
    service: Service, kafka: Kafka, envelope: str
) -> None:
    names = ["ada", "bob", "cyd"]
    service.put(envelope=envelope, partitions=2)
    service.pipeline.deliver("orders", *((order(i, n, "1"), 1) for i, n in enumerate(names, 1)))
    service.pipeline.deliver("orders", (order(3, "cyd", "1"), -1), (order(4, "eve", "1"), 1))
    topic = f"{service.name}.totals"
    kafka.produce(topic, [Record(b"foreign", key=b"foreign", partition=0)])
    service.client.delete("/v1/views/totals")
    others = TOTALS["query"].replace("FROM orders", "FROM orders WHERE customer <> 'bob'")
    sink = service.sink(envelope=envelope)
    answer = service.client.put("/v1/views/totals", json={"query": others, "sink": sink})
    assert answer.status_code == 201
    await_true("markers of the last transaction", lambda: kafka.is_decided(topic))
    state = _last_by_key(kafka, topic)
    there = {key for key, value in state.items() if value is not None}
    assert there == {_key("ada"), _key("eve"), b"foreign"}
    life = str(last(kafka, service).views["totals"].life).encode()
    of_this_life = [m for m in kafka.read_committed(topic) if ("life", life) in _headers(m)]
    assert sorted(m.key() or b"" for m in of_this_life) == [_key("ada"), _key("bob"), _key("eve")]


def _key(customer: str) -> bytes:
    return orjson.dumps({"customer": customer})


def _headers(message: Message) -> list[Any]:
    headers: Any = message.headers()
    return headers or []


def _last_by_key(kafka: Kafka, topic: str) -> dict[bytes, bytes | None]:
    """What a reader of the compacted topic keeps; a key is in one partition alone."""
    found: dict[bytes, bytes | None] = {}
    places: dict[bytes, int | None] = {}
    for message in kafka.read_committed(topic):
        key = message.key() or b""
        assert places.setdefault(key, message.partition()) == message.partition()
        found[key] = message.value()
    return found


@pytest.mark.parametrize("envelope", ["delta", "upsert", "debezium"])
def test_columns_go_out_as_headers_beside_those_of_each_message(
    service: Service, kafka: Kafka, envelope: str
) -> None:
    answer = service.put(envelope=envelope, headers=["customer", "total"], partitions=1)
    assert answer.json()["sink"]["headers"] == ["customer", "total"]
    service.pipeline.deliver("orders", (order(1, "ada", "1.5"), 1))
    service.pipeline.deliver("orders", (order(1, "ada", "1.5"), -1))
    found = [dict(_headers(message)) for message in kafka.read_committed(f"{service.name}.totals")]
    assert [int(headers["sequence"]) for headers in found] == list(range(len(found)))
    rows = [headers for headers in found if "customer" in headers]
    assert len(rows) == {"delta": 2, "upsert": 2, "debezium": 3}[envelope]
    assert {(headers["customer"], headers["total"]) for headers in rows} == {(b"ada", b"1.50")}
    service.stop()
    service.start()
    same = {"envelope": envelope, "partitions": 1}
    assert service.put(**same, headers=["customer", "total"]).status_code == 200
    assert service.put(**same, headers=["total"]).status_code == 409


def test_the_same_sink_again_is_no_change_and_another_is_refused(service: Service) -> None:
    assert service.put().status_code == 201
    assert service.put().status_code == 200
    answer = service.put(envelope="upsert")
    assert (answer.status_code, answer.json()["code"]) == (409, "different-definition")
    plain = service.client.put("/v1/views/totals", json=TOTALS)
    assert plain.json()["code"] == "different-definition"


def test_a_restart_goes_on_where_it_was(service: Service, kafka: Kafka) -> None:
    service.put()
    service.pipeline.tick()
    before = last(kafka, service)
    service.stop()
    service.start()
    service.replay()
    assert service.client.get("/v1/views/totals").json()["sink"]["status"] == "running"
    assert service.put().status_code == 200
    service.pipeline.tick()
    after = last(kafka, service)
    assert after.time == before.time + 1
    assert after.views["totals"].sequence == before.views["totals"].sequence + 1
    assert after.views["totals"].life == before.views["totals"].life
    assert after.instance != before.instance


def test_a_service_that_has_stopped_holds_no_client_of_a_broker(
    service: Service, kafka: Kafka
) -> None:
    before = threads_of_clients()
    other = Service(service.runtime.settings.data / "other", kafka.address)
    other.client.put("/v1/sources/orders", json=ORDERS).raise_for_status()
    other.put().raise_for_status()
    assert threads_of_clients() > before
    other.stop()
    assert threads_of_clients() <= before


def threads_of_clients() -> int:
    """The threads that librdkafka runs in this process."""
    names = (task / "comm" for task in Path("/proc/self/task").iterdir())
    return sum(name.read_text().startswith("rdk:") for name in names)


def test_a_view_that_is_dropped_leaves_its_topic_and_no_number(
    service: Service, kafka: Kafka
) -> None:
    service.put()
    before = values(kafka, f"{service.name}.totals")
    assert service.client.delete("/v1/views/totals").status_code == 204
    service.pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    assert values(kafka, f"{service.name}.totals") == before
    service.put()
    assert last(kafka, service).views["totals"].life > 1


@pytest.mark.parametrize(
    ("sink", "status", "code"),
    [
        ({"connection": "other"}, 422, "unknown-connection"),
        ({"topic": "a topic"}, 422, "invalid-sink"),
        ({"format": "avro"}, 422, "invalid-sink"),
        ({"config": {"no.such": "setting"}}, 422, "invalid-sink"),
        ({"replication": 5}, 422, "invalid-sink"),
        ({"bootstrap_servers": "evil:9092"}, 422, "invalid-request"),
        ({"partitions": 0}, 422, "invalid-request"),
        ({"headers": ["no_such_column"]}, 422, "invalid-sink"),
    ],
)
def test_a_sink_that_cannot_be_is_refused_and_nothing_is_left(
    service: Service, sink: dict[str, Any], status: int, code: str
) -> None:
    answer = service.put(**sink)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert service.client.get("/v1/views/totals").status_code == 404
    assert service.put().status_code == 201


def test_a_topic_of_the_broker_itself_is_refused_at_once_and_the_service_goes_on(
    service: Service, kafka: Kafka
) -> None:
    service.put()
    body = {**TOTALS, "sink": service.sink(topic="__transaction_state")}
    started = clock.monotonic()
    answer = service.client.put("/v1/views/others", json=body)
    assert clock.monotonic() - started < 5
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid-sink")
    assert "'__transaction_state'" in answer.json()["detail"]
    assert service.client.get("/v1/views/others").status_code == 404
    assert service.client.get("/readyz").status_code == 200
    service.pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    assert values(kafka, f"{service.name}.totals")[-1]["frontier"] == 1
    assert service.client.put("/v1/views/others", json=TOTALS).status_code == 201


def test_a_snapshot_that_its_topic_does_not_take_is_refused_with_the_view_and_the_topic(
    service: Service, kafka: Kafka
) -> None:
    topic = f"{service.name}.totals"
    kafka.create_topic(topic, config={"max.message.bytes": "300"})
    service.pipeline.deliver("orders", (order(1, "a" * 1000, "1"), 1))
    answer = service.put()
    assert (answer.status_code, answer.json()["code"]) == (422, "record-too-large")
    assert "view 'totals'" in answer.json()["detail"]
    assert repr(topic) in answer.json()["detail"]
    assert service.client.get("/v1/views/totals").status_code == 404
    assert service.client.get("/readyz").status_code == 200
    kafka.configure_topic(topic, {"max.message.bytes": "100000"})
    assert service.put().status_code == 201
    assert service.client.delete("/v1/views/totals").status_code == 204


def test_a_sink_whose_topic_is_gone_stalls_and_can_be_put_anew(
    service: Service, kafka: Kafka
) -> None:
    topic = f"{service.name}.totals"
    service.put()
    kafka.delete_topic(topic)
    service.pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    sink = service.client.get("/v1/views/totals").json()["sink"]
    assert sink["status"] == "stalled"
    assert f"view 'totals', topic '{topic}'" in sink["reason"]
    assert service.client.get("/readyz").status_code == 200
    assert service.client.delete("/v1/views/totals").status_code == 204
    assert service.put().status_code == 201
    assert values(kafka, topic)[0]["row"] == _total(1, "1.00")


def test_one_row_per_key_needs_a_unique_key(service: Service) -> None:
    body = {
        "query": "SELECT customer, amount FROM orders",
        "key": ["customer"],
        "sink": service.sink(envelope="upsert"),
    }
    answer = service.client.put("/v1/views/amounts", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "key-not-unique")
    body["query"] = "SELECT customer, max(amount) AS amount FROM orders GROUP BY customer"
    assert service.client.put("/v1/views/amounts", json=body).status_code == 201


def test_a_topic_that_is_there_must_agree(service: Service, kafka: Kafka) -> None:
    kafka.create_topic(f"{service.name}.totals", partitions=3)
    answer = service.put(partitions=2)
    assert answer.json()["code"] == "invalid-sink"
    assert "3 partitions" in answer.json()["detail"]
    assert "1 replicas" in service.put(replication=2).json()["detail"]
    assert service.put(partitions=3).status_code == 201


@pytest.mark.parametrize(
    ("sink", "policy"),
    [
        ({"envelope": "delta"}, "delete"),
        ({"envelope": "upsert"}, "compact"),
        ({"envelope": "debezium"}, "compact"),
        ({"envelope": "upsert", "config": {"cleanup.policy": "delete"}}, "delete"),
    ],
)
def test_a_topic_is_made_to_keep_what_late_readers_need(
    service: Service, kafka: Kafka, sink: dict[str, Any], policy: str
) -> None:
    assert service.put(**sink).status_code == 201
    settings = kafka.topic_settings(f"{service.name}.totals")
    assert settings["cleanup.policy"] == policy


def test_two_views_do_not_share_a_topic(service: Service) -> None:
    service.put()
    body = {**TOTALS, "sink": service.sink()}
    answer = service.client.put("/v1/views/others", json=body)
    assert answer.json()["code"] == "invalid-sink"
    assert "view 'totals'" in answer.json()["detail"]


def test_a_drop_does_not_wait_for_ever_behind_a_batch_whose_broker_is_away(
    broker: Broker, tmp_path: Path
) -> None:
    service = Service(tmp_path / "data", broker.address)
    service.client.put("/v1/sources/orders", json=ORDERS)
    service.put()
    service.runtime.settings.ready_seconds = 0.5
    broker.kill()
    delivering = threading.Thread(
        target=service.pipeline.deliver, args=("orders", (order(1, "ada", "1"), 1))
    )
    delivering.start()
    await_true("a fault", service.runtime.kafka.faults)
    refused = service.client.delete("/v1/views/totals")
    assert (refused.status_code, refused.json()["code"]) == (503, "not-ready")
    assert "bootstrap_servers" in refused.json()["detail"]
    broker.start()
    delivering.join()
    assert service.client.delete("/v1/views/totals").status_code == 204
    service.stop()


def test_a_broker_that_is_away_refuses_the_view_with_the_setting(tmp_path: Path) -> None:
    service = Service(tmp_path, "127.0.0.1:1")
    service.client.put("/v1/sources/orders", json=ORDERS)
    answer = service.put()
    assert answer.status_code == 503
    assert "connections.main.bootstrap_servers" in answer.json()["detail"]
    assert service.client.get("/v1/views/totals").status_code == 404
    service.stop()


def test_a_view_goes_out_in_avro(kafka: Kafka, tmp_path: Path) -> None:
    with Registry.started() as registry:
        service = Service(tmp_path, kafka.address, schema_registry_url=registry.url)
        service.client.put("/v1/sources/orders", json=ORDERS)
        assert service.put(format="avro", envelope="upsert").status_code == 201
        service.pipeline.deliver("orders", (order(1, "ada", "1"), 1))
        [record] = kafka.read_committed(f"{service.name}.totals")
        assert (record.value() or b"")[:1] == (record.key() or b"")[:1] == b"\0"
        service.stop()
