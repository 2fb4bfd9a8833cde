"""Keys that a former life of a view has left in its topic.

A topic of upserts holds a row for each key until a tombstone follows. A view that is made anew on
the topic, by another query say, does not know the keys that only its former life had, so that
readers would keep these rows for ever: tombstones are owed. What others wrote there, without the
headers of a view, stays.
"""

import time as clock
from collections.abc import Mapping
from typing import Any

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)

from connectors.errors import BrokerFault
from connectors.sinks.kafka.logs import SILENT

# How long brokers may be silent.
_SECONDS = 10.0
_AT_ONCE = 10_000


def former_keys(
    options: Mapping[str, Any], topic: str, ends: Mapping[int, int]
) -> dict[bytes, int]:
    """The partition of every key whose last committed message of a view is no tombstone.

    Waits until all before `ends`, by partition, is decided: a commit is answered before its markers
    are written. Raises BrokerFault or KafkaException when the broker does not answer.
    """
    consumer = Consumer(
        {
            **options,
            "group.id": topic,  # asked for, and not used
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 10,  # what is asked for is there
            "auto.offset.reset": "error",
        },
        logger=SILENT,
    )
    try:
        wanted = {partition: end for partition, end in ends.items() if end > 0}
        consumer.assign([TopicPartition(topic, p, OFFSET_BEGINNING) for p in wanted])
        return _read(consumer, topic, wanted)
    finally:
        consumer.close()


def _read(consumer: Consumer, topic: str, wanted: dict[int, int]) -> dict[bytes, int]:
    """Read each partition up to its offset."""
    found: dict[bytes, int] = {}
    heard = clock.monotonic()
    while wanted:
        messages = consumer.consume(_AT_ONCE, timeout=0.05)
        for message in messages:
            error = message.error()
            if error is None:
                _note(found, message)
            elif error.code() == KafkaError._PARTITION_EOF:
                _reach(wanted, message)
            elif not error.retriable() and error.code() != KafkaError._TRANSPORT:
                raise KafkaException(error)
        if messages:
            heard = clock.monotonic()
        elif clock.monotonic() > heard + _SECONDS:
            raise BrokerFault(
                f"topic {topic!r}: the messages of a former view could not be read to the ends "
                f"{wanted} by partition, within {_SECONDS:g} s. If another program has a "
                "transaction open there, try again once it has ended"
            )
    return found


def _reach(wanted: dict[int, int], message: Message) -> None:
    """Note that nothing is to be read any more at the place of `message`."""
    partition = message.partition()
    assert partition is not None
    if (message.offset() or 0) >= wanted.get(partition, 0):
        wanted.pop(partition, None)


def _note(found: dict[bytes, int], message: Message) -> None:
    key, partition = message.key(), message.partition()
    headers: Any = message.headers() or ()
    if key is None or partition is None or "view" not in dict(headers):
        return
    if message.value() is None:
        found.pop(key, None)
    else:
        found[key] = partition
