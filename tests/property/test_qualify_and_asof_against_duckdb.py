"""QUALIFY and ASOF JOIN, which PostgreSQL does not have, mean what DuckDB says they mean."""

from collections import Counter
from functools import cache

import pytest
from hypothesis import given, settings

from tests.oracle import evaluate
from tests.property.shop import CATALOG, Tables, judged, normal, tables
from views.compile import compile_view

compiled = cache(lambda query: compile_view(query, CATALOG))

QUERIES = """
select id, status from orders
qualify row_number() over (partition by status order by total desc nulls last, id) = 1;

select id, row_number() over (partition by customer_id order by id) as r from orders qualify r <= 2;

select id, total as t from orders where total > 1 window w as (partition by status order by id)
qualify sum(total) over w > 20 or lag(id) over w is null;

select status, sum(total) as s, count(*) as n from orders group by status having count(*) > 1
qualify rank() over (order by sum(total) desc nulls last) = 1 and n < 10;

select distinct status from orders qualify count(*) over (partition by status) > 1;

select id from orders qualify row_number() over (order by id desc) < 5 order by id limit 2;

select id from orders o qualify row_number() over (order by id) = 1 or id in
(select order_id from items where quantity > 1);

select c.id, t.id as o from customers c join lateral (select o.id from orders o where
o.customer_id = c.id qualify row_number() over (order by o.id) = 1) t on true;

select c.id, o.id as o from customers c asof join orders o on c.id >= o.id;

select c.id, o.id as o from customers c asof left join orders o on c.id > o.id;

select c.id, o.id as o from customers c asof join orders o on c.id <= o.id;

select c.id, o.id as o from customers c asof left join orders o on o.id > c.id;

select i.order_id, i.line, o.id as o from items i asof left join orders o
on i.order_id = o.customer_id and i.line >= o.id;

select i.order_id, i.line, c.segment, count(*) over () as n from items i asof join customers c
on i.quantity <= c.id;

select c.id, o.total from customers c asof join orders o using (id);

select c.id, o.total from customers c asof left join orders o using (id) where o.total is null;

select a.id, b.id as b, c.id as c from orders a asof join customers b on a.id >= b.id
left join customers c on c.id = b.id;

select a.id, b.id as b from orders a asof join customers b on a.id - 1 >= b.id + 1;
"""


@pytest.mark.parametrize("query", [query for query in QUERIES.split(";") if query.strip()])
@given(given=tables)
@settings(max_examples=25, deadline=None)
def test_a_query_answers_as_in_duckdb(query: str, given: Tables) -> None:
    result = evaluate(compiled(query).node, {name: Counter(rows) for name, rows in given.items()})
    assert not result.errors
    assert normal(result.rows) == judged(query, given)
