"""The streams of a pipeline's tables by their keys, which tell the lives of a name apart.

A key is `name@epoch`, with a `+` for each time that the table got columns: what a query still
brings of a table as it was has a key that nothing has any more.
"""

from collections.abc import Iterable, Mapping

from connectors.errors import UnknownTable
from connectors.progress.journal import Journal
from connectors.progress.resolution import are_markers, with_markers
from connectors.streams import table_of
from connectors.tables.spec import TableSpec


class KeyedTables:
    """The tables that are read; what changes them excludes one another, looking needs no lock.

    `by_key` has the streams; `patterns`, by name, the tables of topic patterns, whose streams come
    and stay. A table of one topic is its stream.
    """

    def __init__(self, journal: Journal) -> None:
        self.by_key: Mapping[str, TableSpec] = {}
        self.patterns: Mapping[str, TableSpec] = {}
        self._journal = journal
        self._altered: dict[str, str] = {}  # keys of tables that got columns, by name

    def key(self, name: str) -> str:
        """The present key of a stream, whether it is read or not."""
        key = f"{name}@{self._journal.epoch(name)}"
        altered = self._altered.get(name, key)
        return altered if altered.rstrip("+") == key else key

    def named(self, name: str) -> TableSpec | None:
        """The stream of this name, if it is read."""
        return self.by_key.get(self.key(name))

    def get(self, name: str) -> TableSpec:
        """The table of this name (raises UnknownTable)."""
        spec = self.patterns.get(name) or self.named(name)
        if spec is None:
            raise UnknownTable(f"table {name!r} is not read")
        return spec

    def streams(self, table: str) -> list[str]:
        """The names of a table's streams."""
        return [spec.name for spec in self.by_key.values() if table_of(spec.name) == table]

    def remote(self) -> dict[str, TableSpec]:
        """Those that are read from Kafka."""
        return {key: spec for key, spec in self.by_key.items() if spec.is_remote}

    def add(self, specs: Iterable[TableSpec]) -> dict[str, TableSpec]:
        """Read these tables, and the boundaries of their transactions; the streams that are new.

        Of a topic pattern they are those that have begun, as the journal has them.
        """
        declared = list(specs)
        patterns = {spec.name: spec for spec in declared if spec.topic_pattern is not None}
        self.patterns = {**self.patterns, **patterns}
        begun = [
            patterns[table_of(stream)].stream(topic)
            for stream, topic in self._journal.tables.items()
            if topic and table_of(stream) in patterns
        ]
        return self.follow([*with_markers(s for s in declared if s.name not in patterns), *begun])

    def follow(self, streams: Iterable[TableSpec]) -> dict[str, TableSpec]:
        """Read these streams, too; those that are new, by their keys."""
        known = {spec.name for spec in self.by_key.values()}
        new = {self.key(s.name): s for s in streams if s.name not in known}
        self.by_key = {**self.by_key, **new}
        return new

    def without(self, table: str) -> list[str]:
        """The tables that go with a table: itself, and boundaries that nobody else needs."""
        rest = [s for s in self.by_key.values() if table_of(s.name) != table and not are_markers(s)]
        kept = {spec.name for spec in with_markers(rest)}
        gone = (spec.name for spec in self.by_key.values() if spec.name not in kept)
        return list(dict.fromkeys([table, *map(table_of, gone)]))

    def remove(self, table: str) -> None:
        """Read a table no more."""
        self.by_key = {k: s for k, s in self.by_key.items() if table_of(s.name) != table}
        self.patterns = {name: spec for name, spec in self.patterns.items() if name != table}

    def replace(self, spec: TableSpec) -> dict[str, TableSpec]:
        """Read a table as `spec` says from now on; its streams by their keys."""
        streams = {self.key(stream.name): stream for stream in self.streams_of(spec)}
        self._declare(spec)
        self.by_key = {**self.by_key, **streams}
        return streams

    def alter(self, spec: TableSpec) -> dict[str, TableSpec]:
        """Read a table as `spec` says, which has other columns; its streams by their next keys."""
        streams = self.streams_of(spec)
        old = {self.key(stream.name) for stream in streams}
        self._altered |= {stream.name: f"{self.key(stream.name)}+" for stream in streams}
        new = {self._altered[stream.name]: stream for stream in streams}
        self._declare(spec)
        self.by_key = {**{k: s for k, s in self.by_key.items() if k not in old}, **new}
        return new

    def streams_of(self, spec: TableSpec) -> list[TableSpec]:
        """The streams that a table has, as they would be if it were declared as `spec`."""
        read = (one for one in self.by_key.values() if table_of(one.name) == spec.name)
        return [spec.stream(one.topic) for one in read]

    def _declare(self, spec: TableSpec) -> None:
        if spec.topic_pattern is not None:
            self.patterns = {**self.patterns, spec.name: spec}
