"""Random queries over random shops are, after each step, what PostgreSQL says."""

from collections import Counter

import psycopg
import pytest
from hypothesis import HealthCheck, example, given, reject, settings
from hypothesis import strategies as st

from ivm.pool import Pool
from tests.postgres import Judge, emptied
from tests.property.shop import CATALOG, Row, Tables, feed, hashable, normal, rows_of, tables
from tests.property.sql_grammar import queries
from tests.property.sql_grammar_aggregates import aggregate_queries
from tests.property.sql_grammar_failing import failing_queries
from tests.property.sql_grammar_nested import nested_queries
from tests.property.sql_grammar_values import value_queries
from tests.property.sql_grammar_wide import wide_queries
from views.compile import compile_view
from views.types import type_name

random_queries = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def shop(judge: Judge) -> Judge:
    """PostgreSQL with the shop's tables."""
    emptied(judge)
    for table in CATALOG.tables:
        columns = ", ".join(f"{f.name} {type_name(f.type)}" for f in table.schema)
        judge.execute(f"CREATE TABLE {table.name} ({columns})".encode())
    return judge


def fill(shop: Judge, given: Tables) -> None:
    for name, rows in given.items():
        shop.execute(f"DELETE FROM {name}".encode())
        with shop.cursor() as cursor, cursor.copy(f"COPY {name} FROM STDIN".encode()) as copy:
            for row in rows:
                copy.write_row(row)


def follow(shop: Judge, query: str, history: list[Tables]) -> None:
    """Compare the view with PostgreSQL's answer after each step."""
    view = compile_view(query, CATALOG)
    pool = Pool()
    for table in CATALOG.tables:
        pool.create_input(table.name, table.schema, table.key)
    pool.install("view", view.node, view.key)
    held: Tables = {table.name: [] for table in CATALOG.tables}
    summed: Counter[Row] = Counter()
    for step, target in enumerate(history):
        feed(pool, held, target, step)
        held = target
        fill(shop, target)
        snapshot, deltas = pool.scan("view"), pool.drain("view")
        summed.update(rows_of(deltas.rows, deltas.diffs))
        try:
            answer = shop.execute(query.encode()).fetchall()
            expected = normal(Counter(tuple(map(hashable, row)) for row in answer))
        except psycopg.errors.FeatureNotSupported:  # some conditions of FULL JOIN
            reject()
        except psycopg.DataError:  # a division by zero, a text that is no number, …
            assert snapshot.errors
            continue
        assert not snapshot.errors
        assert normal(rows_of(snapshot.rows, snapshot.counts)) == expected
        assert normal({row: n for row, n in summed.items() if n}) == expected


@given(query=queries(), history=st.lists(tables, min_size=2, max_size=3))
@random_queries
def test_a_random_query_is_maintained_as_postgresql_says(
    shop: Judge, query: str, history: list[Tables]
) -> None:
    follow(shop, query, history)


@given(query=wide_queries(), history=st.lists(tables, min_size=2, max_size=3))
@random_queries
def test_a_random_query_of_the_wider_grammar_is_maintained_as_postgresql_says(
    shop: Judge, query: str, history: list[Tables]
) -> None:
    follow(shop, query, history)


@given(query=aggregate_queries(), history=st.lists(tables, min_size=2, max_size=3))
@random_queries
def test_a_random_query_with_aggregates_is_maintained_as_postgresql_says(
    shop: Judge, query: str, history: list[Tables]
) -> None:
    follow(shop, query, history)


NO_ROWS: Tables = {table.name: [] for table in CATALOG.tables}


@given(query=nested_queries(), history=st.lists(tables, min_size=2, max_size=3))
@example(
    query="select t1.id as a, l.m as b from customers t1 left join lateral (select (select count(*)"
    " from (select distinct t3.id from customers t3 where t3.id::numeric = t2.id"
    " and t3.id::numeric = t1.id) d) as m from customers t2 where t2.id = t1.id) l on true",
    history=[NO_ROWS | {"customers": [(i, None, None, None) for i in range(1, 5)]}],
)
@random_queries
def test_a_random_query_of_three_scopes_is_maintained_as_postgresql_says(
    shop: Judge, query: str, history: list[Tables]
) -> None:
    follow(shop, query, history)


@given(query=failing_queries(), history=st.lists(tables, min_size=2, max_size=3))
@random_queries
def test_a_random_subquery_fails_only_where_a_row_asks_for_it(
    shop: Judge, query: str, history: list[Tables]
) -> None:
    follow(shop, query, history)


@given(query=value_queries(), history=st.lists(tables, min_size=2, max_size=3))
@random_queries
def test_a_random_query_of_typed_values_is_maintained_as_postgresql_says(
    shop: Judge, query: str, history: list[Tables]
) -> None:
    follow(shop, query, history)
