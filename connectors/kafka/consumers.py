"""Consumers: clients that read committed records from offsets of our own, and their records."""

from collections.abc import Iterator, Sequence
from itertools import compress, pairwise
from operator import ne, or_
from typing import Any

from confluent_kafka import Consumer, KafkaError, Message

from connectors.connections import Connection
from connectors.errors import BrokerFault
from connectors.records import Headers, Records

# What a client tells of, and goes on: another broker may answer, or the same one later; and the
# group is asked for by name only, so that nobody needs a right to it.
_PASSING = (
    KafkaError._TRANSPORT,
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError._PARTITION_EOF,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
)


def consumer_of(connection: Connection, **options: Any) -> Consumer:
    """A consumer that commits no positions and never moves to others than it is told.

    It tells of the ends of partitions, and of offsets that a topic does not hold.
    """
    return Consumer(
        {
            **connection.librdkafka(),
            "group.id": "ivm",  # asked for, and not used: positions are our own
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "auto.offset.reset": "error",
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 10,  # what is asked for is there
            **options,
        }
    )


def passes(error: KafkaError) -> bool:
    """Whether the client goes on by itself."""
    return error.retriable() or error.code() in _PASSING


def unreadable(connection: Connection, text: str) -> BrokerFault:
    """The fault of brokers that do not give what they are asked for."""
    setting = f"connections.{connection.name}.bootstrap_servers"
    return BrokerFault(f"{setting}: {text}", f"connection {connection.name}", setting)


def runs(messages: list[Message]) -> Iterator[tuple[tuple[str, int], list[Message]]]:
    """Messages without errors, by partition, as many as follow one another."""
    if any(map(Message.error, messages)):
        messages = [message for message in messages if message.error() is None]
    topics = list(map(Message.topic, messages))
    partitions = list(map(Message.partition, messages))
    changes = map(or_, map(ne, topics, topics[1:]), map(ne, partitions, partitions[1:]))
    bounds = [0, *compress(range(1, len(messages)), changes), len(messages)]
    for begin, end in pairwise(bounds if messages else []):
        yield (topics[begin] or "", partitions[begin] or 0), messages[begin:end]


def records(messages: Sequence[Message]) -> Records:
    """Messages of one partition, in order and without errors, as records."""
    offsets: list[Any] = list(map(Message.offset, messages))
    times = map(Message.timestamp, messages)
    return Records(
        values=list(map(Message.value, messages)),
        offsets=_consecutive(offsets),
        partition=messages[0].partition() or 0,
        keys=list(map(Message.key, messages)),
        timestamps=[milliseconds for _, milliseconds in times],
        headers=_headers(list(map(Message.headers, messages))),
    )


def _consecutive(offsets: list[int]) -> Sequence[int]:
    """Offsets, most of which follow one another."""
    first, end = offsets[0], offsets[-1] + 1
    return range(first, end) if end - first == len(offsets) else offsets


def _headers(found: list[Any]) -> Sequence[Headers | None] | None:
    """Lists of pairs; their type allows for what is produced, too."""
    return [None if each is None else tuple(each) for each in found] if any(found) else None
