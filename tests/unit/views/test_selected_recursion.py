"""A condition on what a recursion passes on is tested where the recursion begins."""

import pytest

from ivm.pool import Pool
from tests.property.shop import CATALOG, Row, feed
from views.compile import compile_view

FORWARD = (
    "WITH RECURSIVE path (x, y) AS (SELECT src, dst FROM follows UNION "
    "SELECT p.x, f.dst FROM path p JOIN follows f ON f.src = p.y) "
)
BACKWARD = (
    "WITH RECURSIVE path (x, y) AS (SELECT src, dst FROM follows UNION "
    "SELECT f.src, p.y FROM path p JOIN follows f ON f.dst = p.x) "
)
LEAST = (
    "WITH MUTUALLY RECURSIVE path (x bigint, y bigint, n bigint) AS ("
    "SELECT x, y, min(n) FROM (SELECT src AS x, dst AS y, 1 AS n FROM follows UNION ALL "
    "SELECT p.x, f.dst, p.n + 1 FROM path p JOIN follows f ON f.src = p.y) AS step "
    "GROUP BY x, y) "
)
SHORT: list[Row] = [(1, 2), (2, 3)]
LONG: list[Row] = [(i, i + 1) for i in range(100, 140)]


def held(query: str, follows: list[Row]) -> int:
    """The updates in the arrangements of a view, those inside its loops too."""
    view, pool = compile_view(query, CATALOG), Pool()
    for table in CATALOG.tables:
        pool.create_input(table.name, table.schema, table.key)
    pool.install("view", view.node, view.key)
    empty: dict[str, list[Row]] = {table.name: [] for table in CATALOG.tables}
    feed(pool, empty, {"follows": follows}, 0)
    return sum(i.records for i in pool.arrangements() if i.name.startswith("view"))


@pytest.mark.parametrize(
    "query",
    [
        FORWARD + "SELECT y FROM path WHERE x = 1",
        BACKWARD + "SELECT x FROM path WHERE y = 3",
        FORWARD + "SELECT p.y FROM path p WHERE p.x < 3 AND p.y > 1",
        LEAST + "SELECT y, n FROM path WHERE x = 1",
    ],
)
def test_rows_that_nobody_asks_for_are_not_derived(query: str) -> None:
    assert held(query, SHORT + LONG) == held(query, SHORT)


@pytest.mark.parametrize(
    "query",
    [
        FORWARD + "SELECT x FROM path WHERE y = 3",
        LEAST + "SELECT x FROM path WHERE y = 3",
        LEAST + "SELECT x FROM path WHERE n = 2",
    ],
)
def test_rows_that_others_follow_from_are_derived(query: str) -> None:
    assert held(query, SHORT + LONG) > held(query, SHORT) + 500
