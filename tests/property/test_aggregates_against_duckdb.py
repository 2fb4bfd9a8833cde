"""Aggregates and grouping sets mean what DuckDB says they mean."""

from collections import Counter
from functools import cache

import pytest
from hypothesis import given, settings

from tests.oracle import evaluate
from tests.property.shop import CATALOG, Tables, judged, normal, tables
from views.compile import compile_view

compiled = cache(lambda query: compile_view(query, CATALOG))

GROUPING_SETS = """
select segment, city, count(*) as n from customers group by rollup (segment, city);

select segment, city, count(*) as n, grouping(segment, city) as g from customers
group by cube (segment, city);

select status, sum(total) as s, grouping(status) as g from orders
group by grouping sets ((status), (), (status));

select status, customer_id, day, max(total) as m from orders
group by rollup (status, (customer_id, day));

select status, customer_id, count(*) as n from orders group by status, grouping sets
((customer_id), ());

select status, upper(status) as u, count(*) as n from orders group by rollup (status, 2);

select status, customer_id, count(*) as n from orders group by cube (status), cube (customer_id);

select city, count(*) as n from customers where id > 100 group by rollup (city);

select city from customers where id > 100 group by rollup (city);

select count(*) as n from customers where id > 100 group by ();

select city, count(distinct segment) as n, sum(id) as s, sum(distinct id) as d from customers
group by rollup (city) having count(*) > 1 or grouping(city) = 1;

select coalesce(city, 'all') as c, sum(id) filter (where segment = 'gold') as s from customers
group by rollup (city);

select c.city, o.status, sum(o.total) as s from customers c join orders o on o.customer_id = c.id
group by rollup (c.city, o.status) having c.city = 'rome' or o.status is null;

select * from (select city, segment, count(*) as n from customers group by cube (city, segment)) t
where city = 'rome';

select city, (select count(*) from orders o where o.status = c.city) as n from customers c
group by rollup (city);

select city, rank from (select city, n, row_number() over (partition by grouping(city) order by
n desc, city) as rank from (select city, count(*) as n from customers group by rollup (city)) t
group by city, n) u where rank = 1;

select sum(id) as s, city is null as x from customers group by grouping sets ((city is null), ());
"""

IN_ORDER = """
select segment, array_agg(city order by city desc nulls last, id) as a from customers
group by segment;

select array_agg(id order by name nulls first, id desc) as a, array_agg(id order by id) as b
from customers;

select segment, array_agg(distinct city order by city) as a from customers group by segment;

select array_agg(distinct total order by total desc nulls last) as a from orders;

select status, array_agg(total order by id) filter (where total > 5) as a, count(*) as n
from orders group by status;

select array_agg(city order by id) filter (where id > 100) as a from customers;

select segment, string_agg(name, ', ' order by id) as a, string_agg(city, '' order by id) as b,
count(*) as n from customers group by segment;

select string_agg(distinct city, '-' order by city desc) as a from customers;

select string_agg(city, ',' order by id) filter (where segment = 'gold') as a from customers
group by rollup (name);

select status, arg_max(id, total) as a, arg_min(total, id) as b from orders group by status
having count(*) = count(distinct total);

select max_by(id, id) as a, min_by(status, id) filter (where total > 5) as b from orders;

select status, mode() within group (order by customer_id) as m from orders group by status
having count(distinct customer_id) <= 1;

select mode() within group (order by city) as m from customers where id = 1;

select status, percentile_cont(0.25) within group (order by total::double) as a,
percentile_disc(0.5) within group (order by day desc) as b, avg(total) as c from orders
group by status;

select percentile_cont(1) within group (order by quantity desc) as a,
percentile_disc(0.75) within group (order by price) filter (where quantity > 1) as b from items;

select bool_and(total > 3) as a, sum(total order by id) as s from orders;

select status, (select string_agg(c.city, ',' order by c.id) from customers c
where c.id = o.customer_id) as cities from orders o;

select name, any_value(id) as a from customers group by name having count(*) = 1;
"""

BITS = """
select status, bit_and(id) as a, bit_or(customer_id) as o, bit_xor(id) as x from orders
group by status;

select bit_xor(distinct customer_id) as x, bit_or(distinct id) filter (where total > 5) as o,
bit_and(-customer_id) as a from orders;

select id, bit_xor(customer_id) over (partition by status order by id) as x, bit_and(id) over (order
by id rows between 2 preceding and current row) as a from orders;
"""


@pytest.mark.parametrize("query", (GROUPING_SETS + IN_ORDER + BITS).split(";")[:-1])
@given(given=tables)
@settings(max_examples=8, deadline=None)
def test_a_query_answers_as_in_duckdb(query: str, given: Tables) -> None:
    result = evaluate(compiled(query).node, {name: Counter(rows) for name, rows in given.items()})
    assert not result.errors
    assert normal(result.rows) == judged(query, given)
