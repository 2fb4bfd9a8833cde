"""Reads the progress topic to its committed end."""

import time as clock
from collections.abc import Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from connectors.errors import BrokerFault, SinkDiverged
from connectors.sinks.kafka.logs import SILENT
from connectors.sinks.kafka.progress import REMEDY, Progress, decode, is_key

# Offsets before the end among which the last full record is, and all that follow it, unless most
# batches were aborted: each takes one, and one for the transaction's marker.
_TAIL = 512
_CALL_SECONDS = 5.0
_READ_SECONDS = 30.0


def last_progress(
    options: Mapping[str, Any], topic: str, key: str, end: int = 0
) -> Progress | None:
    """The last committed record of a connection, if any; waits until `end` is decided.

    As long as a transaction is open, or its marker is not written yet, nothing after its first
    record is read.
    Raises SinkDiverged for a record that is none of ours or does not follow the one before it,
    BrokerFault or KafkaException when the broker does not answer.
    """
    consumer = Consumer(
        {
            **options,
            "group.id": topic,
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 10,  # what is asked for is there, or soon will be
            "auto.offset.reset": "error",
        },
        logger=SILENT,
    )
    try:
        place = TopicPartition(topic, 0)
        low, high = consumer.get_watermark_offsets(place, timeout=_CALL_SECONDS)
        found = _last(consumer, place, max(low, high - _TAIL), key, end)
        if (found is None or not found.is_whole) and high - _TAIL > low:
            found = _last(consumer, place, low, key, end)
    finally:
        consumer.close()
    if found is not None and not found.is_whole:
        raise SinkDiverged(
            f"topic {topic!r}: records of progress are missing before batch {found.batch}; {REMEDY}"
        )
    return found


def _last(
    consumer: Consumer, place: TopicPartition, first: int, key: str, end: int
) -> Progress | None:
    consumer.assign([TopicPartition(place.topic, place.partition, first)])
    deadline = clock.monotonic() + _READ_SECONDS
    found: Progress | None = None
    stopped = first
    while clock.monotonic() < deadline:
        message = consumer.poll(0.5)
        if message is None:
            continue
        error = message.error()
        if error is None:
            found = _next(found, message, key)
        elif error.code() == KafkaError._PARTITION_EOF:
            stopped = message.offset() or 0
            if stopped >= end:
                return found
        elif not error.retriable() and error.code() != KafkaError._TRANSPORT:
            raise KafkaException(error)
    raise BrokerFault(
        f"topic {place.topic!r} was read to offset {stopped}, not to its end, {end}, in "
        f"{_READ_SECONDS:g} s. If a transaction without a producer stays open there, as one that a "
        "killed broker left may, end it: kafka-transactions.sh abort --topic "
        f"{place.topic} --partition {place.partition} --start-offset {stopped}"
    )


def _next(found: Progress | None, message: Message, key: str) -> Progress | None:
    """The record of `message` after `found`, if it is one of this connection."""
    if not is_key(message.key(), key):
        return found
    where = f"topic {message.topic()!r}, partition 0, offset {message.offset()}"
    return decode(message.value(), where, found)
