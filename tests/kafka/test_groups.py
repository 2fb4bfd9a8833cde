"""Tools that watch consumer groups see how far each source is."""

import uuid
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
)
from structlog.testing import capture_logs

from connectors.connections import Connection
from connectors.kafka.groups import Groups
from connectors.tables.spec import TableSpec
from tests.kafka.broker import Broker
from tests.kafka.client import Kafka
from tests.kafka.java import await_true
from tests.unit.connectors.records import SCHEMA

ACLS = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
}


@pytest.fixture
def topic(kafka: Kafka) -> str:
    name = f"orders-{uuid.uuid4()}"
    kafka.create_topic(name, partitions=2)
    return name


def source(topic: str, name: str = "orders") -> TableSpec:
    return TableSpec(name, topic, SCHEMA, ("id",), connector="kafka", connection="main")


def groups(kafka: Kafka, service: str) -> Groups:
    return Groups({"main": Connection(name="main", bootstrap_servers=kafka.address)}, service)


def committed(kafka: Kafka, group: str, topic: str) -> list[int]:
    """The offsets of a group in the partitions of a topic, as the broker has them."""
    consumer = Consumer(kafka.configured({"group.id": group}))
    places = [TopicPartition(topic, partition) for partition in range(2)]
    offsets = [place.offset for place in consumer.committed(places, 10)]
    consumer.close()
    return offsets


def test_a_topic_stands_where_its_source_does_that_is_most_behind(kafka: Kafka, topic: str) -> None:
    service = f"service-{uuid.uuid4()}"
    telling = groups(kafka, service)
    specs = [source(topic), source(topic, "late")]

    def is_told() -> bool:
        telling.tell(specs, {("orders", 0): 7, ("orders", 1): 3, ("late", 0): 2})
        return committed(kafka, service, topic) == [2, 3]

    await_true("offsets", is_told)
    telling.close()


def test_offsets_follow_a_source(kafka: Kafka, topic: str) -> None:
    service = f"service-{uuid.uuid4()}"
    telling = groups(kafka, service)

    def is_told(offset: int) -> bool:
        telling.tell([source(topic)], {("orders", 0): offset})
        return committed(kafka, service, topic)[0] == offset

    await_true("the first offset", lambda: is_told(5))
    await_true("the next one", lambda: is_told(9))
    telling.close()


def test_a_cluster_that_does_not_let_us_is_told_of_once(tmp_path: Path) -> None:
    with Broker.started(tmp_path, settings=ACLS) as broker:
        broker.create_topic("orders")
        everyone = AclBinding(
            ResourceType.GROUP,
            "*",
            ResourcePatternType.LITERAL,
            "User:*",
            "*",
            AclOperation.READ,
            AclPermissionType.DENY,
        )
        admin = broker.admin()
        for made in admin.create_acls([everyone]).values():
            made.result(10)
        telling = groups(broker, "ivm")

        def tell() -> bool:
            telling.tell([source("orders")], {("orders", 0): 5})
            return bool(told)

        with capture_logs() as told:
            await_true("a line of the log", tell)
            for _ in range(3):
                tell()
        telling.close()
        [event] = told
        assert (event["event"], event["connection"]) == ("offsets are not told", "main")
