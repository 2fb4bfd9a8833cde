"""The compiler: translates one query to one dataflow.

Binding and rewriting recurse along the query's nesting, whose bound lies above Python's default; a
query that is not short is therefore compiled on a deep stack.
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

import pyarrow as pa

from ivm.dataflow.nodes import Node
from ivm.deep import on_deep_stack
from views.catalog import Catalog, Table, View
from views.errors import (
    DuplicateColumn,
    QueryTooLarge,
    UnknownColumn,
    UnsupportedSql,
    suggestion,
)
from views.languages import FRONT_ENDS, ORDERED_FRONT_ENDS
from views.limits import DEFAULT, Limits
from views.lowering.lower import lower
from views.plan.bound import Bound
from views.plan.keys import unique_key
from views.plan.nodes import Plan, TemporalFilter
from views.plan.trees import subqueries, walk
from views.rewrites import rewrite
from views.rewrites.context import Context

Answer = TypeVar("Answer")
# Characters up to which a query is first compiled on the stack that is there. Nothing in so few
# nests so deep that a part of it would be refused for its depth there.
_SHORT = 400


@dataclass(frozen=True, slots=True)
class CompiledView:
    """A dataflow with the view's output `schema`, ready for `Pool.install(name, node, key)`.

    `key` names the columns to look the view up by, and `is_unique` says that no two rows agree in
    all of them; `dependencies` the tables and views it reads. A `temporal` one reads the clock as
    well (`CLOCK` of `views.lowering.temporal_filter`).
    """

    node: Node
    schema: pa.Schema
    key: tuple[str, ...]
    is_unique: bool
    dependencies: tuple[str, ...]
    temporal: bool


def compile_view(
    query: str,
    catalog: Catalog,
    key: Sequence[str] | None = None,
    arranged: Collection[str] = (),
    language: str = "sql",
    limits: Limits = DEFAULT,
) -> CompiledView:
    """Compiles a query in `language` over the catalog's tables and views.

    `arranged` names the arrangements that exist already (`orders[customer_id]`): a join reads one
    of those in preference to indexing a filtered copy. Without `key` the view is looked up by a
    unique key: the columns grouped by, a table's primary key, else all columns. Raises a kind of
    SqlError: QueryTooLarge for a text beyond the `limits`.
    """
    limits.check(query)
    return deeply(lambda: _compile(query, catalog, key, arranged, language, limits), query)


def _compile(
    query: str,
    catalog: Catalog,
    key: Sequence[str] | None,
    arranged: Collection[str],
    language: str,
    limits: Limits,
) -> CompiledView:
    bound = FRONT_ENDS[language](query, catalog, limits)
    plan, node = _lowered(bound, catalog, arranged, limits)
    names = node.schema.names
    chosen = default_key(plan) if key is None else tuple(key)
    for column in chosen:
        if column not in names:
            near = suggestion(column, names)
            raise UnknownColumn(f"the key's column {column!r} is not in the result{near}")
    if len(set(chosen)) != len(chosen) or not chosen:
        raise DuplicateColumn("a key names at least one column, and none twice")
    temporal = any(isinstance(part, TemporalFilter) for part in walk(plan))
    is_unique = is_key(plan, chosen)
    return CompiledView(node, node.schema, chosen, is_unique, bound.dependencies, temporal)


@dataclass(frozen=True, slots=True)
class CompiledQuery:
    """A query that is answered once: its dataflow, whose columns are those of the answer.

    If it `is_ordered`, the dataflow has the position of each row as one column more, the last.
    """

    node: Node
    schema: pa.Schema
    dependencies: tuple[str, ...]
    temporal: bool
    is_ordered: bool


def compile_query(
    query: str,
    catalog: Catalog,
    arranged: Collection[str] = (),
    language: str = "sql",
    limits: Limits = DEFAULT,
) -> CompiledQuery:
    """Compiles a query to be answered once, as `compile_view` does a view (raises as that)."""
    limits.check(query)
    return deeply(lambda: _compile_query(query, catalog, arranged, language, limits), query)


def _compile_query(
    query: str, catalog: Catalog, arranged: Collection[str], language: str, limits: Limits
) -> CompiledQuery:
    bound = ORDERED_FRONT_ENDS[language](query, catalog, limits)
    plan, node = _lowered(bound, catalog, arranged, limits)
    temporal = any(isinstance(part, TemporalFilter) for part in walk(plan))
    schema = node.schema.remove(len(node.schema) - 1) if bound.is_ordered else node.schema
    return CompiledQuery(node, schema, bound.dependencies, temporal, bound.is_ordered)


def _lowered(
    bound: Bound, catalog: Catalog, arranged: Collection[str], limits: Limits
) -> tuple[Plan, Node]:
    """The plan of a query, checked and rewritten, and its dataflow."""
    check_names(bound)
    check_subqueries(bound, limits.subqueries)
    check_dependencies(bound, catalog)
    there = existing(catalog, arranged)
    plan = rewrite(bound.plan, Context(bound.numbers, there))
    return plan, lower(plan, there)


def existing(catalog: Catalog, arranged: Collection[str]) -> frozenset[str]:
    """Collects the arrangements that exist: `arranged`, and each collection's by its key."""
    entries = [e for name in catalog if is_kept(e := catalog[name])]
    return frozenset(arranged) | {f"{e.name}[{', '.join(e.key)}]" for e in entries}


def check_names(bound: Bound) -> None:
    """Checks that the result's columns have different names."""
    counts = Counter(a.name for a in bound.plan.attributes)
    for name, count in counts.items():
        if count > 1:
            raise DuplicateColumn(f"the result has two columns called {name!r}; rename one with AS")


def check_dependencies(bound: Bound, catalog: Catalog) -> None:
    """Checks that everything that is read keeps its rows."""
    for name in bound.dependencies:
        if not is_kept(catalog[name]):
            raise UnsupportedSql(
                f"view {name!r} was declared with lookups: false, so that no view can read its "
                "rows; read what it reads, or delete it and declare it with lookups"
            )


def is_kept(entry: Table | View) -> bool:
    """Tells whether an arrangement has the rows of a table or view."""
    return isinstance(entry, Table) or entry.lookups


def check_subqueries(bound: Bound, most: int) -> None:
    """Checks that the plan has no more subqueries than are unnested in reasonable time."""
    count = subqueries(bound.plan)
    if count > most:
        raise QueryTooLarge(
            f"the query has {count} subqueries or lateral joins, which are at most {most} (the "
            "setting max_query_subqueries); make some of them views of their own"
        )


def is_key(plan: Plan, columns: Collection[str]) -> bool:
    """Tells whether no two rows are known to have the same values in all of these columns."""
    unique = unique_key(plan)
    return unique is not None and unique <= {a.number for a in plan.attributes if a.name in columns}


def default_key(plan: Plan) -> tuple[str, ...]:
    """Chooses the columns that are known to be unique together, else all of them."""
    unique = unique_key(plan)
    names = tuple(a.name for a in plan.attributes if unique and a.number in unique)
    return names or tuple(a.name for a in plan.attributes)


def deeply(work: Callable[[], Answer], text: str | None = None) -> Answer:
    """Runs `work` with a stack deep enough for any query within the limits.

    A thread with such a stack takes longer to start than a short `text` to compile, for which the
    present one nearly always does; where it does not, `work` is begun again.
    """
    if text is not None and len(text) <= _SHORT:
        with suppress(RecursionError):
            return work()
    try:
        return on_deep_stack(work)
    except RecursionError as error:
        raise QueryTooLarge(
            "the query is nested too deeply; make some of it views of their own"
        ) from error
