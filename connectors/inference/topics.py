"""Topics as inference reads them: the first records, the schemas, and how records are kept."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any, Protocol

from connectors.connections import Connection
from connectors.errors import InvalidTable, UnknownConnection
from connectors.files.reader import TopicReader
from connectors.formats.schema_registry import Registry, config_of, registry
from connectors.kafka.rereading import Rereader
from connectors.kafka.topics import Cluster
from connectors.records import Headers, Records
from connectors.tables.patterns import matching
from connectors.tables.validate import TOPIC_NAME

# So many bytes of values are looked at, and no more records behind them.
MOST_BYTES = 64 << 20

# A record's value, key and headers.
_Record = tuple[bytes | None, bytes | None, Headers | None]


class Topic(Protocol):
    """A topic of which nothing is declared yet."""

    @property
    def place(self) -> str:
        """The topic in words, for messages."""

    @property
    def name(self) -> str:
        """The topic's name."""

    @property
    def schemas(self) -> Registry | None:
        """The registry of its connection."""

    @property
    def has_keys(self) -> bool:
        """Whether its records can have keys."""

    @property
    def is_compacted(self) -> bool:
        """Whether it keeps the latest record of each key (raises BrokerFault)."""

    def first(self, limit: int) -> Records:
        """At most so many records, the first of each partition, and about `MOST_BYTES`.

        Their offsets count them. Raises BrokerFault, RecordsLost.
        """


def topic_of(
    name: str, connection: str | None, root: Path, connections: Mapping[str, Connection]
) -> Topic:
    """The topic on a connection, or else among the file topics.

    Raises UnknownConnection, and InvalidTable for a name that no topic can have.
    """
    if not TOPIC_NAME.fullmatch(name):
        raise InvalidTable(f"topic {name!r}: not a usable name")
    if connection is None:
        return FileTopic(root, name)
    return KafkaTopic(_of(connections, connection, f"topic {name!r}"), name)


def first_topic_of(
    pattern: str, connection: str | None, connections: Mapping[str, Connection]
) -> Topic:
    """The first topic by its name that a pattern matches on a connection.

    Raises UnknownConnection, BrokerFault, and InvalidTable where there is none, or no pattern.
    """
    what = f"topic_pattern {pattern!r}"
    if connection is None:
        raise InvalidTable(f"{what}: topics are matched on a connection; name one")
    found = _of(connections, connection, what)
    try:
        topics = matching(pattern, Cluster(found).names())
    except ValueError as error:
        raise InvalidTable(f"{what} is no regular expression of RE2: {error}") from error
    if not topics:
        raise InvalidTable(
            f"{what}: connection {connection!r} has no topic that it matches, which could say the "
            "columns; declare `columns`, or create the topic"
        )
    return KafkaTopic(found, topics[0])


def _of(connections: Mapping[str, Connection], name: str, what: str) -> Connection:
    if name not in connections:
        raise UnknownConnection(
            f"{what}: connection: the settings have no connection {name!r}; there are "
            f"{sorted(connections)}"
        )
    return connections[name]


@dataclass(frozen=True)
class FileTopic:
    """A file topic."""

    root: Path
    name: str
    schemas: Registry | None = None
    has_keys: bool = False
    is_compacted: bool = False

    @property
    def place(self) -> str:
        """The topic in words."""
        return f"file topic {self.name!r}"

    def first(self, limit: int) -> Records:
        """At most so many records, of all partitions."""
        reader = TopicReader(self.root, self.name)
        partitions = reader.ends()
        share, most = _shares(limit, len(partitions))
        lines = (
            line
            for partition in partitions
            for line in reader.read(partition, reader.first(partition), share, most)
        )
        return _records((line, None, None) for line in islice(lines, limit))


@dataclass(frozen=True)
class KafkaTopic:
    """A topic of a cluster."""

    connection: Connection
    name: str
    has_keys: bool = True

    @property
    def place(self) -> str:
        """The topic and its connection in words."""
        return f"topic {self.name!r} on connection {self.connection.name!r}"

    @cached_property
    def schemas(self) -> Registry | None:
        """The registry of its connection."""
        config = config_of(self.connection)
        return registry(config) if config is not None else None

    @cached_property
    def is_compacted(self) -> bool:
        """Whether it keeps the latest record of each key (raises BrokerFault)."""
        return self._cluster.is_compacted(self.name)

    def first(self, limit: int) -> Records:
        """At most so many records (raises UnknownTopic, BrokerFault, RecordsLost)."""
        topic = self._cluster.topics([self.name], readable=True)[self.name]
        partitions = [(self.name, partition) for partition in topic.partitions]
        firsts, ends = self._cluster.firsts(partitions), self._cluster.ends(partitions)
        filled = [place for place in partitions if firsts[place] < ends[place]]
        share, most = _shares(limit, len(filled))
        reread = Rereader(self.connection)
        found: list[_Record] = []
        for place in filled:
            records = chain.from_iterable(map(_each, reread(*place, firsts[place], ends[place])))
            found += _first_bytes(islice(records, share), most)
        return _records(found[:limit])

    @cached_property
    def _cluster(self) -> Cluster:
        return Cluster(self.connection)


def _shares(limit: int, partitions: int) -> tuple[int, int]:
    """How many records, and bytes, each partition gives."""
    return -(-limit // max(partitions, 1)), MOST_BYTES // max(partitions, 1)


def _first_bytes(records: Iterable[_Record], most: int) -> Iterator[_Record]:
    """The first of these records, up to the one with which they have `most` bytes."""
    size = 0
    for record in records:
        yield record
        size += len(record[0] or b"")
        if size >= most:
            return


def _each(records: Records) -> Iterable[_Record]:
    nothing: list[Any] = [None] * len(records)
    return zip(records.values, records.keys or nothing, records.headers or nothing, strict=True)


def _records(found: Iterable[_Record]) -> Records:
    listed = list(found)
    values, keys, headers = zip(*listed, strict=True) if listed else ((), (), ())
    has_headers = any(one is not None for one in headers)
    return Records(values, range(len(listed)), keys=keys, headers=headers if has_headers else None)
