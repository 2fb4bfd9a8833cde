"""The SQL front-end's entry point: binds a query's text into a plan."""

from views.catalog import Catalog
from views.limits import DEFAULT, Limits
from views.plan.bound import Bound, Stage
from views.plan.nodes import Map
from views.sql.base.scope import Environment, Session
from views.sql.clauses.queries import bind_query
from views.sql.source.dialect import PostgresViews
from views.sql.source.text import Source, parse


def bind(query: str, catalog: Catalog, limits: Limits = DEFAULT) -> Bound:
    """Binds `query` over `catalog`, with the result's columns by name (raises SqlError)."""
    source = Source(query)
    tree = parse(source, limits)
    session = Session(source, catalog, bind_query)
    bound = bind_query(session, Environment(), tree)
    if not bound.columns:
        raise source.unsupported("SELECT without columns", tree)
    outputs = [(session.numbers.fresh(name, a), a.column) for name, a in bound.columns]
    plan = Map(bound.plan, tuple(outputs))

    def stages() -> tuple[Stage, ...]:
        return (Stage("parsed", tree.sql(dialect=PostgresViews, pretty=True)),)

    return Bound(plan, session.numbers, tuple(sorted(session.dependencies)), stages)
