"""EXPLAIN in front of a query is told from the query, in every form that PostgreSQL has."""

import pytest

from views.errors import SqlError, SqlSyntaxError, UnsupportedSql
from views.sql.source.explain import explained


@pytest.mark.parametrize(
    ("statement", "query", "analyze", "form"),
    [
        ("EXPLAIN SELECT 1", "SELECT 1", False, "text"),
        ("explain analyze select 1", "select 1", True, "text"),
        ("EXPLAIN ANALYSE SELECT 1", "SELECT 1", True, "text"),
        ("-- why?\n/* so */ EXPLAIN--\nANALYZE/**/SELECT 1", "SELECT 1", True, "text"),
        ("EXPLAIN (ANALYZE) SELECT 1", "SELECT 1", True, "text"),
        ("EXPLAIN(ANALYZE,FORMAT JSON)SELECT 1", "SELECT 1", True, "json"),
        ("EXPLAIN (FORMAT TEXT, ANALYZE OFF) SELECT 1", "SELECT 1", False, "text"),
        ("EXPLAIN ( analyze true , format json ) SELECT 1", "SELECT 1", True, "json"),
        ("EXPLAIN (SELECT 1)", "(SELECT 1)", False, "text"),
        ("EXPLAIN ((SELECT 1) UNION SELECT 2)", "((SELECT 1) UNION SELECT 2)", False, "text"),
        ("EXPLAIN ANALYZE (SELECT 1)", "(SELECT 1)", True, "text"),
        ("EXPLAIN (VALUES (1))", "(VALUES (1))", False, "text"),
        (
            "EXPLAIN ANALYZE WITH a AS (SELECT 1) TABLE a",
            "WITH a AS (SELECT 1) TABLE a",
            True,
            "text",
        ),
    ],
)
def test_a_statement_has_its_query_where_it_stood(
    statement: str, query: str, analyze: bool, form: str
) -> None:
    found = explained(statement)
    assert found is not None
    assert (found.query.strip(), found.analyze, found.form) == (query, analyze, form)
    assert len(found.query) == len(statement)
    assert found.query.index(query) == statement.rindex(query)


@pytest.mark.parametrize(
    "query",
    ["SELECT 1", "", "SELECT 'EXPLAIN'", "explained", "/* EXPLAIN */ SELECT 1", "/**/" * 5000],
)
def test_any_other_statement_is_none(query: str) -> None:
    assert explained(query) is None


@pytest.mark.parametrize(
    ("statement", "error", "position"),
    [
        ("EXPLAIN", SqlSyntaxError, 8),
        ("EXPLAIN (COSTS OFF) SELECT 1", UnsupportedSql, 10),
        ("EXPLAIN (ANALYZE, FORMAT YAML) SELECT 1", UnsupportedSql, 19),
        ("EXPLAIN (ANALYZE maybe) SELECT 1", UnsupportedSql, 10),
        ("EXPLAIN () SELECT 1", UnsupportedSql, 10),
    ],
)
def test_an_option_that_there_is_not_is_refused_at_its_place(
    statement: str, error: type[SqlError], position: int
) -> None:
    with pytest.raises(error) as refused:
        explained(statement)
    assert refused.value.position == position
