"""Reads committed records of a topic again, by their offsets."""

import time as clock
from collections.abc import Generator, Iterator

from confluent_kafka import KafkaError, Message, TopicPartition

from connectors.connections import Connection
from connectors.errors import RecordsLost
from connectors.kafka.consumers import consumer_of, passes, records, unreadable
from connectors.records import Records
from connectors.source import BLOCK, batches

# How long brokers may be silent.
_SECONDS = 10.0
# How many offsets before the end are looked at first for a record, since most topics end with one.
_TAIL = 16


class Rereader:
    """One cluster's topics; an instance may be used by several threads."""

    def __init__(self, connection: Connection) -> None:
        """Nothing is asked of the brokers yet."""
        self._connection = connection

    def open(self, topic: str, partition: int, first: int, end: int) -> "KafkaSource":
        """The committed records `[first, end)` that there are."""
        return KafkaSource(self._connection, topic, partition, first, end)

    def __call__(self, topic: str, partition: int, first: int, end: int) -> Iterator[Records]:
        """The same, some at a time.

        Raises RecordsLost where the topic begins after `first`, and BrokerFault.
        """
        return batches(self.open, topic, partition, first, end)


class KafkaSource:
    """Committed records of a partition of a topic; see `connectors.source.Source`."""

    def __init__(
        self, connection: Connection, topic: str, partition: int, first: int, end: int
    ) -> None:
        """Nothing is asked of the brokers yet."""
        self.position = first
        self._connection = connection
        self._where = f"topic {topic!r}, partition {partition}"
        self._end = end
        self._consumer = consumer_of(connection)
        self._consumer.assign([TopicPartition(topic, partition, first)])
        self._batches = self._read()

    def next_batch(self) -> Records | None:
        """The next records; None after the last ones (raises RecordsLost, BrokerFault)."""
        found = next(self._batches, None)
        if found is not None:
            self.position = found.offsets[-1] + 1
        return found

    def close(self) -> None:
        """Leave the brokers."""
        self._batches.close()
        self._consumer.close()

    def _read(self) -> Generator[Records, None, None]:
        where, end = self._where, self._end
        heard = clock.monotonic()
        while clock.monotonic() < heard + _SECONDS:
            messages = self._consumer.consume(BLOCK, timeout=0.05)
            found = [m for m in messages if m.error() is None and _offset(m) < end]
            if found:
                heard = clock.monotonic()
                yield records(found)
            for message in messages:
                error = message.error()
                if error is None:
                    if _offset(message) >= end - 1:
                        return
                elif error.code() == KafkaError._PARTITION_EOF:
                    return
                elif error.code() == KafkaError._AUTO_OFFSET_RESET:
                    raise RecordsLost(f"{where}: {error.str()}")
                elif not passes(error):
                    raise unreadable(self._connection, f"{where}: {error.str()}")
        raise unreadable(self._connection, f"{where} could not be read within {_SECONDS:g} s")


def last_record(reread: Rereader, topic: str, partition: int, first: int, end: int) -> int:
    """The offset after the last record in `[first, end)`; `first` if there is none.

    The last offsets may have none: there are markers of transactions, and records of aborted ones.
    """
    looked = _TAIL
    while end > first:
        begin = max(first, end - looked)
        found = [some.offsets[-1] + 1 for some in reread(topic, partition, begin, end)]
        if found or begin == first:
            return max(found, default=first)
        looked *= _TAIL
    return first


def _offset(message: Message) -> int:
    offset = message.offset()
    assert offset is not None
    return offset
