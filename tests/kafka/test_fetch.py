"""Ranges of a real topic are read whole, whatever lies between their records."""

import random
import uuid
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing

import pytest
from confluent_kafka import Producer, TopicPartition

from connectors.connections import Connection
from connectors.errors import BrokerFault
from connectors.kafka.fetch import Fetcher, OffsetRange
from connectors.kafka.topics import Cluster
from tests.kafka.client import Kafka, Record

PARTITIONS = 3


def connection(kafka: Kafka) -> Connection:
    return Connection(name="main", bootstrap_servers=kafka.address)


@pytest.fixture
def fetcher(kafka: Kafka) -> Iterator[Fetcher]:
    with closing(Fetcher(connection(kafka))) as made:
        yield made


@pytest.fixture
def topic(kafka: Kafka) -> str:
    """Transactions of one to nine records, of which every third is aborted."""
    name = f"ranges-{uuid.uuid4().hex}"
    kafka.create_topic(name, PARTITIONS)
    producer = Producer(kafka.configured({"transactional.id": name, "linger.ms": 0}))
    producer.init_transactions(30)
    for number in range(60):
        producer.begin_transaction()
        for n in range(number % 9 + 1):
            producer.produce(name, b"%d.%d" % (number, n), partition=(number + n) % PARTITIONS)
        if number % 3:
            producer.commit_transaction(30)
        else:
            producer.flush()  # what is aborted before the broker knows of it ends in a fatal error
            producer.abort_transaction(30)
    return name


def ends(kafka: Kafka, topic: str) -> list[int]:
    places = [(topic, partition) for partition in range(PARTITIONS)]
    found = Cluster(connection(kafka)).ends(places)
    return [found[place] for place in places]


def offsets(fetcher: Fetcher, ranges: list[OffsetRange]) -> dict[int, list[int]]:
    """The offsets of the records of ranges of one topic, by partition."""
    found: dict[int, list[int]] = defaultdict(list)
    for _, records in fetcher.read(ranges):
        found[records.partition] += records.offsets
    return found


def test_any_ranges_one_after_another_give_the_records_that_are_in_them(
    kafka: Kafka, fetcher: Fetcher, topic: str
) -> None:
    stops = ends(kafka, topic)
    whole = offsets(fetcher, [OffsetRange(topic, p, 0, stops[p]) for p in range(PARTITIONS)])
    assert sum(map(len, whole.values())) == sum(n % 9 + 1 for n in range(60) if n % 3)
    choose = random.Random(7)
    for _ in range(100):
        ranges = []
        for partition in choose.sample(range(PARTITIONS), choose.randint(1, PARTITIONS)):
            first, end = sorted(choose.sample(range(stops[partition] + 1), 2))
            ranges.append(OffsetRange(topic, partition, first, end))
        found = offsets(fetcher, ranges)
        for r in ranges:
            assert found[r.partition] == [o for o in whole[r.partition] if r.first <= o < r.end]


def test_ranges_without_records_end(kafka: Kafka, fetcher: Fetcher) -> None:
    name = f"aborted-{uuid.uuid4().hex}"
    kafka.create_topic(name)
    producer = Producer(kafka.configured({"transactional.id": name}))
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(name, b"never")
    producer.flush()
    producer.abort_transaction(30)
    assert offsets(fetcher, [OffsetRange(name, 0, 0, 2)]) == {}


def test_records_keep_all_that_they_have(kafka: Kafka, fetcher: Fetcher) -> None:
    name = f"whole-{uuid.uuid4().hex}"
    kafka.create_topic(name)
    kafka.produce(name, [Record(b"v", b"k", headers=(("h", b"\xff"),)), Record(None, b"k")])
    ((found, records),) = fetcher.read([OffsetRange(name, 0, 0, 2)])
    assert found == name
    assert (list(records.values), records.keys) == ([b"v", None], [b"k", b"k"])
    assert records.headers == [(("h", b"\xff"),), None]
    assert all(records.times() > 0)


def test_a_range_that_is_gone_is_not_passed_over(kafka: Kafka, fetcher: Fetcher) -> None:
    name = f"gone-{uuid.uuid4().hex}"
    kafka.create_topic(name)
    kafka.produce(name, [Record(b"%d" % n) for n in range(4)])
    admin = kafka.admin()  # kept until the answer is there
    for gone in admin.delete_records([TopicPartition(name, 0, 2)]).values():
        gone.result(30)
    with pytest.raises(BrokerFault, match=r"connections\.main.*partition 0: .*range"):
        list(fetcher.read([OffsetRange(name, 0, 1, 4)]))


def test_a_topic_that_is_not_there_is_told(kafka: Kafka, fetcher: Fetcher) -> None:
    with pytest.raises(BrokerFault, match=r"connections\.main\.bootstrap_servers: topic 'nothere'"):
        list(fetcher.read([OffsetRange("nothere", 0, 0, 1)]))
