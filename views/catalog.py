"""The catalog: tables and views by name, and the dependencies between them.

Held in memory and serialisable; its owner makes it durable. A view is listed after everything it
reads, so installing the views in order always finds their inputs.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    """Holds tables and views by name; both share one namespace. Names are case-sensitive.

    Its `version` is another one after each change.
    """

    def __init__(self, tables: Iterable[Table] = (), views: Iterable[View] = ()) -> None:
        self._entries: dict[str, Table | View] = {}
        self.version = 0
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
        self._set(table.name, table)

    def add_view(self, view: View) -> None:
        """Declares a view over other entries (raises NameTaken, UnknownName, BadDefinition)."""
        self._check_new(view)
        if view.language not in LANGUAGES:
            raise BadDefinition(f"unknown language {view.language!r}; known: {LANGUAGES}")
        for name in view.dependencies:
            self[name]
        self._set(view.name, view)

    def alter(self, table: Table) -> None:
        """Replaces a table by one with other columns, the new ones last, which no view of now sees.

        Raises UnknownName.
        """
        before = self[table.name].schema.names
        self._set(table.name, table)
        for view in self.views:
            if table.name in view.dependencies:
                sees = dict(view.sees)
                seen = before[: sees.pop(table.name, len(before))]
                kept = sum(name in table.schema.names for name in seen)
                if kept < len(table.schema):
                    sees[table.name] = kept
                self._set(view.name, replace(view, sees=tuple(sees.items())))

    def retype(self, name: str, schema: pa.Schema) -> None:
        """Gives a view the columns that it has over altered tables."""
        view = self[name]
        assert isinstance(view, View)
        self._set(name, replace(view, schema=schema))

    def redefine(self, views: Sequence[View]) -> None:
        """Gives views that are there other definitions: one, and all that read it, in their order.

        Raises UnknownName.
        """
        for view in views:
            self[view.name]
        for view in views:
            self._remove(view.name)
        for view in views:
            self._set(view.name, view)

    def rename_view(self, name: str, to: str) -> None:
        """Gives a view that no other reads another name; it is listed last (raises UnknownName)."""
        view = self[name]
        assert isinstance(view, View)
        self._remove(name)
        self._set(to, replace(view, name=to))

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
        self._remove(name)
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
            "views": [view_to_json(view) for view in self.views],
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Catalog":
        """Reads the catalog that `to_json` wrote (raises BadDefinition)."""
        try:
            tables = [
                Table(t["name"], schema_from_json(t["columns"]), tuple(t["key"]))
                for t in document["tables"]
            ]
            views = [view_from_json(v) for v in document["views"]]
        except (KeyError, TypeError) as error:
            raise BadDefinition(f"not a stored catalog: {error!r}") from error
        return cls(tables, views)

    def _set(self, name: str, entry: Table | View) -> None:
        self._entries[name] = entry
        self.version += 1

    def _remove(self, name: str) -> None:
        del self._entries[name]
        self.version += 1

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


def view_to_json(view: View) -> dict[str, Any]:
    """Writes a view as a JSON object; `view_from_json` is the inverse."""
    return {
        "name": view.name,
        "query": view.query,
        "language": view.language,
        "columns": schema_to_json(view.schema),
        "key": list(view.key),
        "dependencies": list(view.dependencies),
        "lookups": view.lookups,
        "is_unique": view.is_unique,
        "sees": dict(view.sees),
    }


def view_from_json(value: Mapping[str, Any]) -> View:
    """Reads the view that `view_to_json` wrote."""
    return View(
        value["name"],
        value["query"],
        value["language"],
        schema_from_json(value["columns"]),
        tuple(value["key"]),
        tuple(value["dependencies"]),
        value.get("lookups", True),
        value.get("is_unique", False),
        tuple(value.get("sees", {}).items()),
    )


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
