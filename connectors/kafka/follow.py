"""Follows partitions: reads what is committed as it comes, through one client."""

from collections.abc import Mapping

from confluent_kafka import KafkaException, Message, TopicPartition

from connectors.connections import Connection
from connectors.kafka.consumers import consumer_of, passes, records, runs, unreadable
from connectors.records import Records
from connectors.source import BLOCK

# A broker answers as soon as there is anything, or after so many milliseconds.
_CLIENT = {
    "fetch.wait.max.ms": 500,
    "enable.partition.eof": False,
    "queued.min.messages": 20_000,
    "fetch.queue.backoff.ms": 2,
    "log_level": 2,
}


class Follower:
    """A client of one cluster that is never at an end; for one thread.

    `positions` are those after the last records that were read, by topic and partition.

    Brokers that are away are waited for: whoever asks them for the ends of topics tells of them.
    """

    def __init__(self, connection: Connection) -> None:
        """Nothing is asked of the brokers yet."""
        self._connection = connection
        self._consumer = consumer_of(connection, **_CLIENT)
        self.positions: dict[tuple[str, int], int] = {}

    def begin(self, starts: Mapping[tuple[str, int], int]) -> None:
        """Follow partitions from `starts` on, by topic and partition, and no others."""
        self.positions = dict(starts)
        self._consumer.assign([TopicPartition(t, p, at) for (t, p), at in starts.items()])

    def rest(self) -> None:
        """Follow nothing for now; the connections stay."""
        self._consumer.unassign()

    def read(self, seconds: float) -> list[tuple[str, Records]]:
        """What has come of each partition, with its topic; about `BLOCK` records of all at most.

        Nothing where nothing comes within so many seconds. Raises BrokerFault, also where a topic
        does not hold the next record any more.
        """
        messages = self._messages(seconds)
        found: dict[tuple[str, int], list[Message]] = {}
        for place, run in runs(messages):
            found.setdefault(place, []).extend(run)
        came = []
        for (topic, partition), each in found.items():
            block = records(each)
            came.append((topic, block))
            self.positions[topic, partition] = block.offsets[-1] + 1
        return came

    def close(self) -> None:
        """Leave the brokers."""
        self._consumer.close()

    def _messages(self, seconds: float) -> list[Message]:
        try:
            first = self._consumer.poll(seconds)
            messages = [] if first is None else [first, *self._consumer.consume(BLOCK, 0)]
        except KafkaException as error:
            raise unreadable(self._connection, error.args[0].str()) from error
        for message in messages:
            fault = message.error()
            if fault is not None and not passes(fault):
                where = f"topic {message.topic()!r}, partition {message.partition()}"
                raise unreadable(self._connection, f"{where}: {fault.str()}")
        return messages
