"""Reads committed records of a topic again, by their offsets."""

import time as clock
from collections.abc import Iterator
from typing import Any

from confluent_kafka import Consumer, KafkaError, Message, TopicPartition

from connectors.errors import BrokerFault, RecordsLost
from connectors.kafka.connection import Connection
from connectors.past import BLOCK
from connectors.records import Headers, Records

# How long brokers may be silent.
_SECONDS = 10.0


class Rereader:
    """One cluster's topics; an instance may be used by several threads."""

    def __init__(self, connection: Connection) -> None:
        """Nothing is asked of the brokers yet."""
        self._connection = connection

    def __call__(self, topic: str, partition: int, first: int, end: int) -> Iterator[Records]:
        """The records `[first, end)` that there are, some at a time.

        Raises RecordsLost where the topic begins after `first`, and BrokerFault.
        """
        consumer = Consumer(
            {
                **self._connection.librdkafka(),
                "group.id": "ivm",  # asked for, and not used: positions are our own
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "auto.offset.reset": "error",
                "enable.partition.eof": True,
                "fetch.wait.max.ms": 10,  # what is asked for is there
            }
        )
        try:
            consumer.assign([TopicPartition(topic, partition, first)])
            yield from self._read(consumer, f"topic {topic!r}, partition {partition}", end)
        finally:
            consumer.close()

    def _read(self, consumer: Consumer, where: str, end: int) -> Iterator[Records]:
        heard = clock.monotonic()
        while clock.monotonic() < heard + _SECONDS:
            messages = consumer.consume(BLOCK, timeout=0.05)
            found = [m for m in messages if m.error() is None and _offset(m) < end]
            if found:
                heard = clock.monotonic()
                yield _records(found)
            for message in messages:
                error = message.error()
                if error is None:
                    if _offset(message) >= end - 1:
                        return
                elif error.code() == KafkaError._PARTITION_EOF:
                    return
                elif error.code() == KafkaError._AUTO_OFFSET_RESET:
                    raise RecordsLost(f"{where}: {error.str()}")
                elif not error.retriable() and error.code() != KafkaError._TRANSPORT:
                    raise BrokerFault(f"connection {self._connection.name}: {where}: {error.str()}")
        setting = f"connections.{self._connection.name}.bootstrap_servers"
        raise BrokerFault(f"{setting}: {where} could not be read within {_SECONDS:g} s")


def _offset(message: Message) -> int:
    offset = message.offset()
    assert offset is not None
    return offset


def _headers(message: Message) -> Headers | None:
    found: Any = message.headers()  # a list of pairs; its type allows for what is produced, too
    return None if found is None else tuple(found)


def _records(messages: list[Message]) -> Records:
    return Records(
        [message.value() for message in messages],
        [_offset(message) for message in messages],
        messages[0].partition() or 0,
        [message.key() for message in messages],
        [message.timestamp()[1] for message in messages],
        [_headers(message) for message in messages],
    )
