"""Which arrangements views share, as the pool tells who uses what."""

from collections.abc import Iterable

from ivm.pool import Pool
from tests.property.shop import CATALOG
from views.compile import compile_view

NAMES = "select c.name, o.total from customers c join orders o on o.customer_id = c.id"
OPEN = (
    "select c.city, o.id from customers c join orders o on o.customer_id = c.id "
    "where o.status = 'open'"
)
LINES = (
    "select c.name, o.day, i.price from customers c, orders o, items i "
    "where o.customer_id = c.id and i.order_id = o.id"
)


def installed(queries: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The arrangements of a pool that maintains `queries` as views a, b, …, and their users."""
    pool = Pool()
    for table in CATALOG.tables:
        pool.create_input(table.name, table.schema, table.key)
    for name, query in zip("abc", queries, strict=False):
        arranged = {info.name for info in pool.arrangements()}
        view = compile_view(query, CATALOG, arranged=arranged)
        pool.install(name, view.node, view.key)
    return {info.name: info.users for info in pool.arrangements()}


def private(arrangements: Iterable[str]) -> set[str]:
    """Those that belong to one view, other than its result."""
    return {n for n in arrangements if "." in n.partition("[")[0] and n.endswith("]")}


def test_views_that_join_by_a_foreign_key_build_its_arrangement_once() -> None:
    users = installed([NAMES, OPEN])
    assert users["orders[customer_id]"] == ("a", "b")
    assert not private(users)


def test_a_foreign_key_that_may_be_null_meets_the_primary_key_as_it_is_arranged() -> None:
    users = installed([NAMES])
    assert [name for name in users if name.startswith("customers")] == ["customers[id]"]
    assert users["customers[id]"] == ("a",)


def test_a_join_of_three_tables_stores_nothing_between_them_where_all_are_arranged() -> None:
    by_order = "select o.id, i.price from orders o join items i on i.order_id = o.id"
    users = installed([NAMES, by_order, LINES])
    assert users["orders[customer_id]"] == ("a", "c")
    assert users["items[order_id]"] == ("b", "c")
    assert not private(users)


def test_a_join_of_three_tables_is_binary_where_an_arrangement_is_missing() -> None:
    assert private(installed([LINES]))


def test_keys_of_a_join_take_the_order_of_the_primary_key() -> None:
    users = installed(
        ["select a.src from follows a join follows b on a.dst = b.dst and a.src = b.src"]
    )
    assert [name for name in users if name.startswith("follows")] == ["follows[src, dst]"]


def test_a_common_table_expression_that_is_read_twice_is_maintained_once() -> None:
    once = "with t as (select customer_id as c, sum(total) as s from orders group by 1) "
    shared = installed([once + "select a.c, a.s, b.s as t from t a join t b on a.c = b.c"])
    assert len(private(shared)) == 1
