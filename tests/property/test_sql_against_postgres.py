"""Random queries over random shops are, after each step, what PostgreSQL says."""

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.postgres import Judge
from tests.property.judged_shop import follow, opened
from tests.property.shop import CATALOG, Tables, tables
from tests.property.sql_grammar import queries
from tests.property.sql_grammar_aggregates import aggregate_queries
from tests.property.sql_grammar_failing import failing_queries
from tests.property.sql_grammar_nested import nested_queries
from tests.property.sql_grammar_values import value_queries
from tests.property.sql_grammar_wide import wide_queries

random_queries = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def shop(judge: Judge) -> Judge:
    """PostgreSQL with the shop's tables."""
    return opened(judge)


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
