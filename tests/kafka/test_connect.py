"""Debezium captures PostgreSQL into Kafka, in each of the forms that tests decode."""

import io
import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import fastavro
import httpx
import pytest
from confluent_kafka import KafkaException, Message

from tests.kafka.apicurio import Apicurio
from tests.kafka.client import Kafka
from tests.kafka.connect import Connect, debezium
from tests.kafka.java import NoJars, await_true
from tests.postgres import Judge, NoServer, Publisher, publishing


@dataclass(frozen=True, slots=True)
class Capture:
    """A server, a worker that captures it, and where the records go."""

    kafka: Kafka
    connect: Connect
    publisher: Publisher
    database: Judge

    def messages(self, topic: str, count: int) -> list[Message]:
        """The records of a topic, once there are so many."""
        found: list[Message] = []

        def are_there() -> bool:
            try:
                found[:] = self.kafka.read_committed(topic)
            except KafkaException:  # the topic is made with its first record
                return False
            return len(found) >= count

        await_true(f"{count} records in {topic}", are_there)
        return found


@pytest.fixture(scope="module")
def capture(kafka: Kafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Capture]:
    directory = tmp_path_factory.mktemp("connect")
    with ExitStack() as stack:
        try:
            publisher = stack.enter_context(publishing())
            connect = stack.enter_context(Connect.started(directory, kafka.address))
        except (NoServer, NoJars) as reason:
            pytest.skip(str(reason))
        yield Capture(kafka, connect, publisher, stack.enter_context(publisher.connect()))


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Apicurio]:
    try:
        with Apicurio.started(tmp_path_factory.mktemp("registry")) as started:
            yield started
    except NoJars as reason:
        pytest.skip(str(reason))


def test_changes_arrive_as_plain_json_and_go_on_after_a_kill(capture: Capture) -> None:
    capture.database.execute("CREATE TABLE plain (id int PRIMARY KEY, name text)")
    capture.database.execute("INSERT INTO plain VALUES (1, 'ada')")
    capture.connect.create("plain", debezium(capture.publisher, "plain", "public.plain"))
    (first,) = capture.messages("plain.public.plain", 1)
    assert json.loads(first.value() or b"")["after"] == {"id": 1, "name": "ada"}
    capture.connect.await_snapshot("plain")
    capture.connect.kill()
    capture.database.execute("UPDATE plain SET name = 'bob'")
    capture.connect.start()
    _, second = capture.messages("plain.public.plain", 2)
    assert json.loads(second.value() or b"")["op"] == "u"
    capture.connect.pause("plain")
    capture.database.execute("TRUNCATE plain")
    capture.connect.resume("plain")
    *_, third = capture.messages("plain.public.plain", 3)
    assert json.loads(third.value() or b"")["op"] == "t"
    capture.connect.delete("plain")


def test_json_with_schemas_carries_the_types(capture: Capture) -> None:
    capture.database.execute("CREATE TABLE typed (id int PRIMARY KEY, at timestamp)")
    capture.database.execute("INSERT INTO typed VALUES (1, '2024-02-29 12:00')")
    config = debezium(capture.publisher, "typed", "public.typed", "json with schemas")
    capture.connect.create("typed", config)
    (message,) = capture.messages("typed.public.typed", 1)
    document = json.loads(message.value() or b"")
    after = next(each for each in document["schema"]["fields"] if each["field"] == "after")
    names = {each["field"]: each.get("name") for each in after["fields"]}
    assert names == {"id": None, "at": "io.debezium.time.MicroTimestamp"}
    capture.connect.delete("typed")


def test_avro_carries_the_id_of_a_schema_in_the_registry(
    capture: Capture, registry: Apicurio
) -> None:
    capture.database.execute("CREATE TABLE framed (id int PRIMARY KEY, name text)")
    capture.database.execute("INSERT INTO framed VALUES (1, 'ada')")
    config = debezium(capture.publisher, "framed", "public.framed", "avro", registry.native)
    capture.connect.create("framed", config)
    (message,) = capture.messages("framed.public.framed", 1)
    value = message.value() or b""
    assert value[0] == 0
    found = avro(value[5:], int.from_bytes(value[1:5], "big"), registry)
    assert found["after"] == {"id": 1, "name": "ada"}
    capture.connect.delete("framed")


def test_avro_may_carry_the_id_in_a_header(capture: Capture, registry: Apicurio) -> None:
    capture.database.execute("CREATE TABLE headed (id int PRIMARY KEY, name text)")
    capture.database.execute("INSERT INTO headed VALUES (1, 'ada')")
    config = debezium(
        capture.publisher, "headed", "public.headed", "avro with headers", registry.native
    )
    capture.connect.create("headed", config)
    (message,) = capture.messages("headed.public.headed", 1)
    number = dict(message.headers() or ())["apicurio.value.contentId"]
    assert isinstance(number, bytes)
    found = avro(message.value() or b"", int.from_bytes(number, "big"), registry)
    assert found["after"] == {"id": 1, "name": "ada"}
    capture.connect.delete("headed")


def avro(value: bytes, number: int, registry: Apicurio) -> Any:
    """The document of a record, by its schema in the registry."""
    answer = httpx.get(f"{registry.url}/schemas/ids/{number}").raise_for_status().json()
    schema = fastavro.parse_schema(json.loads(answer["schema"]))
    return fastavro.schemaless_reader(io.BytesIO(value), schema, None)
