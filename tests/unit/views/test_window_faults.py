"""What is wrong with a window is said by kind, and at its place."""

import pytest

from tests.property.shop import CATALOG
from views.compile import compile_view
from views.errors import SqlError

OVER_ID = "over (order by id)"

FAULTS = [
    ("select rank() as r from orders", "grouping-error", 8),
    ("select lag(id) as r from orders", "grouping-error", 8),
    ("select id from orders where rank() over (order by id) = 1", "grouping-error", 29),
    ("select sum(rank() over (order by id)) as s from orders", "grouping-error", 12),
    (
        "select rank() over (order by rank() over (order by id)) as r from orders",
        "grouping-error",
        30,
    ),
    ("select id from orders group by id having count(*) over () > 1", "grouping-error", 42),
    ("select abs(id) over () as x from orders", "grouping-error", 8),
    ("select lag(total) over () as l from orders group by day", "grouping-error", 12),
    ("select frobnicate(id) over () as x from orders", "unknown-function", 8),
    ("select sum(id) over w as s from orders", "unknown-table", 8),
    ("select sum(id) over v as s from orders window w as (), v as (v)", "unknown-table", 56),
    ("select id from orders window w as (order by nope)", "unknown-column", 45),
    ("select id from orders window w as (), w as ()", "duplicate-column", 39),
    ("select sum(status) over () as s from orders", "type-mismatch", 12),
    ("select lag(id, 1, status) over () as s from orders", "type-mismatch", 12),
    ("select ntile(0) over () as s from orders", "invalid-literal", 14),
    ("select nth_value(id, 0) over () as s from orders", "invalid-literal", 22),
    ("select lag(id, status) over () as s from orders", "type-mismatch", 16),
    ("select ntile(total) over () as s from orders", "type-mismatch", 14),
    (f"select sum(id) {OVER_ID[:-1]} rows -1 preceding) as s from orders", "invalid-literal", 40),
    (f"select sum(id) {OVER_ID[:-1]} range -1 preceding) as s from orders", "invalid-literal", 41),
    (f"select sum(id) {OVER_ID[:-1]} range 1.5 preceding) as s from orders", "type-mismatch", 40),
    (
        f"select sum(id) {OVER_ID[:-1]} range '1 day' preceding) as s from orders",
        "invalid-literal",
        40,
    ),
    ("select sum(id) over (order by day range 1 preceding) as s from orders", "type-mismatch", 41),
    (
        "select sum(id) over (order by day range '-1 month 1 day' preceding) as s from orders",
        "invalid-literal",
        41,
    ),
    (
        "select sum(id) over (order by status range 'a' preceding) as s from orders",
        "type-mismatch",
        44,
    ),
    ("select sum(id) over (range 1 preceding) as s from orders", "syntax-error", 28),
    (
        "select sum(id) over (order by id, day range 1 preceding) as s from orders",
        "syntax-error",
        45,
    ),
    ("select sum(id) over (groups 1 preceding) as s from orders", "syntax-error", 29),
    (f"select sum(id) {OVER_ID[:-1]} rows 1 following) as s from orders", "syntax-error", 39),
    (
        "select sum(id) over (rows between current row and 1 preceding) as s from orders",
        "syntax-error",
        51,
    ),
    ("select sum(id) over (rows unbounded following) as s from orders", "syntax-error", 8),
]

REFUSED = [
    "select count(distinct id) over () as n from orders",
    "select array_agg(id order by id) over () as n from orders",
    "select sum(id order by id) over () as n from orders",
    "select sum(id) ignore nulls over () as n from orders",
    "select row_number() ignore nulls over () as n from orders",
    "select mode() within group (order by id) over () as n from orders",
    "select sum(id) over (rows id preceding) as n from orders",
    "select sum(id) over (order by id range id preceding) as n from orders",
    "select rank() filter (where id = 1) over () as n from orders",
    "select rank(1) over () as n from orders",
    "select sum(id) over (w partition by id) as n from orders window w as ()",
    "select sum(id) over (w order by id) as n from orders window w as (order by day)",
    "select sum(id) over (w order by id) as n from orders window w as (rows 1 preceding)",
    "with recursive r(id) as (select src from follows union "
    "select rank() over (order by id) from r) select id from r",
]


@pytest.mark.parametrize(("query", "code", "position"), FAULTS)
def test_a_fault_has_a_code_and_a_place(query: str, code: str, position: int | None) -> None:
    with pytest.raises(SqlError) as caught:
        compile_view(query, CATALOG)
    assert (caught.value.code, caught.value.position) == (code, position)


@pytest.mark.parametrize("query", REFUSED)
def test_what_views_do_not_have_is_refused(query: str) -> None:
    with pytest.raises(SqlError) as caught:
        compile_view(query, CATALOG)
    assert caught.value.code == "unsupported"
    assert caught.value.position is not None
