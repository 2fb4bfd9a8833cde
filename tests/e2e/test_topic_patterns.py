"""A source of a topic pattern through a whole service: real Kafka and Spark, asked over REST."""

import json
import os
import shutil
import signal
import tempfile
import uuid
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import fastavro
import httpx
import orjson
import pytest
from confluent_kafka import TopicPartition

from api.demo.ports import free_ports
from api.demo.service import Service
from ivm_client.client import Client
from ivm_client.errors import Problem
from tests.kafka.client import Kafka, Record
from tests.kafka.java import await_true
from tests.kafka.registry import Registry

pytestmark = pytest.mark.jvm

PATIENCE, READY_SECONDS = 240.0, 300.0
COLUMNS = [{"name": "shop", "type": "text"}, {"name": "id", "type": "bigint"}]
KEYED: dict[str, Any] = {
    "connection": "main",
    "envelope": "upsert",
    "columns": [*COLUMNS, {"name": "amount", "type": "bigint"}],
    "key": ["shop", "id"],
    "metadata": {"shop": "topic"},
    "on_error": "quarantine",
}


class Running:
    """A service with two connections to the broker; with all beside it, it may start slowly."""

    def __init__(self, kafka: Kafka, registry: Registry, data: Path) -> None:
        self.registry = registry
        main = {"bootstrap_servers": kafka.address}
        connections = {"main": main, "registered": main | {"schema_registry_url": registry.url}}
        settings = {
            "IVM_CONNECTIONS": json.dumps(connections),
            "IVM_SERVICE": f"s{uuid.uuid4().hex[:8]}",
        }
        self.service = Service(data, free_ports(1)[0], settings)
        self.client = Client(self.service.url)

    def start(self) -> None:
        self.service.start()
        await_true("the service is ready", self._is_ready, READY_SECONDS)

    def stop(self) -> None:
        """Stop, which takes a checkpoint."""
        os.kill(self.service.pid, signal.SIGTERM)
        await_true("the service has stopped", lambda: not self.service.is_running)

    def _is_ready(self) -> bool:
        try:
            return httpx.get(f"{self.service.url}/readyz", timeout=30).is_success
        except httpx.TransportError:
            return False


class Shop:
    """Topics of a test's own, whose names begin with the shop's, and sources that read them."""

    def __init__(self, kafka: Kafka, running: Running) -> None:
        self.name = f"shop{uuid.uuid4().hex[:8]}"
        self.kafka = kafka
        self.running = running
        self.client = running.client

    def topic(self, country: str) -> str:
        return f"{self.name}.{country}.orders"

    def write(self, country: str, *orders: tuple[int, int | None]) -> None:
        """Set the amounts of orders by their ids; None deletes an order."""
        self.kafka.produce(
            self.topic(country),
            [
                Record(
                    None if amount is None else orjson.dumps({"amount": amount}),
                    orjson.dumps({"id": number}),
                )
                for number, amount in orders
            ],
        )

    def open(self, country: str, *orders: tuple[int, int | None]) -> None:
        self.kafka.create_topic(self.topic(country))
        self.write(country, *orders)

    def declare(self, name: str, **more: Any) -> None:
        """Declare a source of the shop's topics, and a view of its rows."""
        pattern = rf"{self.name}\.[a-z]+\.orders"
        self.client.create_source(name, **KEYED, topic_pattern=pattern, **more)
        self.client.create_view(f"{name}_view", f"SELECT shop, id, amount FROM {name}")

    def rows(self, name: str, **more: Any) -> list[tuple[str, int, int]]:
        """The country, id and amount of each order."""
        found = self.client.service.get(f"/v1/views/{name}_view/rows", scan="true", **more)["rows"]
        return sorted((row["shop"].split(".")[1], row["id"], row["amount"]) for row in found)

    def await_rows(self, name: str, *expected: tuple[str, int, int]) -> None:
        await_true("the rows", lambda: self.rows(name) == sorted(expected), PATIENCE)


@pytest.fixture(scope="module")
def running(kafka: Kafka) -> Iterator[Running]:
    data = Path(tempfile.mkdtemp(prefix="ivm-patterns-"))
    with Registry.started() as registry:
        running = Running(kafka, registry, data)
        try:
            running.start()
            yield running
        finally:
            running.client.close()
            running.service.stop()
            shutil.rmtree(data, ignore_errors=True)


@pytest.fixture
def shop(kafka: Kafka, running: Running) -> Shop:
    return Shop(kafka, running)


def test_a_pattern_waits_reads_what_comes_and_tells_each_topic(shop: Shop) -> None:
    shop.declare("orders")
    found = shop.client.source("orders")
    assert (found["status"], found["topics"], found["topic"]) == ("waiting", {}, None)
    shop.open("eu", (1, 10), (2, 20))
    shop.await_rows("orders", ("eu", 1, 10), ("eu", 2, 20))
    shop.open("us", (1, 7))
    shop.await_rows("orders", ("eu", 1, 10), ("eu", 2, 20), ("us", 1, 7))
    shop.write("us", (1, None), (3, 9))
    eu, us = shop.topic("eu"), shop.topic("us")
    for position in (f"orders:{us}:0:2", f"{us}:0:2"):
        assert shop.rows("orders", at_least=position)[-1] == ("us", 3, 9)
    found = shop.client.source("orders")
    assert found["status"] == "running"
    assert {topic: read["offsets"] for topic, read in found["topics"].items()} == {
        eu: {"0": 2},
        us: {"0": 3},
    }
    metrics = httpx.get(f"{shop.running.service.url}/metrics").text
    labels = f'{{partition="0",source="orders",topic="{us}"}}'
    assert f"ivm_source_offset{labels} 3.0" in metrics


def test_a_record_put_aside_names_its_topic_and_is_found_by_the_source(shop: Shop) -> None:
    shop.open("br", (1, 1))
    shop.declare("kept")
    shop.kafka.produce(shop.topic("br"), [Record(b"{bad", b'{"id": 5}')])
    place = (f"kept:{shop.topic('br')}", 0, 1)

    def put_aside() -> list[Any]:
        found = shop.client.service.get("/v1/quarantine", table="kept")["records"]
        return [one for one in found if one["topic"] == shop.topic("br")]

    await_true("the record", lambda: bool(put_aside()), PATIENCE)
    [record] = put_aside()
    assert (record["table"], record["partition"], record["offset"]) == place
    shop.client.quarantine.repair(*place, {"value": '{"amount": 6}'})
    shop.client.quarantine.replay(*place)
    await_true("the repair", lambda: ("br", 5, 6) in shop.rows("kept"), PATIENCE)


def test_a_dead_letter_tells_the_topic_that_its_record_was_in(shop: Shop) -> None:
    letters = f"{shop.name}-letters"
    shop.kafka.create_topic(letters)
    shop.open("br", (1, 1))
    shop.open("cl", (1, 1))
    shop.declare("lettered", dead_letter={"connection": "main", "topic": letters})
    shop.await_rows("lettered", ("br", 1, 1), ("cl", 1, 1))
    shop.kafka.produce(shop.topic("cl"), [Record(b"{bad", b'{"id": 5}')])
    await_true("the letter", lambda: bool(shop.kafka.read_committed(letters)), PATIENCE)
    [letter] = shop.kafka.read_committed(letters)
    told: dict[str, Any] = dict(letter.headers() or [])
    assert letter.value() == b"{bad"
    assert told["__connect.errors.topic"] == shop.topic("cl").encode()
    assert told["__connect.errors.offset"] == b"1"
    assert told["__connect.errors.connector.name"].endswith(b".lettered")


def test_each_topic_has_subjects_of_its_own(shop: Shop) -> None:
    id_field = {"name": "id", "type": "long"}
    amounts = {"eu": "long", "us": "int"}  # as the schemas of two teams differ
    for country, kind in amounts.items():
        topic = f"{shop.name}.{country}.sold"
        schema = {"type": "record", "name": country, "fields": [id_field, _amount(kind)]}
        number = shop.running.registry.register(f"{topic}-value", schema)
        body = BytesIO()
        fastavro.schemaless_writer(body, fastavro.parse_schema(schema), {"id": 1, "amount": 7})
        shop.kafka.create_topic(topic)
        shop.kafka.produce(topic, [b"\0" + number.to_bytes(4, "big") + body.getvalue()])
    shop.client.create_source(
        "sold", connection="registered", topic_pattern=rf"{shop.name}\.[a-z]+\.sold",
        envelope="append", format="avro", metadata={"shop": "topic"},
        columns=[*COLUMNS, {"name": "amount", "type": "bigint"}],
    )  # fmt: skip
    shop.client.create_view("sold_view", "SELECT shop, id, amount FROM sold")
    shop.await_rows("sold", ("eu", 1, 7), ("us", 1, 7))


def _amount(kind: str) -> dict[str, Any]:
    return {"name": "amount", "type": kind}


def test_a_topic_whose_records_went_before_they_were_read_holds_up_no_other(shop: Shop) -> None:
    shop.open("eu", (1, 1))
    shop.open("us", (1, 1))
    shop.declare("gone")
    shop.await_rows("gone", ("eu", 1, 1), ("us", 1, 1))
    shop.running.stop()
    shop.write("us", *((n, 2) for n in range(2, 6)))
    shop.write("eu", (2, 2))
    admin = shop.kafka.admin()
    for done in admin.delete_records([TopicPartition(shop.topic("us"), 0, 4)]).values():
        done.result()
    shop.running.start()
    await_true("the other topic", lambda: ("eu", 2, 2) in shop.rows("gone"), PATIENCE)
    assert [row for row in shop.rows("gone") if row[0] == "us"] == [("us", 1, 1)]

    def told() -> str:
        return orjson.dumps(shop.client.source("gone")).decode()

    await_true("the stall", lambda: "stalled" in told(), PATIENCE)
    assert shop.topic("us") in told()
    assert "it holds the offsets from 4" in told()
    shop.client.service.delete("/v1/views/gone_view")
    shop.client.service.delete("/v1/sources/gone")


def test_a_kill_neither_loses_nor_repeats_a_record(shop: Shop) -> None:
    shop.open("eu", (1, 10))
    shop.declare("survived")
    query = "SELECT count(*) AS n, sum(amount) AS s FROM survived"
    shop.client.create_view("counted", query)
    shop.await_rows("survived", ("eu", 1, 10))
    shop.open("us", *((n, 1) for n in range(60)))
    await_true("some rows", lambda: len(shop.rows("survived")) > 1, PATIENCE)
    shop.running.service.kill()
    shop.write("us", (500, 5))
    shop.open("jp", (1, 3))
    shop.running.start()
    await_true("all rows", lambda: len(shop.rows("survived")) == 63, PATIENCE)
    [counted] = shop.client.service.get("/v1/views/counted/rows", scan="true")["rows"]
    assert (counted["n"], int(counted["s"])) == (63, 78)


def test_columns_that_are_left_out_are_found_in_the_first_topic_that_matches(shop: Shop) -> None:
    shop.kafka.create_topic(f"{shop.name}.a.visits")
    shop.kafka.create_topic(f"{shop.name}.b.visits")
    shop.kafka.produce(f"{shop.name}.a.visits", [Record(b'{"page": "home", "ms": 3}')])
    asked = {"topic_pattern": rf"{shop.name}\..*\.visits", "connection": "main"}
    found = shop.client.service.post("/v1/sources/infer", asked)
    assert [c["name"] for c in found["declaration"]["columns"]] == ["page", "ms"]
    assert found["declaration"]["topic_pattern"] == asked["topic_pattern"]
    assert f"{shop.name}.a.visits" in found["unsure"][0]
    with pytest.raises(Problem, match="no topic that it matches"):
        shop.client.create_source("none", connection="main", topic_pattern="nothing.*")


def test_a_service_never_reads_what_it_writes(shop: Shop) -> None:
    shop.kafka.create_topic(f"{shop.name}.x.notes")
    columns = [{"name": "note", "type": "text"}]
    own = {"connector": "kafka", "connection": "main", "topic": f"{shop.name}.totals"}
    shop.client.create_source("notes", connection="main", topic=f"{shop.name}.x.notes",
                              envelope="append", columns=columns)  # fmt: skip
    shop.client.create_view("noted", "SELECT count(*) AS n FROM notes", sink=own)
    with pytest.raises(Problem, match="to which view 'noted' is published"):
        shop.client.create_source(
            "loop", connection="main", topic_pattern=rf"{shop.name}\..*", envelope="append",
            columns=columns,
        )  # fmt: skip
    shop.declare("guarded")
    with pytest.raises(Problem, match="is read by source 'guarded'"):
        shop.client.create_view(
            "again", "SELECT count(*) AS m FROM notes", sink=own | {"topic": shop.topic("zz")}
        )
