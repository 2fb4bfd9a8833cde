"""Name resolution: finds the column that a name means, from the innermost query outwards."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from views.catalog import Catalog
from views.plan.nodes import Attribute, Constant, Plan, SortKey
from views.plan.scalars import TRUE
from views.plan.trees import Numbers
from views.sql.base.computations import Aggregates
from views.sql.source.text import Source


@dataclass(frozen=True, slots=True)
class Relation:
    """An item of a FROM clause: its alias and its columns by name.

    `whole` is the column that the alias alone names, of a function's rows of one value. An
    `optional` one is padded with NULL by an outer join, unless the column `present` is not NULL,
    which no row of its own has.
    """

    alias: str
    columns: tuple[tuple[str, Attribute], ...]
    whole: Attribute | None = None
    optional: bool = False
    present: Attribute | None = None

    @property
    def always(self) -> Attribute | None:
        """A column that is not NULL in any row of this relation, if one is known."""
        known = [self.present] if self.present is not None else [a for _, a in self.columns]
        return next((a for a in known if not a.nullable), None)


@dataclass(frozen=True, slots=True)
class Named:
    """A WITH query as its references see it; `make` gives it anew with fresh columns."""

    make: Callable[[], tuple[Plan, tuple[tuple[str, Attribute], ...]]]


@dataclass(slots=True)
class Scope:
    """The relations of one FROM clause, and the scope of the query around it.

    `visible` are the columns that need no relation's name, in the order of `*`: a column of USING
    is there once. Seen from a subquery, `clause` is where that stands, and `aggregates` collects
    those of this scope's query that it holds, or is None where there may be none. The rows come in
    the `order` of the query that they are from, if that has one.
    """

    outer: "Scope | None" = None
    relations: list[Relation] = field(default_factory=list)
    visible: list[tuple[str, Attribute]] = field(default_factory=list)
    clause: str = "FROM"
    aggregates: Aggregates | None = None
    order: tuple[SortKey, ...] = ()

    def lookup(self, column: str, table: str | None) -> list[Attribute]:
        """Finds the columns of this scope alone that the name may mean."""
        found = [attribute for name, attribute in self.star(table) if name == column]
        if found or table is not None:
            return found
        return [r.whole for r in self.relations if r.alias == column and r.whole is not None]

    def star(self, table: str | None = None) -> list[tuple[str, Attribute]]:
        """Expands `*` or `table.*`."""
        if table is None:
            return self.visible
        return [c for r in self.relations if r.alias == table for c in r.columns]

    def attributes(self) -> list[Attribute]:
        """Lists every column that can be named."""
        named = [c for relation in self.relations for c in relation.columns]
        return [attribute for _, attribute in [*self.visible, *named]]

    def numbers(self) -> set[int]:
        """Collects the columns that can be named, and the aggregates collected over them."""
        computed = () if self.aggregates is None else self.aggregates.calls.values()
        return {a.number for a in (*self.attributes(), *computed)}

    def around(self) -> "Iterator[Scope]":
        """Yields this scope and those further out."""
        yield self
        if self.outer is not None:
            yield from self.outer.around()

    def names(self) -> list[str]:
        """Collects every column name visible here or further out."""
        own = [name for relation in self.relations for name, _ in relation.columns]
        return own + (self.outer.names() if self.outer else [])

    def widened(self) -> "Scope":
        """Makes every column nullable, as an outer join may fill in NULL."""
        relations = [_widened_relation(r) for r in self.relations]
        return Scope(self.outer, relations, list(_widened(self.visible)))


def _widened_relation(relation: Relation) -> Relation:
    whole = None if relation.whole is None else relation.whole.widened()
    present = relation.always
    if relation.optional:
        present = relation.present
    elif present is not None:
        present = present.widened()
    return Relation(relation.alias, _widened(relation.columns), whole, True, present)


def _widened(columns: Sequence[tuple[str, Attribute]]) -> tuple[tuple[str, Attribute], ...]:
    return tuple((name, attribute.widened()) for name, attribute in columns)


@dataclass(frozen=True, slots=True)
class Environment:
    """The surroundings of a query: the WITH queries that it may name and the outer scope.

    The query tells the order of its rows if that is `ordered`.
    """

    named: Mapping[str, Named] = field(default_factory=dict)
    outer: Scope | None = None
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class BoundQuery:
    """A query's plan and its columns by name, in order.

    If its environment asks for that, its rows' `order`, by columns that the plan may have besides.
    """

    plan: Plan
    columns: tuple[tuple[str, Attribute], ...]
    order: tuple[SortKey, ...] = ()


@dataclass(slots=True)
class Session:
    """The shared state of one compilation: text, catalog, column numbers, and the tables met.

    `keyed` holds the columns of tables that have a primary key, with that key.
    """

    source: Source
    catalog: Catalog
    bind_query: Callable[["Session", Environment, exp.Expr], BoundQuery]
    numbers: Numbers = field(default_factory=Numbers)
    dependencies: set[str] = field(default_factory=set)
    keyed: dict[int, tuple[Attribute, frozenset[int]]] = field(default_factory=dict)


def one_row(session: Session) -> Constant:
    """Makes one row without a column that could be named."""
    return Constant(((True,),), (session.numbers.fresh("", TRUE),))
