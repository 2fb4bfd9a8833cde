"""Queries at the limits of size and nesting compile, and beyond them are refused."""

import sys

import pytest

from ivm.dataflow.traversal import walk
from ivm.pool import Pool
from tests.property.shop import CATALOG
from views.compile import compile_view
from views.errors import QueryTooLarge
from views.limits import Limits
from views.plan.scalars import conjuncts
from views.plan.scalars import walk as parts
from views.rewrites.pushdown import MOST_PARTS

WITHIN = {
    "parentheses": f"select {'(' * 490}1{')' * 490} as x",
    "not": f"select {'not ' * 400}true as x",
    "sum": f"select {' + '.join(['id'] * 150)} as x from customers",
    "or": f"select id from customers where {' or '.join(f'id = {i}' for i in range(3000))}",
    "list": f"select id from customers where id in ({', '.join(map(str, range(3000)))})",
    "case": f"select case {' '.join(f'when id = {i} then {i}' for i in range(2000))} end as x "
    "from customers",
    "texts": "select id from customers where city in ('"
    + "', '".join(map(str, range(5000)))
    + "')",
    "union": " union ".join(["select id from customers"] * 1000),
    "outer joins": "select t0.id from customers t0 "
    + " ".join(f"left join orders t{i} on t{i}.id = t{i - 1}.id" for i in range(1, 12)),
}
BEYOND = {
    "characters": "select 1 as x" + " " * 1_000_000,
    "words": f"select id from customers where {' or '.join(f'id={i}' for i in range(60_000))}",
    "words in quotes of comments": f"select 0 as x {'/*' + chr(39) + '*/,1,1,1,1,1,1,1,1' * 9000}",
    "parentheses": f"select {'(' * 100_000}1{')' * 100_000} as x",
    "columns": f"select {', '.join(f'{i} as c{i}' for i in range(1665))}",
    "keys": f"select 1 as x from customers group by {', '.join(f'id + {i}' for i in range(1665))}",
    "subqueries": "select id from customers where "
    + " and ".join(["exists (select 1 from orders where customer_id = customers.id)"] * 101),
    "minus": f"select {'- ' * 100_000}1 as x",
    "sum": f"select {' + '.join(['id'] * 5000)} as x from customers",
    "readings": "select id from customers, lateral " + "(id, lateral " * 40,
    "unnesting": f"select c.id from ({' union all '.join(['select * from customers'] * 9)}) c"
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


def steps(step: str, count: int) -> str:
    """A chain of queries, each `step` over the one before."""
    named = (f", a{i} as ({step.format(i=i, before=f'a{i - 1}')})" for i in range(1, count))
    return f"with a0 as (select id from customers){''.join(named)} select id from a{count - 1}"


STEPS = {
    "computed": "select id + 1 as id from {before} where id <> {i}",
    "doubled": "select id + id as id from {before} where id <> {i}",
    "grouped": "select max(id) as id, id % {i} as k from {before} group by 2",
    "joined": "select a.id from {before} a join orders o on o.id = a.id",
    "outer joined": "select coalesce(o.customer_id, a.id) as id from {before} a "
    "left join orders o on o.id = a.id",
    "numbered": "select row_number() over (order by id) as id from {before} where id > {i}",
}


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
@pytest.mark.timeout(60)
def test_a_long_chain_of_queries_is_installed_twice_on_an_ordinary_stack(step: str) -> None:
    pool = Pool(1)
    for table in CATALOG.tables:
        pool.create_input(table.name, table.schema, table.key)
    for name in ("one", "other"):
        view = compile_view(steps(step, 200), CATALOG)
        pool.install(name, view.node, view.key)
    assert pool.explain(view.node, view.key).created == ()
    pool.drop("other")


def test_a_chain_of_a_thousand_queries_is_installed_on_an_ordinary_stack() -> None:
    pool = Pool(1)
    for table in CATALOG.tables:
        pool.create_input(table.name, table.schema, table.key)
    view = compile_view(steps(STEPS["outer joined"], 1000), CATALOG)
    pool.install("chained", view.node, view.key)
    pool.drop("chained")


@pytest.mark.parametrize("step", ["computed", "doubled"])
def test_a_condition_is_not_lengthened_by_each_of_a_chain_of_queries(step: str) -> None:
    """Or the last would have as many additions in it, and if each doubles, 2 to that power."""
    view = compile_view(steps(STEPS[step], 100), CATALOG)
    read = [c for node in walk(view.node) for e in node.expressions for c in conjuncts(e)]
    assert max(sum(1 for _ in parts(condition)) for condition in read) <= MOST_PARTS


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
    with pytest.raises(QueryTooLarge, match=r"at most 0 \(the setting max_query_subqueries\)"):
        compile_view(query, CATALOG, limits=Limits(subqueries=0))


def test_compiling_leaves_the_bound_on_recursion_as_it_was() -> None:
    before = sys.getrecursionlimit()
    compile_view(WITHIN["parentheses"], CATALOG)
    assert sys.getrecursionlimit() == before
