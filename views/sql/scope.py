"""Which names mean which columns, from the innermost query outwards."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from views.catalog import Catalog
from views.plan.nodes import Attribute, Plan
from views.plan.trees import Numbers
from views.sql.source import Source


@dataclass(frozen=True, slots=True)
class Relation:
    """One item of a FROM clause: its alias and its columns by name."""

    alias: str
    columns: tuple[tuple[str, Attribute], ...]


@dataclass(frozen=True, slots=True)
class Named:
    """A WITH query as its references see it; `make` gives it anew with fresh columns."""

    make: Callable[[], tuple[Plan, tuple[tuple[str, Attribute], ...]]]


@dataclass(slots=True)
class Scope:
    """The relations of one FROM clause, and the scope of the query around it.

    `merged` are the columns of USING, which stand for one column of each side.
    """

    outer: "Scope | None" = None
    relations: list[Relation] = field(default_factory=list)
    merged: dict[str, Attribute] = field(default_factory=dict)

    def lookup(self, column: str, table: str | None) -> list[Attribute]:
        """The columns of this scope alone that the name may mean."""
        if table is None and column in self.merged:
            return [self.merged[column]]
        return [
            attribute
            for relation in self.relations
            if table is None or relation.alias == table
            for name, attribute in relation.columns
            if name == column
        ]

    def star(self, table: str | None = None) -> list[tuple[str, Attribute]]:
        """What `*` or `table.*` stands for, merged columns first."""
        if table is not None:
            return [c for r in self.relations if r.alias == table for c in r.columns]
        rest = [c for r in self.relations for c in r.columns if c[0] not in self.merged]
        return [*self.merged.items(), *rest]

    def names(self) -> list[str]:
        """Every column name visible here or further out."""
        own = [name for relation in self.relations for name, _ in relation.columns]
        return own + (self.outer.names() if self.outer else [])

    def widen(self) -> None:
        """Let every column be NULL, as an outer join above may fill it in."""
        self.relations = [
            replace(r, columns=tuple((n, a.widened()) for n, a in r.columns))
            for r in self.relations
        ]
        self.merged = {name: a.widened() for name, a in self.merged.items()}


@dataclass(frozen=True, slots=True)
class Environment:
    """What surrounds a query: the WITH queries it may name and the scope it may correlate to."""

    named: Mapping[str, Named] = field(default_factory=dict)
    outer: Scope | None = None


@dataclass(frozen=True, slots=True)
class BoundQuery:
    """A query's plan and its columns by name, in order."""

    plan: Plan
    columns: tuple[tuple[str, Attribute], ...]


@dataclass(slots=True)
class Session:
    """What one compilation shares: text, catalog, column numbers, and the tables it has met.

    `keyed` holds the columns of tables that have a primary key, with that key.
    """

    source: Source
    catalog: Catalog
    bind_query: Callable[["Session", Environment, exp.Expr], BoundQuery]
    numbers: Numbers = field(default_factory=Numbers)
    dependencies: set[str] = field(default_factory=set)
    keyed: dict[int, tuple[Attribute, frozenset[int]]] = field(default_factory=dict)
