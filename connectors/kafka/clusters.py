"""Clusters: finds the positions from which tables are read on, and checks that they are there.

A position is an offset of a topic *id*: a topic of the same name that was created anew holds other
records. Whatever would make a position mean something else, or pass over records, is told as a
kind of Stalled that names topic, partition and offsets.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from connectors.connections import Connection
from connectors.errors import (
    BrokerFault,
    InvalidTable,
    RecordsLost,
    Stalled,
    TopicRecreated,
    UnknownConnection,
)
from connectors.formats.format import FORMATS
from connectors.kafka.rereading import Rereader, last_record
from connectors.kafka.starts import resolve
from connectors.kafka.topics import Cluster, PartitionOffsets
from connectors.offsets import Ends, grouped
from connectors.progress.journal import Beginning
from connectors.tables.patterns import matching
from connectors.tables.spec import TableSpec
from ivm.errors import IvmError

# Why tables cannot be read, by their names.
Faults = dict[str, IvmError]
Found = TypeVar("Found")

_ANEW = "delete and declare the source again to read the topic as it is now"


@dataclass(frozen=True, slots=True)
class Feed:
    """The topics to read through one connection, and the offsets to begin at.

    `tables`: those that each topic feeds, by their keys. `starts` names every partition of each.
    """

    connection: Connection
    tables: Mapping[str, Mapping[str, TableSpec]]
    starts: Mapping[str, Mapping[int, int]]


def starts_of(feed: Feed) -> PartitionOffsets:
    """The offsets at which a feed begins, by topic and partition."""
    return {(t, p): first for t, ps in feed.starts.items() for p, first in ps.items()}


class Clusters:
    """The clusters of the operator's connections, by name; safe to call from several threads."""

    def __init__(self, connections: Mapping[str, Connection]) -> None:
        self._connections = dict(connections)
        self._clusters: dict[str, Cluster] = {}

    def preflight(self, spec: TableSpec) -> dict[str, Beginning]:
        """The beginnings of a new table's streams, by their names.

        Raises UnknownConnection, InvalidTable, and a BrokerFault if a topic cannot be read.
        """
        cluster = self._of(spec)
        needs_registry = FORMATS[spec.format].needs_registry
        if needs_registry and not self._connections[spec.connection or ""].registry():
            raise InvalidTable(
                f"table {spec.name!r}: format {spec.format!r} needs a schema registry; set "
                f"schema_registry_url of connection {spec.connection!r}"
            )
        found = {}
        for topic in self.topics(spec):
            stream = spec.stream(topic)
            cluster.check_readable(topic)
            found[stream.name] = resolve(cluster, stream)
        return found

    def topics(self, spec: TableSpec) -> list[str]:
        """The topics of a table: of a pattern, those that match now.

        Raises UnknownConnection, BrokerFault.
        """
        if spec.topic_pattern is None:
            return [spec.topic]
        return matching(spec.topic_pattern, self._of(spec).names())

    def held(self, stream: TableSpec, beginning: Beginning) -> Ends:
        """The offset after the last record of each partition that a stream begins with.

        Raises BrokerFault.
        """
        topic = beginning.topic
        ends = self._of(stream).ends((topic, partition) for partition in beginning.offsets)
        return {
            partition: self.last_record(stream, partition, begin, ends[topic, partition])
            for partition, begin in beginning.offsets.items()
        }

    def last_record(self, spec: TableSpec, partition: int, first: int, end: int) -> int:
        """The offset after the last record in `[first, end)` of a table's topic, or `first`.

        Raises BrokerFault, RecordsLost.
        """
        reread = Rereader(self._connections[spec.connection or ""])
        return last_record(reread, spec.topic, partition, first, end)

    def feeds(
        self,
        tables: Mapping[str, TableSpec],
        beginnings: Mapping[str, Beginning],
        positions: Mapping[tuple[str, int], int],
    ) -> tuple[list[Feed], Faults]:
        """The feeds that read `tables` from `positions`, by (table, partition), on.

        Partitions without a position begin at their first offset. Of tables that cannot be read the
        faults are told: kinds of BrokerFault, TopicRecreated, RecordsLost, UnknownConnection.
        """
        feeds: list[Feed] = []
        faults: Faults = {}
        for name, specs in _by_connection(tables.values()).items():

            def starts(specs: list[TableSpec]) -> dict[str, dict[int, int]]:
                return self._starts(specs, beginnings, positions)

            found, more = _of_those_that_can(specs, starts)
            faults |= more
            fed: dict[str, dict[str, TableSpec]] = {}
            for key, spec in tables.items():
                if spec.connection == name and spec.name not in more:
                    fed.setdefault(spec.topic, {})[key] = spec
            if found is not None:
                feeds.append(Feed(self._connections[name], fed, found))
        return feeds, faults

    def _starts(
        self,
        specs: Collection[TableSpec],
        beginnings: Mapping[str, Beginning],
        positions: Mapping[tuple[str, int], int],
    ) -> dict[str, dict[int, int]]:
        """The offsets at which to begin in each topic of tables of one connection."""
        cluster = self._of(next(iter(specs)))
        wanted = self._partitions(cluster, specs, beginnings, readable=True)
        firsts, ends = cluster.firsts(wanted), cluster.ends(wanted, committed=False)
        starts: dict[str, dict[int, int]] = {}
        of_topics = grouped(firsts)
        for spec in specs:
            start = starts.setdefault(spec.topic, {})
            begins = _begins(spec, positions, of_topics.get(spec.topic, {}), ends)
            for partition, begin in begins:
                start[partition] = min(begin, start.get(partition, begin))
        return starts

    def check(self, specs: Iterable[TableSpec], beginnings: Mapping[str, Beginning]) -> None:
        """Raise TopicRecreated unless the topics are those that the tables began with."""
        for some in _by_connection(specs).values():
            self._partitions(self._of(some[0]), some, beginnings)

    def ends(
        self, specs: Iterable[TableSpec], beginnings: Mapping[str, Beginning]
    ) -> tuple[PartitionOffsets, Faults]:
        """The offset after the last record that can be read, of every partition.

        Of tables that cannot be read the faults are told: kinds of BrokerFault, TopicRecreated,
        UnknownConnection.
        """
        ends: PartitionOffsets = {}
        faults: Faults = {}
        for some in _by_connection(specs).values():

            def ask(specs: list[TableSpec]) -> PartitionOffsets:
                cluster = self._of(specs[0])
                return cluster.ends(self._partitions(cluster, specs, beginnings, readable=True))

            found, more = _of_those_that_can(some, ask)
            ends |= found or {}
            faults |= more
        return ends, faults

    def _of(self, spec: TableSpec) -> Cluster:
        name = spec.connection or ""
        if name not in self._connections:
            raise UnknownConnection(
                f"table {spec.name!r}: connection: the settings have no connection {name!r}; there "
                f"are {sorted(self._connections)}"
            )
        if name not in self._clusters:
            self._clusters[name] = Cluster(self._connections[name])
        return self._clusters[name]

    def _partitions(
        self,
        cluster: Cluster,
        specs: Collection[TableSpec],
        beginnings: Mapping[str, Beginning],
        readable: bool = False,
    ) -> list[tuple[str, int]]:
        """All partitions of the topics of `specs`, which are those that reading began with."""
        topics = cluster.topics({spec.topic for spec in specs}, readable)
        for spec in specs:
            beginning = beginnings.get(spec.name)
            if beginning is not None and beginning.topic_id != topics[spec.topic].id:
                raise TopicRecreated(
                    f"topic {spec.topic!r} was deleted and created again: source {spec.name!r} "
                    f"began with the topic of id {beginning.topic_id}, now there is "
                    f"{topics[spec.topic].id}; {_ANEW}",
                    table=spec.name,
                )
        return [(topic.name, p) for topic in topics.values() for p in topic.partitions]


def _by_connection(specs: Iterable[TableSpec]) -> dict[str, list[TableSpec]]:
    found: dict[str, list[TableSpec]] = {}
    for spec in specs:
        if spec.connection is not None:
            found.setdefault(spec.connection, []).append(spec)
    return found


def is_of_topic(error: Exception) -> bool:
    """Whether a fault is one of a topic, and not of the cluster."""
    return isinstance(error, BrokerFault) and error.topic is not None


def _of_those_that_can(
    specs: list[TableSpec], ask: Callable[[list[TableSpec]], Found]
) -> tuple[Found | None, Faults]:
    """The answer about those of some tables that can be read, and the faults of the others."""
    faults: Faults = {}
    while specs:
        try:
            return ask(specs), faults
        except (BrokerFault, Stalled, UnknownConnection) as error:
            faults |= {spec.name: error for spec in specs if _is_about(error, spec)}
            specs = [spec for spec in specs if spec.name not in faults]
    return None, faults


def _is_about(error: IvmError, spec: TableSpec) -> bool:
    """Whether an error keeps a table of its connection from being read."""
    if isinstance(error, BrokerFault):
        return error.topic in (None, spec.topic)
    return not isinstance(error, Stalled) or error.table == spec.name


def _begins(
    spec: TableSpec,
    positions: Mapping[tuple[str, int], int],
    firsts: Ends,
    ends: PartitionOffsets,
) -> Iterator[tuple[int, int]]:
    """The offset to go on from in each partition of a table's topic (raises RecordsLost)."""
    topic = spec.topic
    for partition, first in firsts.items():
        position = positions.get((spec.name, partition), first)
        if not first <= position <= ends[topic, partition]:
            raise RecordsLost(
                f"topic {topic!r}, partition {partition}: it holds the offsets from {first} to "
                f"{ends[topic, partition] - 1}, but source {spec.name!r} is to go on at offset "
                f"{position}; {_ANEW}",
                table=spec.name,
            )
        yield partition, position
