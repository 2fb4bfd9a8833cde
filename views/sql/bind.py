"""The SQL front-end's entry point: binds a query's text into a plan."""

from ivm.dataflow.expressions import Expression
from views.catalog import Catalog
from views.limits import DEFAULT, Limits
from views.plan.bound import Bound, Stage
from views.plan.nodes import Attribute, Map, Window, WindowCall
from views.sql.base.coercion import BIGINT, cast, stored_type
from views.sql.base.scope import Environment, Session
from views.sql.clauses.queries import bind_query
from views.sql.source.dialect import PostgresViews
from views.sql.source.text import Source, parse


def bind(query: str, catalog: Catalog, limits: Limits = DEFAULT, *, ordered: bool = False) -> Bound:
    """Binds `query` over `catalog`, with the result's columns by name (raises SqlError).

    If it is to be `ordered` and says how, its rows get their positions as a last column.
    """
    source = Source(query)
    tree = parse(source, limits)
    session = Session(source, catalog, bind_query)
    bound = bind_query(session, Environment(ordered=ordered), tree)
    if not bound.columns:
        raise source.unsupported("SELECT without columns", tree)
    values = [(name, _stored(attribute)) for name, attribute in bound.columns]
    outputs = [(session.numbers.fresh(name, value), value) for name, value in values]
    below = bound.plan
    is_ordered = ordered and bool(bound.order)
    if is_ordered:
        position = session.numbers.new("position", BIGINT, False)
        call = WindowCall(position, "row_number")
        below = Window(below, (), bound.order, (call,))
        outputs.append((session.numbers.fresh("position", position), position.column))
    plan = Map(below, tuple(outputs))

    def stages() -> tuple[Stage, ...]:
        return (Stage("parsed", tree.sql(dialect=PostgresViews, pretty=True)),)

    tables = tuple(sorted(session.dependencies))
    return Bound(plan, session.numbers, tables, stages, is_ordered=is_ordered)


def _stored(attribute: Attribute) -> Expression:
    """Reads a column of the result; no stored column holds rows, so that one has their text."""
    return cast(attribute.column, stored_type(attribute.type))
