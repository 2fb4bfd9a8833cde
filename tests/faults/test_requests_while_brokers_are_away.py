"""No request waits for a broker that is away: what needs none is done, all else is refused."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from tests.kafka.broker import Broker
from tests.kafka.java import await_true
from tests.unit.api.conftest import ORDERS, TOTALS
from tests.unit.api.orders import order
from tests.unit.api.test_kafka_sinks import Service, put_idle, values

# Longer than any request waits for a broker, in seconds.
LONG = 30.0
PLAIN = {"query": "SELECT id FROM orders"}
RECENT = {"query": "SELECT id FROM orders WHERE now() <= day + interval '1 day'"}


@pytest.fixture
def service(broker: Broker, tmp_path: Path) -> Iterator[Service]:
    """A service that publishes `totals`, which changes, and views that do not."""
    service = Service(tmp_path / "data", broker.address)
    service.stop()
    service.start(progress_seconds=2.0, clock_seconds=0.1)
    assert service.client.put("/v1/sources/orders", json=ORDERS).status_code == 201
    put_idle(service)
    yield service
    service.stop()


def answered(ask: Callable[[], Any]) -> tuple[int, str]:
    """The status of an answer and the text of its body; it comes within bounds."""
    found: SimpleQueue[Any] = SimpleQueue()
    threading.Thread(target=lambda: found.put(ask()), daemon=True).start()
    answer = found.get(timeout=LONG)
    return answer.status_code, answer.text


def put(service: Service, name: str, body: Any) -> tuple[int, str]:
    """The answer to the declaration of a view."""
    return answered(lambda: service.client.put(f"/v1/views/{name}", json=body))


def deliver(service: Service, number: int) -> threading.Thread:
    """Publish an order, for as long as that takes."""
    changed = order(number, "ada", "1"), 1
    delivering = threading.Thread(
        target=service.pipeline.deliver, args=("orders", changed), daemon=True
    )
    delivering.start()
    return delivering


def assert_names_the_connection(answer: tuple[int, str]) -> None:
    """It is refused for the broker, which is named by its setting."""
    status, text = answer
    assert status == 503, text
    assert "broker-unreachable" in text
    assert "connections.main.bootstrap_servers" in text


def test_a_frontier_that_is_owed_keeps_no_request_waiting_and_is_told_once_the_broker_is_back(
    service: Service, broker: Broker
) -> None:
    deliver(service, 1).join()
    broker.kill()
    await_true("a fault", service.runtime.kafka.faults)
    assert put(service, "plain", PLAIN)[0] == 201
    assert_names_the_connection(put(service, "others", {**TOTALS, "sink": service.sink(topic="o")}))
    assert answered(lambda: service.client.delete("/v1/views/plain"))[0] == 204
    broker.start()

    def frontiers() -> list[int]:
        return sorted(value["frontier"] for value in values(broker, f"{service.name}.above3"))

    await_true("the frontier", lambda: frontiers() == [0, 0, 1, 1])
    await_true("no fault", lambda: not service.runtime.kafka.faults())


def test_a_view_that_filters_by_time_is_refused_where_that_time_could_not_be_published(
    service: Service, broker: Broker
) -> None:
    broker.kill()
    assert_names_the_connection(put(service, "recent", RECENT))
    assert put(service, "plain", PLAIN)[0] == 201
    broker.start()
    assert put(service, "recent", RECENT)[0] == 201


@pytest.mark.parametrize("cause", [Broker.kill, Broker.pause], ids=["killed", "frozen"])
def test_a_batch_that_waits_for_a_broker_keeps_no_declaration_waiting(
    service: Service, broker: Broker, cause: Callable[[Broker], None]
) -> None:
    cause(broker)
    delivering = deliver(service, 1)
    assert_names_the_connection(put(service, "plain", PLAIN))
    source = {**ORDERS, "topic": "more"}
    asked = answered(lambda: service.client.put("/v1/sources/more", json=source))
    assert asked[0] == 503, asked[1]
    broker.resume() if cause is Broker.pause else broker.start()
    delivering.join()
    assert put(service, "plain", PLAIN)[0] == 201
