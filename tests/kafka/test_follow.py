"""What is committed to partitions is followed from where reading begins, as it comes."""

import time
import uuid
from collections import defaultdict
from contextlib import closing

import pytest
from confluent_kafka import Producer, TopicPartition

from connectors.connections import Connection
from connectors.errors import BrokerFault
from connectors.kafka.follow import Follower
from tests.kafka.client import Kafka, Record


def connection(kafka: Kafka) -> Connection:
    return Connection(name="main", bootstrap_servers=kafka.address)


def followed(follower: Follower, count: int) -> dict[tuple[str, int], list[int]]:
    """The offsets of the next `count` records, by topic and partition."""
    found: dict[tuple[str, int], list[int]] = defaultdict(list)
    until = time.monotonic() + 30
    while sum(map(len, found.values())) < count and time.monotonic() < until:
        for topic, records in follower.read(0.1):
            found[topic, records.partition] += records.offsets
    return found


def test_records_come_in_order_from_where_reading_begins(kafka: Kafka) -> None:
    one, two = (f"followed-{uuid.uuid4().hex}" for _ in range(2))
    kafka.create_topic(one, 2)
    kafka.create_topic(two)
    kafka.produce(one, [Record(b"%d" % n, partition=n % 2) for n in range(10)])
    with closing(Follower(connection(kafka))) as follower:
        follower.begin({(one, 0): 2, (one, 1): 0, (two, 0): 0})
        assert followed(follower, 8) == {(one, 0): [2, 3, 4], (one, 1): [0, 1, 2, 3, 4]}
        assert follower.read(0.1) == []
        kafka.produce(two, [Record(b"later")])
        assert followed(follower, 1) == {(two, 0): [0]}
        assert follower.positions == {(one, 0): 5, (one, 1): 5, (two, 0): 1}
        follower.rest()
        follower.begin({(one, 1): 4})
        assert followed(follower, 1) == {(one, 1): [4]}


def test_aborted_records_are_not_among_them(kafka: Kafka) -> None:
    topic = f"followed-{uuid.uuid4().hex}"
    kafka.create_topic(topic)
    producer = Producer(kafka.configured({"transactional.id": topic}))
    producer.init_transactions(30)
    for number in range(3):
        producer.begin_transaction()
        producer.produce(topic, b"%d" % number)
        if number == 1:
            producer.flush()
            producer.abort_transaction(30)
        else:
            producer.commit_transaction(30)
    with closing(Follower(connection(kafka))) as follower:
        follower.begin({(topic, 0): 0})
        assert followed(follower, 2) == {(topic, 0): [0, 4]}


def test_records_that_are_gone_are_not_passed_over(kafka: Kafka) -> None:
    topic = f"followed-{uuid.uuid4().hex}"
    kafka.create_topic(topic)
    kafka.produce(topic, [Record(b"%d" % n) for n in range(4)])
    admin = kafka.admin()  # kept until the answer is there
    for gone in admin.delete_records([TopicPartition(topic, 0, 2)]).values():
        gone.result(30)
    with closing(Follower(connection(kafka))) as follower:
        follower.begin({(topic, 0): 1})
        with pytest.raises(BrokerFault, match=r"connections\.main.*partition 0: .*range"):
            followed(follower, 1)
