"""Fetches ranges of many partitions together, through one client that stays connected.

A range is read whole or not at all: its end was that of committed records when it was planned, so a
topic that ends before it is one that has lost records, or whose leader has yet to learn of them.
"""

import time as clock
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from confluent_kafka import KafkaError, KafkaException, Message, TopicPartition

from connectors.connections import Connection
from connectors.kafka.consumers import consumer_of, passes, records, runs, unreadable
from connectors.records import Records
from connectors.source import BLOCK

# How long brokers may be silent, in seconds; and how long one look waits.
_SECONDS = 10.0
_LOOK = 0.1
# So much is fetched ahead: what is fetched beyond the end of a range is fetched again.
_AHEAD = {"queued.min.messages": 20_000, "fetch.queue.backoff.ms": 2, "log_level": 2}


@dataclass(frozen=True, slots=True)
class OffsetRange:
    """The offsets `[first, end)` of a partition; there may be no record at some of them."""

    topic: str
    partition: int
    first: int
    end: int


@dataclass(slots=True)
class _Part:
    """A range while it is read: the messages that wait to be records."""

    range: OffsetRange
    waiting: list[Message] = field(default_factory=list)
    is_whole: bool = False

    def add(self, messages: Sequence[Message]) -> None:
        """Take messages in the order of offsets; what lies beyond the range shows its end."""
        end = self.range.end
        if _offset(messages[-1]) >= end - 1:
            self.is_whole = True
            messages = messages[: bisect_left(messages, end, key=_offset)]
        self.waiting += messages


class Fetcher:
    """A client of one cluster; for one thread. After an error it can only be closed."""

    def __init__(self, connection: Connection) -> None:
        """Nothing is asked of the brokers yet."""
        self._connection = connection
        self._consumer = consumer_of(connection, **_AHEAD)

    def read(self, ranges: Sequence[OffsetRange]) -> Iterator[tuple[str, Records]]:
        """The records of `ranges`, of different partitions, with their topics.

        Those of a partition come in the order of offsets, about `BLOCK` at a time. Raises
        BrokerFault, also where a topic does not hold the first of a range any more: whose records
        they were is found out where reading begins again (`Clusters.feeds`).
        """
        parts = {(r.topic, r.partition): _Part(r) for r in ranges}
        self._consumer.assign([TopicPartition(r.topic, r.partition, r.first) for r in ranges])
        heard = clock.monotonic()
        while parts:
            messages = self._messages()
            for place, run in runs(messages):
                if (part := parts.get(place)) is not None:
                    part.add(run)
                    heard = clock.monotonic()
            for message in filter(Message.error, messages):
                self._take_error(message, parts)
            for place, part in [*parts.items()]:
                if part.waiting and (part.is_whole or len(part.waiting) >= BLOCK):
                    yield part.range.topic, records(part.waiting)
                    part.waiting = []
                    heard = clock.monotonic()
                if part.is_whole:
                    del parts[place]
            if parts and clock.monotonic() > heard + _SECONDS:
                missing = next(iter(parts.values())).range
                raise unreadable(
                    self._connection,
                    f"topic {missing.topic!r}, partition {missing.partition} could not be read up "
                    f"to offset {missing.end - 1} within {_SECONDS:g} s",
                )
        self._consumer.unassign()

    def close(self) -> None:
        """Leave the brokers."""
        self._consumer.close()

    def _messages(self) -> list[Message]:
        """What has come, once there is any: asked for many, the client would wait for all."""
        try:
            first = self._consumer.poll(_LOOK)
            return [] if first is None else [first, *self._consumer.consume(BLOCK, 0)]
        except KafkaException as error:
            raise unreadable(self._connection, error.args[0].str()) from error

    def _take_error(self, message: Message, parts: dict[tuple[str, int], _Part]) -> None:
        error = message.error()
        assert error is not None
        topic, partition = message.topic() or "", message.partition() or 0
        where = f"topic {topic!r}, partition {partition}"
        if error.code() == KafkaError._PARTITION_EOF:
            part = parts.get((topic, partition))
            if part is not None and _offset(message) >= part.range.end:
                part.is_whole = True
        elif not passes(error):
            raise unreadable(self._connection, f"{where}: {error.str()}")


def _offset(message: Message) -> int:
    offset = message.offset()
    assert offset is not None
    return offset
