"""Random queries over random shops answer as in DuckDB, and the pool maintains them."""

from collections import Counter

from hypothesis import HealthCheck, given, reject, settings

from ivm.pool import Pool
from tests.oracle import evaluate
from tests.property.shop import CATALOG, Tables, feed, judged, normal, rows_of, tables
from tests.property.sql_grammar import queries
from views.compile import CompiledView, compile_view
from views.errors import QueryTooLarge


def compiled(query: str) -> CompiledView:
    """`query` as a view, unless it is one of the few that are nested too deeply."""
    try:
        return compile_view(query, CATALOG)
    except QueryTooLarge:
        reject()


@given(query=queries(), given=tables)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_random_query_answers_as_in_duckdb(query: str, given: Tables) -> None:
    node = compiled(query).node
    result = evaluate(node, {name: Counter(rows) for name, rows in given.items()})
    assert not result.errors
    assert normal(result.rows) == judged(query, given)


@given(query=queries(), before=tables, after=tables)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_the_pool_maintains_a_random_query(query: str, before: Tables, after: Tables) -> None:
    view = compiled(query)
    pool = Pool()
    for table in CATALOG.tables:
        pool.create_input(table.name, table.schema, table.key)
    feed(pool, {name: [] for name in before}, before, 0)
    pool.install("view", view.node, view.key)
    feed(pool, before, after, 1)
    snapshot = pool.scan("view")
    inputs = {name: Counter(rows) for name, rows in after.items()}
    assert rows_of(snapshot.rows, snapshot.counts) == evaluate(view.node, inputs).rows
