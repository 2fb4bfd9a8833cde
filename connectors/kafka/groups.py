"""Consumer groups: tells the brokers how far sources are, for tools that watch the lag of groups.

Nothing is read from there: where a source goes on is the journal's to say. The group is called as
the service; where several of its sources read one topic, it stands where the one does that is most
behind. It has no members, so that no broker waits for any. A cluster that does not let us is told
of once in the log, and asked no more.
"""

import logging
from collections.abc import Iterable, Mapping

import structlog
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from connectors.connections import Connection
from connectors.kafka.gaps import Positions
from connectors.kafka.topics import REFUSALS, PartitionOffsets
from connectors.tables.spec import TableSpec

# What is wrong with a broker is told by those who need it.
_SILENT = logging.getLogger(f"{__name__}.client")
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False

log = structlog.get_logger()


class Groups:
    """The groups on the clusters of all connections; for one thread, which no broker holds up."""

    def __init__(self, connections: Mapping[str, Connection], group: str) -> None:
        """No broker is asked before the first offsets are told."""
        self._connections = connections
        self._name = group
        self._groups: dict[str, _Group] = {}

    def tell(self, specs: Iterable[TableSpec], positions: Positions) -> None:
        """Commit where each source goes on, as far as `positions`, by (source, partition), tell."""
        for name, offsets in _least(specs, positions).items():
            if name not in self._groups and name in self._connections:
                self._groups[name] = _Group(self._connections[name], self._name)
            if name in self._groups:
                self._groups[name].commit(offsets)

    def close(self) -> None:
        """Let go of the brokers."""
        for group in self._groups.values():
            group.close()


class _Group:
    """The group on one cluster; it hears of the answer to a commit at the next one."""

    def __init__(self, connection: Connection, group: str) -> None:
        self._connection = connection.name
        self._told: PartitionOffsets = {}
        self._is_refused = False
        options = {
            **connection.librdkafka(),
            "group.id": group,
            "enable.auto.commit": False,
            "on_commit": self._on_commit,
            "reconnect.backoff.max.ms": 10_000,
        }
        self._consumer = Consumer(options, logger=_SILENT)

    def commit(self, offsets: PartitionOffsets) -> None:
        told = self._consumer.poll(0)
        if told is not None and (error := told.error()) is not None:
            self._fail(error)
        if self._is_refused or offsets == self._told:
            return
        self._told = offsets
        wanted = [TopicPartition(*place, offset) for place, offset in offsets.items()]
        try:
            self._consumer.commit(offsets=wanted, asynchronous=True)
        except KafkaException as error:
            self._fail(error.args[0])

    def close(self) -> None:
        self._consumer.close()

    def _on_commit(self, error: KafkaError | None, partitions: list[TopicPartition]) -> None:
        for fault in (error, *(partition.error for partition in partitions)):
            if fault is not None:
                self._fail(fault)

    def _fail(self, error: KafkaError) -> None:
        """Commit again next time, unless we may not."""
        self._told = {}
        if error.code() in REFUSALS and not self._is_refused:
            self._is_refused = True
            log.warning("offsets are not told", connection=self._connection, reason=error.str())


def _least(specs: Iterable[TableSpec], positions: Positions) -> Mapping[str, PartitionOffsets]:
    """By connection, the least position of any source in each partition."""
    found: dict[str, PartitionOffsets] = {}
    topics = {spec.name: spec for spec in specs}
    for (source, partition), offset in positions.items():
        if (spec := topics.get(source)) is not None and spec.connection is not None:
            of_connection = found.setdefault(spec.connection, {})
            place = spec.topic, partition
            of_connection[place] = min(offset, of_connection.get(place, offset))
    return found
