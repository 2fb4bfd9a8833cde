"""The catalog: tables and views by name, and the dependencies between them.

Held in memory and serialisable; its owner makes it durable. A view is listed after everything it
reads, so installing the views in order always finds their inputs.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import pyarrow as pa

from views.errors import BadDefinition, NameTaken, StillUsed, UnknownName, suggestion
from views.types import parse_type, type_name

Language: TypeAlias = Literal["sql", "datalog"]
LANGUAGES: tuple[str, ...] = get_args(Language)


@dataclass(frozen=True, slots=True)
class Table:
    """A source's rows as views see them; `key` is the primary key, empty where rows repeat.

    `seen`: a view from before columns were added names the first so many only (None: all).
    """

    name: str
    schema: pa.Schema
    key: tuple[str, ...]
    seen: int | None = None

    @property
    def unique(self) -> tuple[str, ...]:
        """Columns of which no two rows share the values, or none."""
        return self.key


@dataclass(frozen=True, slots=True)
class View:
    """A view as declared and compiled; `key` names the columns it is looked up by.

    `dependencies` are the tables and views that it reads directly, sorted. Without `lookups` only
    its changes are kept: it has no look-ups, and no view reads it. `is_unique` says that no two
    rows agree in `key`. `sees` has the number of columns of each table that has got more since.
    """

    name: str
    query: str
    language: str
    schema: pa.Schema
    key: tuple[str, ...]
    dependencies: tuple[str, ...]
    lookups: bool = True
    is_unique: bool = False
    sees: tuple[tuple[str, int], ...] = ()

    @property
    def seen(self) -> int | None:
        """The number of columns that its readers see: all."""
        return None

    @property
    def unique(self) -> tuple[str, ...]:
        """Columns of which no two rows share the values, or none."""
        return self.key if self.is_unique else ()


class Catalog:
    """Holds tables and views by name; both share one namespace. Names are case-sensitive."""

    def __init__(self, tables: Iterable[Table] = (), views: Iterable[View] = ()) -> None:
        self._entries: dict[str, Table | View] = {}
        for table in tables:
            self.add_table(table)
        for view in views:
            self.add_view(view)

    @property
    def tables(self) -> tuple[Table, ...]:
        """Tables in the order they were added."""
        return tuple(e for e in self._entries.values() if isinstance(e, Table))

    @property
    def views(self) -> tuple[View, ...]:
        """Views, each after those it reads."""
        return tuple(e for e in self._entries.values() if isinstance(e, View))

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def get(self, name: str) -> Table | View | None:
        """Finds the table or view `name`; None if there is none."""
        return self._entries.get(name)

    def __getitem__(self, name: str) -> Table | View:
        """Finds the table or view `name` (raises UnknownName, with near names)."""
        entry = self._entries.get(name)
        if entry is None:
            raise UnknownName(f"no table or view {name!r}{suggestion(name, self._entries)}")
        return entry

    def add_table(self, table: Table) -> None:
        """Declares a table (raises NameTaken, BadDefinition)."""
        self._check_new(table)
        self._entries[table.name] = table

    def add_view(self, view: View) -> None:
        """Declares a view over other entries (raises NameTaken, UnknownName, BadDefinition)."""
        self._check_new(view)
        if view.language not in LANGUAGES:
            raise BadDefinition(f"unknown language {view.language!r}; known: {LANGUAGES}")
        for name in view.dependencies:
            self[name]
        self._entries[view.name] = view

    def widen(self, table: Table) -> None:
        """Replaces a table by one that may have more columns, which no view of now sees.

        Raises UnknownName.
        """
        before = len(self[table.name].schema)
        self._entries[table.name] = table
        if len(table.schema) == before:
            return
        for view in self.views:
            if table.name in view.dependencies and table.name not in dict(view.sees):
                sees = (*view.sees, (table.name, before))
                self._entries[view.name] = replace(view, sees=sees)

    def seen_by(self, view: View) -> "Catalog":
        """Gives the catalog as it is for a view's text: without the columns added since."""
        sees = dict(view.sees)
        tables = [replace(table, seen=sees.get(table.name)) for table in self.tables]
        return Catalog(tables, self.views)

    def readers(self, name: str) -> tuple[View, ...]:
        """Lists the views that read `name`, themselves or through others, in their order."""
        found = {name}
        for view in self.views:
            if not found.isdisjoint(view.dependencies):
                found.add(view.name)
        return tuple(view for view in self.views if view.name in found)

    def drop(self, name: str) -> Table | View:
        """Removes an entry that no view reads (raises UnknownName, StillUsed)."""
        entry = self[name]
        if dependents := self.dependents(name):
            raise StillUsed(f"{name!r} is read by {', '.join(dependents)}; drop those first")
        del self._entries[name]
        return entry

    def dependents(self, name: str) -> tuple[str, ...]:
        """Lists the views that read `name` directly."""
        return tuple(view.name for view in self.views if name in view.dependencies)

    def tables_under(self, name: str) -> frozenset[str]:
        """Lists the tables that a view reads, itself or through others (raises UnknownName)."""
        entry = self[name]
        if isinstance(entry, Table):
            return frozenset((name,))
        return frozenset().union(*map(self.tables_under, entry.dependencies))

    def to_json(self) -> dict[str, Any]:
        """Writes a JSON-serialisable document; `from_json` is the inverse."""
        return {
            "tables": [
                {"name": t.name, "columns": schema_to_json(t.schema), "key": list(t.key)}
                for t in self.tables
            ],
            "views": [
                {
                    "name": v.name,
                    "query": v.query,
                    "language": v.language,
                    "columns": schema_to_json(v.schema),
                    "key": list(v.key),
                    "dependencies": list(v.dependencies),
                    "lookups": v.lookups,
                    "is_unique": v.is_unique,
                    "sees": dict(v.sees),
                }
                for v in self.views
            ],
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Catalog":
        """Reads the catalog that `to_json` wrote (raises BadDefinition)."""
        try:
            tables = [
                Table(t["name"], schema_from_json(t["columns"]), tuple(t["key"]))
                for t in document["tables"]
            ]
            views = [
                View(
                    v["name"],
                    v["query"],
                    v["language"],
                    schema_from_json(v["columns"]),
                    tuple(v["key"]),
                    tuple(v["dependencies"]),
                    v.get("lookups", True),
                    v.get("is_unique", False),
                    tuple(v.get("sees", {}).items()),
                )
                for v in document["views"]
            ]
        except (KeyError, TypeError) as error:
            raise BadDefinition(f"not a stored catalog: {error!r}") from error
        return cls(tables, views)

    def _check_new(self, entry: Table | View) -> None:
        if not entry.name:
            raise BadDefinition("a table or view needs a name")
        if entry.name in self._entries:
            raise NameTaken(f"a table or view {entry.name!r} exists already")
        for field in entry.schema:
            type_name(field.type)
        names = entry.schema.names
        if len(set(names)) != len(names):
            raise BadDefinition(f"{entry.name!r} has two columns of one name")
        for column in entry.key:
            if column not in names:
                raise BadDefinition(f"key column {column!r} is not a column of {entry.name!r}")


def schema_to_json(schema: pa.Schema) -> list[dict[str, Any]]:
    """Lists columns with their SQL type names, in order."""
    return [
        {"name": field.name, "type": type_name(field.type), "nullable": field.nullable}
        for field in schema
    ]


def schema_from_json(columns: Iterable[Mapping[str, Any]]) -> pa.Schema:
    """Inverts `schema_to_json`; `nullable` defaults to true (raises BadDefinition)."""
    return pa.schema(
        [pa.field(c["name"], parse_type(c["type"]), c.get("nullable", True)) for c in columns]
    )
