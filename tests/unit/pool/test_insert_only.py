"""Inputs that only grow: what they refuse, and least times in recursion over them."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.nodes import Arrange, Distinct, Get, Iterate, Join, Recursive, Union
from ivm.errors import InsertOnly
from ivm.pool import Pool

INT = pa.int64()
EDGES = pa.schema([pa.field("src", INT, nullable=False), pa.field("dst", INT, nullable=False)])
NODE = pa.schema([pa.field("node", INT, nullable=False)])
edges, starts = Get("edges", EDGES), Get("starts", NODE)
_step = Join(Arrange(Recursive("x", NODE), (0,)), Arrange(edges, (0,)), (("node", 1),))
reach = Iterate((("x", Distinct(Union((starts, _step)))),), "x")


def feed(pool: Pool, name: str, rows: list[tuple[int, ...]], time: int, diff: int = 1) -> None:
    """Queue `diff` copies of each row."""
    schema = {"edges": EDGES, "starts": NODE}[name]
    batch = pa.RecordBatch.from_pylist(
        [dict(zip(schema.names, row, strict=True)) for row in rows], schema=schema
    )
    pool.feed(name, batch, np.full(len(rows), diff, np.int64), time)


def changes(pool: Pool) -> set[tuple[Any, int, int]]:
    """What `reach` has put out: node, time, diff."""
    deltas = pool.drain("reach")
    nodes = deltas.rows.column("node").to_pylist()
    return set(zip(nodes, deltas.times.tolist(), deltas.diffs.tolist(), strict=True))


@pytest.fixture
def pool() -> Pool:
    """What is reachable from node 0, before any edge."""
    pool = Pool()
    pool.create_input("edges", EDGES, ["src", "dst"], insert_only=True)
    pool.create_input("starts", NODE, ["node"], insert_only=True)
    pool.install("reach", reach, ["node"])
    feed(pool, "starts", [(0,)], 0)
    return pool


def test_a_deletion_is_refused_and_nothing_is_queued(pool: Pool) -> None:
    rows = pa.RecordBatch.from_pylist([{"src": 0, "dst": i} for i in (1, 2)], schema=EDGES)
    with pytest.raises(InsertOnly, match="'edges' only grows"):
        pool.feed("edges", rows, np.array([1, -1], np.int64), 0)
    pool.advance(1)
    assert pool.scan("edges").rows.num_rows == 0


def test_a_row_found_again_in_a_later_round_at_an_earlier_time_belongs_there(pool: Pool) -> None:
    feed(pool, "edges", [(0, 3)], 5)
    feed(pool, "edges", [(3, 4)], 6)
    feed(pool, "edges", [(0, 1), (1, 2), (2, 3)], 1)
    pool.advance(10)
    assert changes(pool) == {(0, 0, 1), (1, 1, 1), (2, 1, 1), (3, 1, 1), (4, 6, 1)}


def test_what_is_known_changes_no_more(pool: Pool) -> None:
    feed(pool, "edges", [(0, 1), (1, 2), (2, 3)], 0)
    pool.advance(1)
    changes(pool)
    feed(pool, "edges", [(0, 3), (1, 0), (3, 5)], 1)
    pool.advance(2)
    assert changes(pool) == {(5, 1, 1)}


@pytest.mark.parametrize("through_a_view", [False, True])
@pytest.mark.parametrize("distinct", [False, True])
def test_rounds_count_from_the_step_on_not_from_the_first_derivation(
    through_a_view: bool, distinct: bool
) -> None:
    pool = Pool(max_rounds=20)
    pool.create_input("edges", EDGES, ["src", "dst"], insert_only=True)
    pool.create_input("starts", NODE, ["node"], insert_only=True)
    over = starts
    if through_a_view:
        pool.install("views", starts, ["node"])
        over = Get("views", NODE)
    body = Union((over, _step))
    whole = Iterate((("x", Distinct(body) if distinct else body),), "x")
    pool.install("reach", whole, ["node"])
    feed(pool, "starts", [(0,)], 0)
    for time in range(10):
        feed(pool, "edges", [(i, i + 1) for i in range(10 * time, 10 * time + 10)], time)
        pool.advance(time + 1)
    assert pool.scan("reach").rows.num_rows == 101
