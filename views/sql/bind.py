"""The SQL front-end's face: text in, plan out."""

from dataclasses import dataclass

from sqlglot import exp

from views.catalog import Catalog
from views.plan.nodes import Plan, Project
from views.plan.trees import Numbers
from views.sql.queries import bind_query
from views.sql.scope import Environment, Session
from views.sql.source import Source, parse


@dataclass(frozen=True, slots=True)
class Bound:
    """A query's syntax tree and plan; `numbers` goes on numbering columns for the rewrites."""

    source: Source
    tree: exp.Query | exp.Values
    plan: Plan
    numbers: Numbers
    dependencies: tuple[str, ...]


def bind(query: str, catalog: Catalog) -> Bound:
    """The plan of `query` over `catalog`, with the result's columns by name (raises SqlError)."""
    source = Source(query)
    tree = parse(source)
    session = Session(source, catalog, bind_query)
    bound = bind_query(session, Environment(), tree)
    outputs = [(session.numbers.fresh(name, a), a.column) for name, a in bound.columns]
    plan = Project(bound.plan, tuple(outputs))
    return Bound(source, tree, plan, session.numbers, tuple(sorted(session.dependencies)))
