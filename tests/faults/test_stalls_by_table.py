"""A source that cannot be read stands still alone, whatever the cause.

What reads others goes on, and comes back so from a kill; what reads it answers as of where it
stands, and says so; once it is mended it has each record once.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import AclOperation
from pyspark.sql import SparkSession

from connectors.checkpoint.manifest import is_manifest
from tests.e2e.connectors.conftest import PATIENCE, spark
from tests.faults.refusing import CONNECTION, allow, authorizing, forbid
from tests.faults.test_17_registry_away import written
from tests.faults.test_stalls_amid_a_replay import Service, published
from tests.kafka.broker import Broker
from tests.kafka.client import Kafka
from tests.kafka.java import NoJars, await_true
from tests.kafka.registry import Registry
from tests.unit.connectors.records import insert

__all__ = ["spark"]

POISON = b"{bad"
FILES = {"connector": "files", "connection": None}
AVRO = {
    "format": "avro",
    "envelope": "append",
    "key": [],
    "connection": "other",
    "replica_identity": "default",
}


class World(Service):
    """A service with the sources `lost` and `kept`, a view over each, and one over both."""

    def __init__(self, data: Path, kafka: Kafka, spark: SparkSession) -> None:
        super().__init__(data, kafka, spark)
        self.open = ExitStack()
        self.lost_kafka: Kafka = kafka
        self.registry: Registry | None = None
        self.saved = b""

    def declare(self, **lost: Any) -> None:
        """Declare all, with these options of `lost`."""
        self.lost_options = lost
        assert self.put_source("kept").status_code == 201
        assert self.put_view("of_kept", "kept").status_code == 201
        self.declare_lost()

    def declare_lost(self) -> None:
        """Declare `lost` and what reads it, and let it have three rows."""
        self.append_lost(0, 1, 2)
        answer = self.put_source("lost", **self.lost_options)
        assert answer.status_code == 201, answer.text
        assert self.put_view("of_lost", "lost").status_code == 201
        query = "SELECT lost.id, kept.name FROM lost JOIN kept ON lost.id = kept.id"
        assert self.client.put("/v1/views/both", json={"query": query}).status_code == 201
        self.await_rows("of_lost", 3)

    def drop_lost(self) -> None:
        """Drop what reads `lost`, and it."""
        for path in ("views/both", "views/of_lost", "sources/lost"):
            assert self.client.delete(f"/v1/{path}").status_code == 204

    def append_lost(self, *ids: int) -> None:
        """Append rows to the topic of `lost`."""
        if self.registry is not None:
            self.write_lost(*(written(self.registry, n) for n in ids))
        else:
            self.write_lost(*map(insert, ids))

    def write_lost(self, *values: bytes) -> None:
        if self.lost_options.get("connector") == "files":
            self.write_file("lost", *values)
        else:
            self.lost_kafka.produce(self.topic("lost"), values)

    def ids(self, view: str) -> list[int]:
        return sorted(row["id"] for row in self.rows(view).json()["rows"])

    def stalled(self) -> dict[str, str]:
        """Answer what `/readyz` says of sources that stand still."""
        found = self.readiness().get("stalled", [])
        return {fault["part"]: fault["detail"] for fault in found}

    def is_saved(self) -> bool:
        """Whether there is a checkpoint."""
        found = self.data / "checkpoints"
        return found.exists() and any(is_manifest(path.name) for path in found.iterdir())

    def await_stalled(self, told: str) -> None:
        await_true(told, lambda: told in self.stalled().get("source lost", ""), PATIENCE)
        await_true("ready", lambda: self.readiness().get("status") == "ready", PATIENCE)


@dataclass(frozen=True)
class Kind:
    """A way to lose a source, what is told of it, and its mend; `options` are the source's.

    `rows` are there in the end.
    """

    lose: Callable[[World], None]
    told: str
    mend: Callable[[World], None]
    rows: tuple[int, ...] = (0, 1, 2, 3)
    options: dict[str, Any] = field(default_factory=dict)
    prepare: Callable[[World], None] = lambda world: None


def poison(world: World) -> None:
    world.write_lost(POISON, insert(3))


def skip(world: World) -> None:
    answer = world.client.post("/v1/quarantine/lost/0/3/skip")
    assert answer.status_code == 202, answer.text


def quarantine(world: World) -> None:
    assert world.put_source("lost", on_error="quarantine").status_code == 200


def delete(world: World) -> None:
    world.kafka.delete_topic(world.topic("lost"))


def make_anew(world: World) -> None:
    with suppress(KafkaException):  # it may be gone already
        delete(world)

    def is_made() -> bool:
        try:
            world.kafka.create_topic(world.topic("lost"))
        except KafkaException:
            return False
        return True

    await_true("the topic", is_made)


def declare_again(world: World) -> None:
    """Let the topic be there as a new one, and read it from its beginning."""
    world.drop_lost()
    make_anew(world)
    world.declare_lost()
    world.append_lost(3)


def declare_once_more(world: World) -> None:
    """Read what is left of the topic."""
    world.drop_lost()
    world.declare_lost()


def let_retention_pass(world: World) -> None:
    """Delete what was not read, while nobody reads."""
    world.runtime.checkpoints.take()  # unless one that was just due holds it all
    assert world.is_saved()
    world.stop()
    world.append_lost(3, 4, 5)
    place = TopicPartition(world.topic("lost"), 0, 6)
    admin = world.kafka.admin()
    for gone in admin.delete_records([place]).values():
        gone.result(PATIENCE)
    world.start()


def segment(world: World) -> Path:
    [found] = (world.data / "topics" / world.topic("lost") / "0").glob("*.jsonl")
    return found


def cut(world: World) -> None:
    world.saved = segment(world).read_bytes()
    segment(world).write_bytes(world.saved[:150])


def bring_back(world: World) -> None:
    """Let the file be as it was, and try the source again by putting it as it is."""
    segment(world).write_bytes(world.saved)
    assert world.put_source("lost", **world.lost_options).status_code == 200
    world.append_lost(3)


def take_registry(world: World) -> None:
    world.registry = world.open.enter_context(Registry.started())
    world.connections["other"]["schema_registry_url"] = world.registry.url


def lose_registry(world: World) -> None:
    assert world.registry is not None
    record = written(world.registry, 3)
    world.registry.fail()
    world.write_lost(record)


def heal_registry(world: World) -> None:
    assert world.registry is not None
    world.registry.heal()


def take_secured(world: World) -> None:
    """Read `lost` from a broker that knows what its users may."""
    try:
        broker = world.open.enter_context(authorizing(world.data / "secured"))
    except NoJars as reason:
        pytest.skip(str(reason))
    broker.create_topic(world.topic("lost"))
    world.lost_kafka = broker
    address = broker.addresses["SASL_PLAINTEXT"]
    world.connections["other"] = {"bootstrap_servers": address, **CONNECTION}


def forbid_reading(world: World) -> None:
    assert isinstance(world.lost_kafka, Broker)
    forbid(world.lost_kafka, world.topic("lost"), AclOperation.READ)
    world.append_lost(3)


def allow_reading(world: World) -> None:
    assert isinstance(world.lost_kafka, Broker)
    allow(world.lost_kafka, world.topic("lost"), AclOperation.READ)


KINDS = {
    "a bad record, skipped": Kind(
        poison, "offset 3: not-json", skip, options={"on_error": "stall"}
    ),
    "a bad record, put aside": Kind(
        poison, "offset 3: not-json", quarantine, options={"on_error": "stall"}
    ),
    "a bad record in a file": Kind(
        poison, "offset 3: not-json", skip, options={"on_error": "stall", **FILES}
    ),
    "a topic deleted": Kind(delete, "has no such topic", declare_again),
    "a topic made anew": Kind(make_anew, "deleted and created again", declare_again),
    "records lost to retention": Kind(
        let_retention_pass, "holds the offsets from 6", declare_once_more, (0, 1, 2)
    ),
    "a file topic cut": Kind(cut, "table 'lost'", bring_back, options=FILES),
    "a registry away": Kind(
        lose_registry, "schema_registry_url", heal_registry, options=AVRO, prepare=take_registry
    ),
    "no right to read": Kind(
        forbid_reading,
        "may not read topic",
        allow_reading,
        options={"connection": "other"},
        prepare=take_secured,
    ),
}


@pytest.fixture
def world(tmp_path: Path, kafka: Kafka, spark: SparkSession) -> Iterator[World]:
    made = World(tmp_path, kafka, spark)
    for name in ("lost", "kept"):
        kafka.create_topic(made.topic(name))
    with made.open:
        yield made
        made.stop()


@pytest.mark.parametrize("kind", KINDS)
def test_a_source_that_is_lost_stands_still_alone_until_it_is_mended(
    world: World, kind: str
) -> None:
    found = KINDS[kind]
    found.prepare(world)
    world.start()
    world.await_ready()
    world.declare(**found.options)
    world.append("kept", insert(1), insert(9))
    world.await_rows("of_kept", 2)
    found.lose(world)
    world.await_stalled(found.told)
    expect_told(world, found.told)
    expect_others_to_go_on(world, 2)
    await_true("a checkpoint", world.is_saved, PATIENCE)
    expect_others_to_go_on(world, 3)
    before = {view: world.rows(view).json()["rows"] for view in ("of_lost", "of_kept", "both")}
    world.stop()
    world.start()
    world.await_stalled(found.told)
    assert before == {view: world.rows(view).json()["rows"] for view in before}
    expect_others_to_go_on(world, 4)
    found.mend(world)
    world.await_rows("of_lost", len(found.rows))
    await_true("nothing stalls", lambda: world.stalled() == {}, PATIENCE)
    assert world.ids("of_lost") == list(found.rows)
    kept = [1, 2, 3, 4, 9]
    assert world.ids("of_kept") == kept
    assert world.ids("both") == [number for number in found.rows if number in kept]
    assert published(world, "of_kept") == [1, 9, 2, 3, 4]


def expect_told(world: World, told: str) -> None:
    """It is told wherever one looks, and nobody is kept waiting for the source."""
    client = world.client
    for path in ("sources/lost", "views/of_lost", "views/both"):
        assert told in client.get(f"/v1/{path}").json()["stalled"]
    for path in ("sources/kept", "views/of_kept"):
        assert client.get(f"/v1/{path}").json()["stalled"] is None
    assert told in world.rows("of_lost").json()["stalled"]
    assert "stalled" not in world.rows("of_kept").json()
    assert world.ids("of_lost") == [0, 1, 2]
    place = f"{world.topic('lost')}:0:99"
    answer = client.get("/v1/views/both/rows", params={"scan": "true", "at_least": place})
    assert (answer.status_code, answer.json()["code"]) == (503, "stalled")
    assert told in answer.json()["detail"]
    assert 'ivm_source_stalled{source="lost"} 1.0' in client.get("/metrics").text


def expect_others_to_go_on(world: World, number: int) -> None:
    """A record of `kept` reaches its view and, joined with what there is of `lost`, the other."""
    world.append("kept", insert(number))
    await_true("the row", lambda: number in world.ids("of_kept"), PATIENCE)
    await_true("its delta", lambda: published(world, "of_kept")[-1] == number, PATIENCE)
    assert world.ids("both") == [n for n in (1, 2) if n in world.ids("of_kept")]
