"""Window functions mean what DuckDB says they mean."""

from collections import Counter
from functools import cache

import pytest
from hypothesis import given, settings

from tests.oracle import evaluate
from tests.property.shop import CATALOG, Tables, judged, normal, tables
from views.compile import compile_view

compiled = cache(lambda query: compile_view(query, CATALOG))

QUERIES = """
select id, row_number() over (partition by city order by name desc nulls first, id) as r
from customers;

select id, rank() over w as r, dense_rank() over w as d, percent_rank() over w as p,
cume_dist() over w as c from orders
window w as (partition by status order by total desc nulls last);

select id, ntile(3) over (order by id) as n, lag(total) over (order by id) as a,
lead(status, 2, 'none') over (order by id) as b, lag(total, -1, 0) over (order by id) as c
from orders;

select id, first_value(total) over w as f, last_value(total) over w as l,
nth_value(id, 2) over (w rows between 1 preceding and 2 following) as n
from orders window w as (partition by customer_id order by day, id);

select id, sum(total) over (order by id) as s, avg(total) over (partition by status) as a,
count(*) over (partition by status order by day range unbounded preceding) as n,
min(day) over (order by id rows 2 preceding) as m from orders;

select id, sum(weight) over (order by id rows between 1 following and 3 following) as s,
max(category) over (order by id rows between unbounded preceding and 1 preceding) as m
from products;

select id, count(*) over (order by day range between interval '20 days' preceding and current row)
as n, sum(total) over (order by total desc nulls last range between 5 preceding and 1.5 following)
as s from orders where day is not null and total is not null;

select id, count(*) over (order by day desc nulls first range between interval '36 hours' following
and interval '40 days' following) as n from orders;

select order_id, line, sum(quantity) filter (where price > 5) over (partition by order_id) as s,
count(quantity) filter (where line = 1) over () as n, bool_or(price > 5) over (order by order_id,
line) as b from items;

select status, sum(total) as s, rank() over (order by sum(total) desc nulls last) as r,
sum(count(*)) over () as n, sum(sum(total)) over (order by status nulls first) as t
from orders group by status having count(*) < 5;

select segment, city, count(*) as n, sum(count(*)) over (partition by grouping(segment, city)) as t,
count(segment) over () as k from customers group by rollup (segment, city);

select distinct status, count(*) over (partition by status) as n from orders;

select id from orders order by sum(total) over (partition by status) desc nulls last, id limit 3;

select c.id, (select max(r) from (select row_number() over (order by o.id) as r from orders o
where o.customer_id = c.id) t) as n from customers c;

select c.id, t.id as o, t.s from customers c join lateral (select o.id, sum(o.total) over
(order by o.id) as s, lag(c.id, 1, o.id) over (order by o.id) as l from orders o
where o.customer_id = c.id) t on true;

select c.id from customers c where c.id in (select first_value(o.id) over (partition by o.status
order by o.id) from orders o where o.customer_id <> c.id);

select id, r, s from (select id, row_number() over w as r, sum(id) over (w rows unbounded
preceding) as s from orders window w as (partition by status order by id)) t where r <= 2;

select id, r, n from (select id, row_number() over w as r, lead(id) over w as n from orders
window w as (partition by status order by id)) t where r <= 2;

select a.id, a.r, b.r as q from (select id, row_number() over (order by id) as r from orders) a
join (select id, row_number() over (order by id desc) as r from customers) b on a.r = b.r;

select id, sum(case when p is null or total > p then 1 else 0 end) over (order by id) as streak
from (select id, total, lag(total) over (order by id) as p from orders) t;

select id, row_number() over (order by id) in (select src from follows) as x,
(select count(*) from follows where dst < 3) = rank() over (order by id) as y from customers;

select src, count(*) over (order by src groups between 1 preceding and 1 following) as n,
sum(dst) over (order by src desc nulls last groups between 2 preceding and 1 preceding) as s
from follows;

select n, count(*) over (order by n) as c, sum(n) over (order by n rows unbounded preceding) as s
from (select src as n from follows union all select dst from follows) t;

with r as (select id, status, rank() over (partition by status order by total) as k from orders)
select status, count(*) as n, max(k) as k from r group by status;

select id, array_agg(status) over w as a, string_agg(status, '-') filter (where total > 3) over w
as b, array_agg(total) filter (where total > 3) over (order by id
rows between 2 preceding and 1 following) as c from orders
window w as (partition by customer_id order by id);

select id, sum(total) over (w groups between 1 preceding and current row exclude current row) as a,
max(total) over (w range between 2 preceding and 2 following exclude group) as b, count(*) over (w
groups between 1 preceding and 1 following exclude ties) as c, min(day) over (w range unbounded
preceding exclude no others) as d from orders window w as (order by total);

select id, last_value(total ignore nulls) over w as a, first_value(day ignore nulls) over w as b,
nth_value(status, 2 ignore nulls) over w as c, lag(total ignore nulls) over (order by id) as d,
lead(day, 2 ignore nulls) over (order by id) as e, lag(total, 1, 7 ignore nulls) over (order by id)
as f, lag(day, 1 respect nulls) over (order by id) as g from orders
window w as (order by id rows between 2 preceding and 3 following);

select id, last_value(total ignore nulls) over (order by id) as a, nth_value(total, 2 ignore nulls)
over (partition by status order by id rows between current row and unbounded following exclude
current row) as b, first_value(total ignore nulls) over (order by id desc rows between unbounded
preceding and 1 preceding) as c from orders;

select id, lag(id, customer_id, -1) over (order by id) as a, lead(total, id % 3) over (partition by
status order by id) as b, nth_value(id, customer_id + 1) over (order by id) as c from orders
where customer_id >= 0;

select id, count(*) over (order by day range between interval '1 month' preceding and interval
'1 month' following) as n, min(id) over (order by day desc nulls last range between interval
'2 months' following and interval '1 year 10 days' following) as m from orders;

select x.id, lead(x.r) over (order by x.id) as n from (select id, row_number() over (order by
total, id) as r from orders) x
"""


@pytest.mark.parametrize("query", QUERIES.split(";"))
@given(given=tables)
@settings(max_examples=8, deadline=None)
def test_a_query_answers_as_in_duckdb(query: str, given: Tables) -> None:
    result = evaluate(compiled(query).node, {name: Counter(rows) for name, rows in given.items()})
    assert not result.errors
    assert normal(result.rows) == judged(query, given)
