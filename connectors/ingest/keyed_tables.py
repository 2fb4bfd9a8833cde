"""The tables of a pipeline by their keys, which tell the lives of a name apart.

A key is `name@epoch`, with a `+` for each time that the table got columns: what a query still
brings of a table as it was has a key that nothing has any more.
"""

from collections.abc import Iterable, Mapping

from connectors.errors import UnknownTable
from connectors.progress.journal import Journal
from connectors.progress.resolution import are_markers, with_markers
from connectors.tables.spec import TableSpec


class KeyedTables:
    """The tables that are read; what changes them excludes one another, looking needs no lock."""

    def __init__(self, journal: Journal) -> None:
        self.by_key: Mapping[str, TableSpec] = {}
        self._journal = journal
        self._altered: dict[str, str] = {}  # keys of tables that got columns, by name

    def key(self, name: str) -> str:
        """The present key of a table, whether it is read or not."""
        key = f"{name}@{self._journal.epoch(name)}"
        altered = self._altered.get(name, key)
        return altered if altered.rstrip("+") == key else key

    def named(self, name: str) -> TableSpec | None:
        """The table of this name, if it is read."""
        return self.by_key.get(self.key(name))

    def get(self, name: str) -> TableSpec:
        """The table of this name (raises UnknownTable)."""
        spec = self.named(name)
        if spec is None:
            raise UnknownTable(f"table {name!r} is not read")
        return spec

    def remote(self) -> dict[str, TableSpec]:
        """Those that are read from Kafka."""
        return {key: spec for key, spec in self.by_key.items() if spec.is_remote}

    def add(self, specs: Iterable[TableSpec]) -> dict[str, TableSpec]:
        """Read these tables, and the boundaries of their transactions; those that are new."""
        known = {spec.name for spec in self.by_key.values()}
        new = {self.key(s.name): s for s in with_markers(specs) if s.name not in known}
        self.by_key = {**self.by_key, **new}
        return new

    def without(self, name: str) -> list[str]:
        """The keys that go with a table: its own, and that of boundaries nobody else needs."""
        rest = [s for s in self.by_key.values() if s.name != name and not are_markers(s)]
        kept = {spec.name for spec in with_markers(rest)}
        return [key for key, spec in self.by_key.items() if spec.name not in kept]

    def remove(self, key: str) -> None:
        """Read the table with this key no more."""
        self.by_key = {k: spec for k, spec in self.by_key.items() if k != key}

    def replace(self, spec: TableSpec) -> str:
        """Read a table as `spec` says from now on; its key."""
        key = self.key(spec.name)
        self.by_key = {**self.by_key, key: spec}
        return key

    def alter(self, spec: TableSpec) -> None:
        """Read a table as `spec` says, which has more columns, under the next key."""
        old = self.key(spec.name)
        self._altered[spec.name] = f"{old}+"
        self.by_key = {**{k: s for k, s in self.by_key.items() if k != old}, f"{old}+": spec}
