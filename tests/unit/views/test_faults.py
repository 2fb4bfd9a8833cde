"""What is wrong with a query is said by kind, and at its place."""

import pytest

from tests.property.shop import CATALOG
from views.compile import compile_view
from views.errors import SqlError

FAULTS = [
    ("select id from custumers", "unknown-table", 16),
    ("select idd from customers", "unknown-column", 8),
    ("select c.idd from customers c", "unknown-column", 8),
    ("select x.* from customers c", "unknown-column", 8),
    ("select id from customers order by 7", "unknown-column", 35),
    ("select id from customers join orders using (city)", "unknown-column", 31),
    ("select id from customers c join orders o on c.id = o.id", "ambiguous-column", 8),
    ("select id from customers, customers", "duplicate-column", 27),
    ("select name, count(*) from customers", "grouping-error", 8),
    ("select id from customers where count(*) > 1", "grouping-error", 32),
    ("select max(count(*)) as m from customers", "grouping-error", 12),
    ("select name, count(*) as n from customers group by rollup (city)", "grouping-error", 8),
    ("select name, count(*) as n from customers group by rollup (id)", "grouping-error", 8),
    ("select grouping(name) as g from customers group by city", "grouping-error", 8),
    ("select id from customers where grouping(id) = 0", "grouping-error", 32),
    ("select grouping(city) over () as g from customers group by city", "grouping-error", 8),
    (
        f"select 1 as x from customers group by cube ({', '.join(['id'] * 9)})",
        "query-too-large",
        45,
    ),
    ("select c.id + 1 as x, count(*) as n from customers c group by c.id + 2", "grouping-error", 8),
    ("select sum(name) as s from customers", "type-mismatch", 12),
    ("select id from customers where name = 5", "type-mismatch", 32),
    ("select id from customers where id", "type-mismatch", 32),
    ("select id + name as x from customers", "type-mismatch", 8),
    ("select day * 2 as x from orders", "type-mismatch", 8),
    ("select cast(day as integer) as x from orders", "type-mismatch", 13),
    ("select id from customers union select name from customers", "type-mismatch", 8),
    ("select id from customers where id in (select id, name from customers)", "type-mismatch", 32),
    ("select id from customers where id = 'x'", "invalid-literal", 37),
    ("select date '2024-02-30' as d", "invalid-literal", 13),
    ("select day + interval '1 parsec' as d from orders", "invalid-literal", 23),
    ("select id from customers limit -1", "invalid-literal", 33),
    ("select id from customers limit 9999999999999999999", "invalid-literal", 32),
    ("select id from customers offset 9999999999999999999", "invalid-literal", 33),
    ("select 123456789012345678901234567890123456789 as n", "unsupported", 8),
    ("select replace(name, 'x') as r from customers", "unknown-function", 8),
    (f"select day + interval '{'9' * 40} month' as d from orders", "invalid-literal", 23),
    ("select split_part(name, 'x',) as s from customers", "syntax-error", 29),
    ("select floor() as x from customers", "unknown-function", 19),
    ("select frobnicate(id) as x from customers", "unknown-function", 8),
    ("select id,\n  name,\n  nope\nfrom customers", "unknown-column", 22),
    ("select 1 +", "syntax-error", 10),
    ("selec 1", "syntax-error", 7),
    ("select c.id from customers c join orders o", "syntax-error", 42),
    ("select o.id from orders o " + "left join items " * 100, "syntax-error", 1621),
    ("select (1", "syntax-error", 9),
    ("select id from .customers", "syntax-error", 16),
    ("select id from ..customers", "syntax-error", 16),
    ("select id from public..customers", "syntax-error", 23),
    ("select id from public.customers.", "syntax-error", 32),
    ("select c.id from customers c cross join ..orders", "syntax-error", 41),
    ("select date_trunc() as m from orders", "syntax-error", 19),
    ('select 1 as "\ud800"', "syntax-error", 14),
    ('select 1 as "\0count"', "syntax-error", 14),
    ("select 'abc", "syntax-error", 9),
    ("", "syntax-error", None),
    ("select id, id from customers", "duplicate-column", None),
]

REFUSED = [
    "select substring(name) as s from customers",
    "select now() as x",
    "select id from customers for update",
    "select id from customers tablesample system (1)",
    "select ntile(1) within group (order by id) as r from customers",
    "select every() as e from customers",
    "select json_object_agg() as o from customers",
    "select percentile_cont(null) within group (order by id) as p from customers",
    "select count(*) as n from customers group by rollup ()",
    "select count(*) as n from customers group by all",
    "select id::xml as x from customers",
    "select count(distinct id, name) as n from customers",
    "insert into customers select 1",
    "select 1; select 2",
    "create table t (a int)",
    "with recursive r(id) as (select src from follows union select max(id) from r) "
    "select id from r",
    "with recursive r(id) as (select src from follows union "
    "select f.src from follows f where not exists (select 1 from r where r.id = f.dst)) "
    "select id from r",
    "with recursive r(id) as (select src from follows union all "
    "select a.id from r a join r b on a.id = b.id) select id from r",
    "with recursive r(id) as (select src from follows union "
    "(select id from r order by id limit 1)) select id from r",
]


@pytest.mark.parametrize(("query", "code", "position"), FAULTS)
def test_a_fault_has_a_code_and_a_place(query: str, code: str, position: int | None) -> None:
    with pytest.raises(SqlError) as caught:
        compile_view(query, CATALOG)
    assert (caught.value.code, caught.value.position) == (code, position)


def test_a_place_is_also_a_line_and_a_column() -> None:
    with pytest.raises(SqlError) as caught:
        compile_view("select id,\n  name,\n  nope\nfrom customers", CATALOG)
    assert (caught.value.line, caught.value.column) == (3, 3)
    assert str(caught.value).endswith("(line 3, column 3)")


def test_an_unknown_name_is_answered_with_near_ones() -> None:
    with pytest.raises(SqlError, match="did you mean 'customers'"):
        compile_view("select id from custumers", CATALOG)


@pytest.mark.parametrize("query", REFUSED)
def test_what_views_do_not_have_is_refused(query: str) -> None:
    with pytest.raises(SqlError) as caught:
        compile_view(query, CATALOG)
    assert caught.value.code == "unsupported"
