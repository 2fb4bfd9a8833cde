"""What is wrong with a window of time is said by kind, at its place, with what to write instead."""

import re

import pytest

from tests.property.shop import CATALOG
from views.compile import compile_view
from views.errors import SqlError

FAULTS = [
    ("select * from tumble(orders, day)", "type-mismatch", "table, time, size, offset"),
    ("select * from tumble(orders)", "syntax-error", "a table, its column of time"),
    ("select * from hop(orders, day, '1 day')", "type-mismatch", "table, time, hop, size, offset"),
    ("select * from session(orders, day, '1 day', '1 day')", "type-mismatch", "table, time, gap"),
    ("select * from tumble(orders, total, '1 day')", "type-mismatch", "dates or moments"),
    ("select * from tumble(orders, nope, '1 day')", "unknown-column", "nope"),
    ("select * from tumble(nope, day, '1 day')", "unknown-table", "nope"),
    ("select * from tumble(orders, day, 3)", "type-mismatch", "the size of TUMBLE"),
    ("select * from tumble(orders, day, interval '0 days')", "invalid-literal", "above 0"),
    ("select * from hop(orders, day, '-1 day', '1 day')", "invalid-literal", "the hop of HOP"),
    ("select * from session(orders, day, '0')", "invalid-literal", "the gap of SESSION"),
    ("select * from tumble(orders, day, '1 month')", "unsupported", "date_trunc"),
    ("select * from tumble(orders, day, '1 day', '1 month')", "unsupported", "date_trunc"),
    ("select * from tumble(orders partition by status, day, '1 day')", "unsupported", "group by"),
    ("select * from tumble(orders, day, day - day)", "type-mismatch", "the size of TUMBLE"),
    ("select count(*) from orders group by tumble(day, interval '1' day)", "unsupported", "FROM"),
    ("select hop(orders, day, '1 day') from orders", "unsupported", "FROM HOP(table"),
    (
        "select sum(id) over (session with gap '1 day') as s from orders",
        "type-mismatch",
        "ORDER BY",
    ),
    (
        "select sum(id) over (order by total session with gap '1 day') as s from orders",
        "type-mismatch",
        "dates or moments",
    ),
    (
        "select sum(id) over (order by day session with gap '0 days') as s from orders",
        "invalid-literal",
        "the gap of a session",
    ),
]


@pytest.mark.parametrize(("query", "code", "said"), FAULTS)
def test_a_fault_has_a_code_a_place_and_a_remedy(query: str, code: str, said: str) -> None:
    with pytest.raises(SqlError, match=re.escape(said)) as caught:
        compile_view(query, CATALOG)
    assert caught.value.code == code
    assert caught.value.position is not None


@pytest.mark.parametrize("alias", ["", " as w"])
def test_the_columns_are_those_of_the_table_and_then_those_of_the_window(alias: str) -> None:
    name = "w" if alias else "orders"
    query = f"select {name}.* from hop(orders, day, '1 day', '2 days'){alias}"
    names = compile_view(query, CATALOG).node.schema.names
    assert names == [*CATALOG["orders"].schema.names, "window_start", "window_end"]


def test_the_words_are_names_elsewhere() -> None:
    query = "select id as hop, status as session from orders as tumble where tumble.id = 1"
    assert compile_view(query, CATALOG).node.schema.names == ["hop", "session"]
