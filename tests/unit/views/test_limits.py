"""Queries at the limits of size and nesting compile, and beyond them are refused."""

import sys

import pytest

from tests.property.shop import CATALOG
from views.compile import compile_view
from views.errors import QueryTooLarge
from views.limits import Limits

WITHIN = {
    "parentheses": f"select {'(' * 490}1{')' * 490} as x",
    "not": f"select {'not ' * 400}true as x",
    "sum": f"select {' + '.join(['id'] * 150)} as x from customers",
    "or": f"select id from customers where {' or '.join(f'id = {i}' for i in range(3000))}",
    "list": f"select id from customers where id in ({', '.join(map(str, range(3000)))})",
    "union": " union ".join(["select id from customers"] * 300),
    "outer joins": "select t0.id from customers t0 "
    + " ".join(f"left join orders t{i} on t{i}.id = t{i - 1}.id" for i in range(1, 12)),
}
BEYOND = {
    "characters": "select 1 as x" + " " * 1_000_000,
    "words": f"select id from customers where {' or '.join(f'id = {i}' for i in range(60_000))}",
    "parentheses": f"select {'(' * 100_000}1{')' * 100_000} as x",
    "columns": f"select {', '.join(f'{i} as c{i}' for i in range(1665))}",
    "keys": f"select 1 as x from customers group by {', '.join(f'id + {i}' for i in range(1665))}",
    "subqueries": "select id from customers where "
    + " and ".join(["exists (select 1 from orders where customer_id = customers.id)"] * 101),
    "minus": f"select {'- ' * 100_000}1 as x",
    "sum": f"select {' + '.join(['id'] * 5000)} as x from customers",
    "outer joins": "select t0.id from customers t0 "
    + " ".join(f"left join orders t{i} on t{i}.id = t{i - 1}.id" for i in range(1, 80)),
    "readings": "select id from customers, lateral " + "(id, lateral " * 40,
    "unnesting": f"select c.id from ({' union all '.join(['select * from customers'] * 6)}) c"
    " where c.city not in (select a.segment from customers a where a.id <> c.id and a.city not in"
    " (select b.segment from customers b where b.id <> c.id and b.city not in"
    " (select d.segment from customers d where d.id <> c.id)))",
    "doubling": "with a0 as (select id from customers)"
    + "".join(
        f", a{i} as (select x.id from a{i - 1} x join a{i - 1} y on x.id = y.id)"
        for i in range(1, 40)
    )
    + " select * from a39",
}


@pytest.mark.parametrize("query", WITHIN.values(), ids=WITHIN)
def test_a_large_query_compiles(query: str) -> None:
    assert compile_view(query, CATALOG).schema.names in (["x"], ["id"])


@pytest.mark.parametrize("query", BEYOND.values(), ids=BEYOND)
def test_a_query_beyond_a_limit_is_refused(query: str) -> None:
    with pytest.raises(QueryTooLarge):
        compile_view(query, CATALOG)


def test_a_text_of_too_many_words_is_refused_where_these_begin() -> None:
    with pytest.raises(QueryTooLarge) as caught:
        compile_view("select id,\n  name from customers", CATALOG, limits=Limits(words=4))
    assert (caught.value.line, caught.value.column, caught.value.position) == (2, 8, 19)


@pytest.mark.parametrize("language", ["sql", "datalog"])
def test_a_query_nested_deeper_than_the_operator_allows_is_refused_where_it_is(
    language: str,
) -> None:
    query = {"sql": "select (((1))) as x", "datalog": "p(X) :- customers(X, _, _, _), X = (((1)))."}
    with pytest.raises(QueryTooLarge, match="more than 2 deep") as caught:
        compile_view(query[language], CATALOG, language=language, limits=Limits(nesting=2))
    assert caught.value.position == query[language].index("(((") + 3


def test_the_operator_may_refuse_all_subqueries() -> None:
    query = "select id from customers where exists (select 1 from orders)"
    with pytest.raises(QueryTooLarge, match="at most 0"):
        compile_view(query, CATALOG, limits=Limits(subqueries=0))


def test_compiling_leaves_the_bound_on_recursion_as_it_was() -> None:
    before = sys.getrecursionlimit()
    compile_view(WITHIN["parentheses"], CATALOG)
    assert sys.getrecursionlimit() == before
