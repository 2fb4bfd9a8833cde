"""A view or source at fault when a service starts is named, and dropping it lets the start go on.

Until then nothing is looked up or declared: what is shown would be older than what was published,
and what is published would lack changes for ever.
"""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from api.services.definition import Definition
from tests.faults.deeds import COUNTS, LARGE, Place, World, begin, truth
from tests.faults.test_kills_by_moment import judge
from tests.kafka.broker import Broker
from tests.kafka.client import Kafka
from tests.kafka.java import await_true


@pytest.fixture
def place(kafka: Kafka, tmp_path: Path) -> Place:
    """A service that was stopped."""
    return stopped(tmp_path, kafka.address)


def stopped(data: Path, address: str) -> Place:
    """A service with the views `counts` and `open` in Kafka, and `plain` in files, stopped."""
    place = Place(data, address, f"s{uuid.uuid4().hex[:8]}", datetime.now(UTC))
    world = place.start()
    begin(world)
    world.runtime.views.put(Definition("plain", LARGE))
    world.batch()
    world.runtime.stop()
    return place


@contextmanager
def starting(place: Place) -> Iterator[tuple[World, TestClient]]:
    """The service starting again, and a client of it."""
    runtime = place.make()
    with TestClient(create_app(runtime), raise_server_exceptions=False) as client:
        yield World(place, runtime), client


def await_fault(client: TestClient, part: str) -> str:
    """The detail of the fault of this part, once it is told."""

    def found() -> list[str]:
        faults = client.get("/readyz").json().get("faults", ())
        return [fault["detail"] for fault in faults if fault["part"] == part]

    await_true(part, lambda: bool(found()))
    return found()[0]


def await_ready(client: TestClient) -> None:
    await_true("ready", lambda: client.get("/readyz").status_code == 200)


def test_views_whose_progress_was_lost_hold_the_start_until_they_are_dropped(
    place: Place, kafka: Kafka
) -> None:
    kafka.delete_topic(f"{place.service}.progress")
    with starting(place) as (world, client):
        for name in ("counts", "open"):
            detail = await_fault(client, f"view {name}")
            assert "sink-diverged" in detail
            assert f"DELETE /v1/views/{name}" in detail
            assert client.delete(f"/v1/views/{name}").status_code == 204
        await_ready(client)
        world.batch()
        found = world.runtime.pool.scan("plain").rows.num_rows
        assert found == sum(truth(world, LARGE).values())
        world.put("large", LARGE)
        world.batch()
        judge(world, kafka)


def test_while_a_view_holds_the_start_nothing_is_looked_up_or_declared(
    place: Place, kafka: Kafka
) -> None:
    kafka.delete_topic(f"{place.service}.progress")
    with starting(place) as (_, client):
        await_fault(client, "view counts")
        answers = [
            client.get("/v1/views/plain/rows?scan=true"),
            client.get("/v1/views/plain/changes"),
            client.put("/v1/views/more", json={"query": COUNTS}),
            client.put("/v1/sources/more", json=_source()),
        ]
        for answer in answers:
            assert (answer.status_code, answer.json()["code"]) == (503, "not-ready")
            assert "DELETE /v1/views/counts" in answer.json()["detail"]


def _source() -> dict[str, Any]:
    return {"columns": [{"name": "id", "type": "int64"}], "key": ["id"]}


def test_a_view_whose_file_topic_was_cut_holds_the_start_until_it_is_dropped(
    place: Place, kafka: Kafka
) -> None:
    [segment] = (place.data / "topics" / "deltas.plain" / "0").iterdir()
    segment.write_bytes(segment.read_bytes()[:100])
    with starting(place) as (world, client):
        assert "topic-truncated" in await_fault(client, "view plain")
        assert client.delete("/v1/views/plain").status_code == 204
        await_ready(client)
        world.batch()
        judge(world, kafka)


def test_a_source_can_be_dropped_while_a_view_holds_the_start(place: Place, kafka: Kafka) -> None:
    kafka.delete_topic(f"{place.service}.progress")
    with starting(place) as (_, client):
        await_fault(client, "view counts")
        assert client.delete("/v1/sources/orders").json()["code"] == "still-used"
        for name in ("counts", "open", "plain"):
            client.delete(f"/v1/views/{name}")
        client.delete("/v1/sources/orders")
        await_ready(client)
        assert client.get("/v1/sources").json() == {"sources": []}
        assert client.put("/v1/sources/more", json=_source()).status_code == 201


def test_views_whose_broker_is_away_hold_the_start_until_it_is_there(
    broker: Broker, tmp_path: Path
) -> None:
    place = stopped(tmp_path / "data", broker.address)
    broker.kill()
    with starting(place) as (world, client):
        assert "bootstrap_servers" in await_fault(client, "view counts")
        broker.start()
        await_ready(client)
        world.batch()
        judge(world, broker)


def test_views_whose_broker_is_gone_for_good_can_be_dropped(broker: Broker, tmp_path: Path) -> None:
    place = stopped(tmp_path / "data", broker.address)
    broker.kill()
    with starting(place) as (world, client):
        for name in ("counts", "open"):
            await_fault(client, f"view {name}")
            assert client.delete(f"/v1/views/{name}").status_code == 204
        await_ready(client)
        world.batch()
        assert world.runtime.pool.scan("plain").rows.num_rows


def test_what_is_at_fault_can_be_dropped_after_a_start_that_failed(place: Place) -> None:
    world = place.start()
    for _ in range(2):
        world.batch()
        world.checkpoint()
    world.runtime.stop()
    for manifest in (place.data / "checkpoints").glob("*.manifest"):
        manifest.write_bytes(b"")
    journal = place.data / "journal"
    whole = journal.read_bytes()
    with starting(place) as (_, client):
        await_true("it fails", lambda: "start again" in await_fault(client, "service"))
        for path in ("views/counts", "views/open", "views/plain", "sources/orders"):
            assert client.delete(f"/v1/{path}").status_code == 204
        assert client.get("/v1/sources").json() == {"sources": []}
    assert journal.read_bytes().startswith(whole)
