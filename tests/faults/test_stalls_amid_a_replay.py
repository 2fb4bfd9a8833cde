"""A replay that cannot get on holds everything up, until the source at fault is deleted.

Until then no look-up shows an older time than was published, and no view begins without the rows
that are still to come; after it the replay goes on with the other sources, without a restart.
"""

import uuid
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest
from confluent_kafka import TopicPartition
from fastapi.testclient import TestClient
from pyspark.sql import SparkSession

from api.app import create_app
from api.runtime import Runtime
from api.settings import Settings
from connectors.files.writer import TopicWriter
from connectors.ingest.pipeline import Pipeline
from connectors.quarantine.store import Repair
from tests.e2e.connectors.conftest import JARS, PATIENCE, spark
from tests.e2e.connectors.test_kafka import await_created
from tests.faults.publishing import messages
from tests.faults.test_17_registry_away import written
from tests.kafka.client import Kafka
from tests.kafka.java import await_true
from tests.kafka.registry import Registry
from tests.unit.connectors.records import insert

__all__ = ["spark"]

NOBODY = "http://127.0.0.1:9"
COLUMNS = [
    {"name": "id", "type": "int64", "nullable": False},
    {"name": "name", "type": "utf8"},
]


class Service:
    """A service over the topics `lost` and `kept`, each of which is a source under a view."""

    def __init__(self, data: Path, kafka: Kafka, spark: SparkSession) -> None:
        self.data = data
        self.kafka = kafka
        self.prefix = f"s{uuid.uuid4().hex[:8]}"
        self.connections = {
            name: {"bootstrap_servers": kafka.address} for name in ("main", "other")
        }
        self._spark = spark

    def start(self) -> None:
        """Start it; `client` asks it."""
        settings = Settings(
            data=self.data,
            service=self.prefix,
            workers=1,
            connections=self.connections,  # type: ignore[arg-type]
            spark_jars=JARS,
            checkpoint_seconds=1e6,
            on_error="quarantine",
            ready_seconds=3,
        )
        self.runtime = Runtime(settings, partial(Pipeline, spark=self._spark))
        self._client = TestClient(create_app(self.runtime), raise_server_exceptions=False)
        self.client = self._client.__enter__()

    def stop(self) -> None:
        """Stop it without a checkpoint, as a kill does."""
        self._client.__exit__(None, None, None)

    def topic(self, name: str) -> str:
        """The topic of a source or view."""
        return f"{self.prefix}.{name}"

    def put_source(self, name: str, **more: Any) -> Any:
        """Declare a source on the topic of its name."""
        body: dict[str, Any] = {"connector": "kafka", "connection": "main"}
        body |= {
            "topic": self.topic(name),
            "columns": COLUMNS,
            "key": ["id"],
            "replica_identity": "full",
            **more,
        }
        return self.client.put(f"/v1/sources/{name}", json=body)

    def append(self, name: str, *values: bytes) -> None:
        """Append records to the topic of a source, which is one of files where it is no Kafka's."""
        if self.runtime.sources.get(name).connector == "kafka":
            self.kafka.produce(self.topic(name), values)
        else:
            self.write_file(name, *values)

    def write_file(self, name: str, *values: bytes) -> None:
        """Append records to the topic of files of a source."""
        TopicWriter(self.data / "topics", self.topic(name)).append(list(values))

    def put_view(self, name: str, source: str) -> Any:
        """Put a view of a source's rows, published to a topic."""
        sink = {"connector": "kafka", "connection": "main", "topic": self.topic(name)}
        body = {"query": f"SELECT id, name FROM {source}", "sink": sink}
        return self.client.put(f"/v1/views/{name}", json=body)

    def rows(self, view: str) -> Any:
        """Answer what a look-up answers."""
        return self.client.get(f"/v1/views/{view}/rows?scan=true")

    def await_rows(self, view: str, count: int) -> None:
        await_true(view, lambda: len(self.rows(view).json()["rows"]) == count, PATIENCE)

    def readiness(self) -> Any:
        return self.client.get("/readyz").json()

    def await_told(self, text: str) -> None:
        """Wait until /readyz says this of what is at fault."""
        await_true(text, lambda: text in self.readiness().get("detail", ""), PATIENCE)

    def await_ready(self) -> int:
        """Wait until it is ready; the time it is at."""
        await_true("ready", lambda: self.readiness().get("status") == "ready", PATIENCE)
        time: int = self.readiness()["time"]
        return time


@pytest.fixture
def service(tmp_path: Path, kafka: Kafka, spark: SparkSession) -> Iterator[Service]:
    made = Service(tmp_path, kafka, spark)
    for name in ("lost", "kept"):
        kafka.create_topic(made.topic(name))
    made.start()
    made.await_ready()
    yield made
    made.stop()


def fill(service: Service, **lost: Any) -> int:
    """Read three rows of each source, those of `lost` last, and stop; the time published."""
    for name, options in (("kept", {}), ("lost", lost)):
        assert service.put_source(name, **options).status_code == 201
        assert service.put_view(f"of_{name}", name).status_code == 201
        if not lost.get("format"):
            service.append(name, *(insert(n) for n in range(3)))
            service.await_rows(f"of_{name}", 3)
    time: int = service.rows("of_kept").json()["time"]
    return time


def by_retention(service: Service) -> None:
    """Records that were read are deleted."""
    admin = service.kafka.admin()
    place = TopicPartition(service.topic("lost"), 0, 2)
    for gone in admin.delete_records([place]).values():
        gone.result(PATIENCE)


def by_a_new_topic(service: Service) -> None:
    """The topic is made anew."""
    service.kafka.delete_topic(service.topic("lost"))
    await_created(service.kafka, service.topic("lost"))


def by_the_operator(service: Service) -> None:
    """The connection is taken out of the settings."""
    del service.connections["other"]


def by_a_cut(service: Service) -> None:
    """The file topic loses its last records."""
    [segment] = (service.data / "topics" / service.topic("lost") / "0").glob("*.jsonl")
    segment.write_bytes(segment.read_bytes()[:150])


LOSSES: dict[str, tuple[dict[str, Any], Callable[[Service], None], str]] = {
    "records lost to retention": ({}, by_retention, "holds the offsets from 2"),
    "a topic made anew": ({}, by_a_new_topic, "was deleted and created again"),
    "a file topic cut": ({"connector": "files", "connection": None}, by_a_cut, "topic"),
    "a connection gone": ({"connection": "other"}, by_the_operator, "no connection 'other'"),
}


@pytest.mark.parametrize("loss", LOSSES)
def test_a_stall_amid_the_replay_ends_with_the_source_at_fault(service: Service, loss: str) -> None:
    options, lose, told = LOSSES[loss]
    time = fill(service, **options)
    service.stop()
    lose(service)
    service.start()
    service.await_told(told)
    expect_held_up(service)
    drop_lost(service)
    assert service.await_ready() >= time
    expect_all_of_kept(service)


def test_a_correction_whose_bytes_are_lost_stalls_the_replay_alike(service: Service) -> None:
    fill(service)
    service.kafka.produce(service.topic("lost"), [b"{bad"])
    place = ("lost", 0, 3)
    await_true("the bad record", lambda: service.runtime.quarantine.page(1), PATIENCE)
    service.runtime.repairs.fix(place, Repair(None, insert(3)))
    time = service.runtime.repairs.replay([place], overwrite=False).time
    assert time is not None
    service.stop()
    for file in service.data.glob("quarantine.sqlite*"):
        file.unlink()
    service.start()
    service.await_told("but the quarantine lacks the record")
    expect_held_up(service)
    drop_lost(service)
    assert service.await_ready() >= time
    expect_all_of_kept(service)


def test_a_registry_that_is_away_holds_the_replay_up_until_its_source_is_dropped(
    service: Service,
) -> None:
    with Registry.started() as registry:
        service.connections["other"]["schema_registry_url"] = registry.url
        service.stop()
        service.start()
        service.await_ready()
        options = {"format": "avro", "envelope": "append", "key": [], "connection": "other"}
        fill(service, **options, replica_identity="default")
        service.kafka.produce(service.topic("kept"), [insert(n) for n in range(3)])
        service.kafka.produce(service.topic("lost"), [written(registry, n) for n in range(3)])
        for name in ("of_kept", "of_lost"):
            service.await_rows(name, 3)
        time = service.rows("of_kept").json()["time"]
        service.stop()
        service.connections["other"]["schema_registry_url"] = NOBODY
        service.start()
        service.await_told("schema_registry_url")
        expect_held_up(service)
        drop_lost(service)
        assert service.await_ready() >= time
        expect_all_of_kept(service)


def expect_held_up(service: Service) -> None:
    """Nothing is shown, nothing new is declared, and it is told why."""
    asks: tuple[Callable[[], Any], ...] = (
        lambda: service.rows("of_kept"),
        lambda: service.client.get("/v1/views/of_kept/changes"),
        lambda: service.put_view("more", "kept"),
    )
    for ask in asks:
        answer = ask()
        assert (answer.status_code, answer.json()["code"]) == (503, "not-ready"), answer.text
    assert service.client.get("/readyz").status_code == 503


def drop_lost(service: Service) -> None:
    """Drop the source at fault, which its view must precede."""
    assert service.client.delete("/v1/sources/lost").json()["code"] == "still-used"
    assert service.client.delete("/v1/views/of_lost").status_code == 204
    assert service.client.delete("/v1/sources/lost").status_code == 204


def expect_all_of_kept(service: Service) -> None:
    """The other source is whole, before and after one more start, and so are views on it."""
    assert len(service.rows("of_kept").json()["rows"]) == 3
    assert service.put_view("more", "kept").status_code == 201
    service.kafka.produce(service.topic("kept"), [insert(7)])
    for _ in range(2):
        for view in ("of_kept", "more"):
            service.await_rows(view, 4)
            await_true(f"deltas of {view}", partial(is_published, service, view), PATIENCE)
        assert service.runtime.kafka.failed("of_kept") is None
        service.stop()
        service.start()
        service.await_ready()


def is_published(service: Service, view: str) -> bool:
    """Whether the messages of a view are all rows of `kept`, each once."""
    return sorted(published(service, view)) == [0, 1, 2, 7]


def published(service: Service, view: str) -> list[int]:
    """The ids in the messages of a view, each of which is an addition."""
    found = [m.value for m in messages(service.kafka, service.topic(view)) if "row" in m.value]
    assert all(value["diff"] == 1 for value in found), orjson.dumps(found)
    return [value["row"]["id"] for value in found]
