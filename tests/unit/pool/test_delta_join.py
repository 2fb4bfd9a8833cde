"""A delta join in a pool: what it maintains, what it shares, and hydration from what is there."""

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.delta_join import delta_join
from ivm.dataflow.nodes import Get
from ivm.pool import Pool

INT = pa.int64()
EDGES = pa.schema([pa.field("src", INT, nullable=False), pa.field("dst", INT, nullable=False)])
edges = Get("edges", EDGES)
triangles = delta_join(
    (edges, edges, edges), ((0, 4), (1, 2), (3, 5)), (("a", 0), ("b", 1), ("c", 3))
)
three_steps = delta_join((edges, edges, edges), ((1, 2), (3, 4)), (("a", 0), ("b", 5)))


def feed(pool: Pool, rows: list[tuple[int, int]], time: int, diff: int = 1) -> None:
    """Queue `diff` copies of these edges."""
    batch = pa.RecordBatch.from_pylist([{"src": a, "dst": b} for a, b in rows], schema=EDGES)
    pool.feed("edges", batch, np.full(len(rows), diff, np.int64), time)


def found(pool: Pool, name: str) -> list[tuple[int, ...]]:
    """The rows of `name`, ascending."""
    return sorted(tuple(row.values()) for row in pool.scan(name).rows.to_pylist())


@pytest.fixture
def pool() -> Pool:
    """The edges of two triangles that share one, complete up to time 0."""
    pool = Pool()
    pool.create_input("edges", EDGES, ["src", "dst"])
    feed(pool, [(1, 2), (2, 3), (1, 3), (2, 4), (1, 4)], 0)
    pool.advance(1)
    return pool


def test_it_keeps_no_arrangement_beside_those_of_its_inputs_and_its_result(pool: Pool) -> None:
    installed = pool.install("steps", three_steps, ["a", "b"])
    assert set(installed.created) == {"edges[src]", "edges[dst]", "steps[a, b]"}
    held = {info.name for info in pool.arrangements()}
    assert held == {"edges[src, dst]", "edges[src]", "edges[dst]", "steps[a, b]"}


def test_it_shares_the_arrangements_that_are_there(pool: Pool) -> None:
    pool.install("steps", three_steps, ["a", "b"])
    triangle = pool.install("triangles", triangles, ["a"])
    assert triangle.created == ("triangles[a]",)
    assert {"edges[src]", "edges[dst]", "edges[src, dst]"} == set(triangle.reused)


def test_explain_foretells_what_its_installation_makes(pool: Pool) -> None:
    foretold = pool.explain(triangles, ["a"])
    installed = pool.install("triangles", triangles, ["a"])
    assert set(foretold.reused) == set(installed.reused) == {"edges[src, dst]"}
    assert len(foretold.created) == len(installed.created)
    assert set(foretold.created) - {"(new)[a]"} == set(installed.created) - {"triangles[a]"}


@pytest.mark.parametrize("workers", [1, 2])
def test_it_is_hydrated_from_existing_arrangements(workers: int) -> None:
    pool = Pool(workers)
    pool.create_input("edges", EDGES, ["src", "dst"])
    feed(pool, [(1, 2), (2, 3), (1, 3), (2, 4), (1, 4)], 0)
    pool.advance(1)
    pool.install("triangles", triangles, ["a"])
    assert found(pool, "triangles") == [(1, 2, 3), (1, 2, 4)]


def test_one_edge_that_is_new_in_all_relations_makes_each_row_once(pool: Pool) -> None:
    pool.install("steps", three_steps, ["a", "b"])
    pool.drain("steps")
    feed(pool, [(7, 7)], 1)
    pool.advance(2)
    deltas = pool.drain("steps")
    assert deltas.rows.to_pylist() == [{"a": 7, "b": 7}]
    assert deltas.diffs.tolist() == [1]


def test_a_deleted_edge_takes_its_triangles_with_it(pool: Pool) -> None:
    pool.install("triangles", triangles, ["a"])
    feed(pool, [(1, 3)], 1, diff=-1)
    pool.advance(2)
    assert found(pool, "triangles") == [(1, 2, 4)]
