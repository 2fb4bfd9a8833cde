"""Views share the arrangements of tables, whatever their recursive columns are declared as."""

import numpy as np
import pyarrow as pa
import pytest

from ivm.pool import Pool
from ivm.results import Installed
from views.catalog import Catalog, Language, Table
from views.compile import compile_view

INT = pa.int64()
EDGES = pa.schema([pa.field(name, INT, nullable=False) for name in ("src", "dst")])
CATALOG = Catalog([Table("e", EDGES, ("src", "dst"))], [])


@pytest.fixture
def pool() -> Pool:
    made = Pool()
    made.create_input("e", EDGES, ["src", "dst"])
    put(made, "hops", "SELECT a.src, b.dst FROM e a JOIN e b ON a.dst = b.src")
    return made


def put(pool: Pool, name: str, query: str, language: Language = "sql") -> Installed:
    arranged = {info.name for info in pool.arrangements()}
    view = compile_view(query, CATALOG, None, arranged, language)
    return pool.install(name, view.node, view.key)


def feed(pool: Pool, edges: list[tuple[int, int]], time: int, diff: int = 1) -> None:
    ends = [pa.array([edge[i] for edge in edges], INT) for i in (0, 1)]
    rows = pa.record_batch(ends, schema=EDGES)
    pool.feed("e", rows, np.full(len(edges), diff, np.int64), time)
    pool.advance(time + 1)


def rows(pool: Pool, name: str) -> set[tuple[object, ...]]:
    return {tuple(row.values()) for row in pool.scan(name).rows.to_pylist()}


REACH = (
    "WITH MUTUALLY RECURSIVE r(a bigint, b bigint) AS (SELECT src, dst FROM e UNION "
    "{more}SELECT r.a, e.dst FROM r JOIN e ON {on}) SELECT a, b FROM r"
)


@pytest.mark.parametrize("on", ["r.b = e.src", "e.src = r.b"])
def test_a_declared_column_joins_the_arrangement_of_a_table(pool: Pool, on: str) -> None:
    installed = put(pool, "reach", REACH.format(more="", on=on))
    assert "e[src]" in installed.reused
    assert installed.created == ("reach[a, b]",)
    feed(pool, [(1, 2), (2, 3)], 0)
    assert rows(pool, "reach") == {(1, 2), (2, 3), (1, 3)}


def test_a_null_in_a_declared_column_meets_nothing_and_stays_a_row(pool: Pool) -> None:
    put(pool, "reach", REACH.format(more="SELECT 9, NULL UNION ", on="r.b = e.src"))
    feed(pool, [(1, 2), (2, 9)], 0)
    assert rows(pool, "reach") == {(1, 2), (2, 9), (1, 9), (9, None)}
    feed(pool, [(2, 9)], 1, -1)
    assert rows(pool, "reach") == {(1, 2), (9, None)}


def test_two_declared_columns_join_the_primary_key(pool: Pool) -> None:
    query = (
        "WITH MUTUALLY RECURSIVE r(a bigint, b bigint) AS (SELECT src, dst FROM e UNION "
        "SELECT r.b, r.a FROM r JOIN e ON e.dst = r.b AND e.src = r.a) SELECT a, b FROM r"
    )
    installed = put(pool, "both", query)
    assert installed.created == ("both[a, b]",)
    feed(pool, [(1, 2), (3, 3)], 0)
    assert rows(pool, "both") == {(1, 2), (2, 1), (3, 3)}


def test_rows_without_a_partner_in_a_table_are_those_with_nulls_too(pool: Pool) -> None:
    query = (
        "WITH MUTUALLY RECURSIVE r(a bigint) AS (SELECT src FROM e UNION SELECT NULL), "
        "lone(a bigint) AS (SELECT a FROM r WHERE NOT EXISTS (SELECT 1 FROM e WHERE e.dst = r.a)) "
        "SELECT a FROM lone"
    )
    put(pool, "lone", query)
    feed(pool, [(1, 2), (2, 3)], 0)
    assert rows(pool, "lone") == {(1,), (None,)}
