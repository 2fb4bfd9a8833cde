"""Real-time mode gives the records that micro-batches give, each as soon as it is there."""

import time
import uuid

import pytest

from connectors.connections import Connection
from connectors.errors import InvalidTable
from connectors.tables.spec import TableSpec
from tests.e2e.connectors.conftest import Service
from tests.e2e.connectors.test_kafka import add, connect, kafka_table
from tests.kafka.client import Kafka, Record
from tests.kafka.java import await_true
from tests.unit.connectors.records import SCHEMA, insert

# Far below the duration of a batch of Spark's, and far above what a busy machine needs.
SOON = 10.0


@pytest.fixture
def topic() -> str:
    """A name of the test's own."""
    return f"t{uuid.uuid4().hex[:8]}"


@pytest.fixture
def reading(service: Service, kafka: Kafka) -> Service:
    """A service in real-time mode with a connection to the broker, not started."""
    connect(service, kafka.address)
    service.close()
    service.open(trigger="real-time")
    return service


def test_a_record_arrives_though_none_follows(reading: Service, kafka: Kafka, topic: str) -> None:
    kafka.create_topic(topic, partitions=2)
    reading.pipeline.start([])
    add(reading, kafka_table(topic))
    kafka.produce(topic, [Record(insert(0), partition=0)])
    collector = reading.collector
    collector.wait(lambda: collector.count(topic) == 1)
    started = time.monotonic()
    kafka.produce(topic, [Record(insert(1), partition=0)])
    collector.wait(lambda: collector.count(topic) == 2)
    assert time.monotonic() - started < SOON
    assert collector.ids(topic) == [0, 1]


def test_a_record_of_nothing_arrives_though_none_follows(
    reading: Service, kafka: Kafka, topic: str
) -> None:
    kafka.create_topic(topic)
    reading.pipeline.start([])
    add(reading, kafka_table(topic))
    kafka.produce(topic, [insert(0)])
    collector = reading.collector
    collector.wait(lambda: collector.count(topic) == 1)
    kafka.produce(topic, [Record(None)])
    collector.wait(lambda: [(r.first, r.end) for r in collector.batches[-1].ranges] == [(1, 2)])


def test_a_restart_gives_the_same_times_and_records(
    reading: Service, kafka: Kafka, topic: str
) -> None:
    kafka.create_topic(topic, partitions=2)
    reading.pipeline.start([])
    add(reading, kafka_table(topic))
    for n in range(40):
        kafka.produce(topic, [Record(insert(n), partition=n % 2)])
    collector = reading.collector
    collector.wait(lambda: collector.count(topic) == 40)
    before = [(batch.time, batch.ranges) for batch in collector.batches]
    assert len(before) > 1
    reading.close()
    reading.open()  # in micro-batches, for that matter
    reading.pipeline.start([kafka_table(topic)])
    again = reading.collector
    again.wait(lambda: again.count(topic) == 40)
    assert [(batch.time, batch.ranges) for batch in again.batches] == before
    assert again.ids(topic) == collector.ids(topic)


def test_a_partition_that_is_added_is_read(reading: Service, kafka: Kafka, topic: str) -> None:
    kafka.create_topic(topic)
    reading.pipeline.start([])
    add(reading, kafka_table(topic))
    kafka.produce(topic, [Record(insert(0), partition=0)])
    collector = reading.collector
    collector.wait(lambda: collector.ids(topic) == [0])
    kafka.add_partitions(topic, 2)
    kafka.produce(topic, [Record(insert(1), partition=1)])
    collector.wait(lambda: collector.ids(topic) == [0, 1])


def test_a_table_of_files_is_refused(reading: Service) -> None:
    with pytest.raises(InvalidTable, match="trigger"):
        reading.pipeline.preflight(TableSpec("t", "t", SCHEMA, ("id",)))


def test_too_few_slots_are_told(reading: Service, kafka: Kafka, topic: str) -> None:
    slots = 2
    for number in range(slots + 1):
        connection = Connection(name=f"cluster{number}", bootstrap_servers=kafka.address)
        reading.connections[connection.name] = connection
        kafka.create_topic(f"{topic}-{number}")
    reading.close()
    reading.open(trigger="real-time")
    reading.pipeline.start([])
    for number in range(slots + 1):
        add(reading, kafka_table(f"{topic}-{number}", connection=f"cluster{number}"))
    pipeline = reading.pipeline
    await_true("failed", lambda: pipeline.status().state == "failed")
    assert "spark_master" in str(pipeline.status().error)
