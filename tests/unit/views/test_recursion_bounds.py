"""Bounds of a recursion in memory and time: it ends with the reason, and the others go on."""

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.expressions import Call, Literal
from ivm.dataflow.nodes import (
    Arrange,
    Distinct,
    Get,
    Iterate,
    Join,
    Map,
    Node,
    Recursive,
    Reduce,
    Union,
    columns,
)
from ivm.errors import NoFixedPoint
from ivm.pool import Pool
from views.catalog import Catalog, Table
from views.compile import compile_view

INT = pa.int64()
KEY = pa.field("id", INT, nullable=False)
EDGES = pa.schema([pa.field(name, INT, nullable=False) for name in ("src", "dst")])
WALK = pa.schema([pa.field(name, INT, nullable=False) for name in ("at", "n")])
edges, walk = Get("edges", EDGES), Recursive("walk", WALK)
count = Aggregate("count", None, "n", INT, nullable=False)
per_node = Reduce(edges, (0,), (count,))
NODES = 2_000
MIB = 1 << 20


def _walk(distinct: bool) -> Node:
    """Counts steps along edges, without end where there is a cycle."""
    src, _ = columns(edges)
    start = Map(edges, (("at", src), ("n", Literal(0, INT))))
    pairs = Join(Arrange(walk, (0,)), Arrange(edges, (0,)), (("at", 2), ("n", 1)))
    at, n = columns(pairs)
    onward = Map(pairs, (("at", at), ("n", Call("add", (n, Literal(1, INT)), INT, False))))
    both = Union((start, onward))
    return Iterate((("walk", Distinct(both) if distinct else both),), "walk")


def feed_cycle(pool: Pool, time: int, diff: int = 1) -> None:
    nodes = np.arange(NODES)
    rows = pa.record_batch([pa.array(nodes), pa.array((nodes + 1) % NODES)], schema=EDGES)
    pool.feed("edges", rows, np.full(NODES, diff, np.int64), time)


def pool_of(**bounds: float) -> Pool:
    pool = Pool(1, 10**9, 10**12, **bounds)  # type: ignore[arg-type]
    pool.create_input("edges", EDGES, ["src", "dst"])
    return pool


def resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("distinct", [True, False], ids=["distinct", "all"])
def test_a_counter_over_a_cycle_is_stopped_at_its_bytes(distinct: bool) -> None:
    pool = pool_of(max_recursion_bytes=64 * MIB)
    pool.install("per_node", per_node, ["src"])
    pool.install("endless", _walk(distinct), ["at"])
    before = resident()
    feed_cycle(pool, 0)
    with pytest.raises(
        NoFixedPoint,
        match=r"endless: no fixed point within 67,108,864 bytes .*: 'walk' changes in round \d+",
    ):
        pool.advance(1)
    assert resident() - before < 500 * MIB
    assert pool.scan("per_node").rows.num_rows == NODES
    feed_cycle(pool, 1, -1)
    pool.advance(2)
    assert pool.scan("per_node").rows.num_rows == 0


def test_a_counter_is_stopped_at_its_bytes_when_it_is_installed() -> None:
    pool = pool_of(max_recursion_bytes=64 * MIB)
    feed_cycle(pool, 0)
    pool.advance(1)
    with pytest.raises(NoFixedPoint, match=r"max_recursion_bytes"):
        pool.install("endless", _walk(True), ["at"])
    assert pool.names == {"edges"}


def test_a_counter_is_stopped_at_its_seconds() -> None:
    pool = pool_of(max_recursion_seconds=0.3)
    pool.install("endless", _walk(True), ["at"])
    feed_cycle(pool, 0)
    began = time.monotonic()
    with pytest.raises(NoFixedPoint, match=r"0.3 seconds, the most that max_recursion_seconds"):
        pool.advance(1)
    assert time.monotonic() - began < 10


def test_a_recursion_that_grows_is_stopped_where_the_process_has_too_many_bytes() -> None:
    pool = pool_of(max_process_bytes=1)
    pool.install("endless", _walk(True), ["at"])
    feed_cycle(pool, 0)
    with pytest.raises(NoFixedPoint, match="max_process_bytes"):
        pool.advance(1)


def test_a_recursion_that_converges_does_not_mind_what_the_process_has() -> None:
    pool = pool_of(max_process_bytes=1)
    a = Recursive("a", EDGES)
    onward = Join(Arrange(a, (1,)), Arrange(edges, (0,)), (("src", 1), ("dst", 2)))
    closure = Iterate((("a", Distinct(Union((edges, onward)))),), "a")
    pool.install("closure", closure, ["src"])
    rows = pa.record_batch([pa.array([1, 2, 3]), pa.array([2, 3, 4])], schema=EDGES)
    pool.feed("edges", rows, np.ones(3, np.int64), 0)
    pool.advance(1)
    assert pool.scan("closure").rows.num_rows == 6


def test_strings_that_grow_in_each_round_count_as_bytes() -> None:
    fields: list[pa.Field[Any]] = [KEY, pa.field("t", pa.string())]
    schema = pa.schema(fields)
    query = (
        "WITH RECURSIVE grown(t) AS (SELECT t FROM texts UNION SELECT t || t FROM grown) "
        "SELECT length(t) AS n FROM grown"
    )
    view = compile_view(query, Catalog([Table("texts", schema, ("id",))], []))
    pool = Pool(max_recursion_bytes=64 * MIB, max_rounds=1_000)
    pool.create_input("texts", schema, ["id"])
    pool.install("grown", view.node, view.key)
    row = pa.record_batch([pa.array([1]), pa.array(["eight and more"])], schema=schema)
    pool.feed("texts", row, np.ones(1, np.int64), 0)
    before = resident()
    with pytest.raises(NoFixedPoint):
        pool.advance(1)
    assert resident() - before < 1024 * MIB


ONE = "one (n bigint) AS (SELECT src FROM edges UNION SELECT n + 1 FROM one WHERE n < {})"
OTHER = "other (n bigint) AS (SELECT src FROM edges UNION SELECT n + 1 FROM other WHERE n < {})"
INNER = (
    "within (n bigint) AS (SELECT n FROM around UNION SELECT n + 1 FROM within) "
    "SELECT n FROM within"
)
AROUND = f"around (n bigint) AS (SELECT src FROM edges UNION (WITH MUTUALLY RECURSIVE {INNER}))"


@pytest.mark.parametrize(
    ("bindings", "result", "changing"),
    [
        (f"{ONE.format(5)}, {OTHER.format(10**9)}", "one NATURAL JOIN other", "other"),
        (f"{ONE.format(10**9)}, {OTHER.format(5)}", "one NATURAL JOIN other", "one"),
        (AROUND, "around", "within"),
    ],
)
def test_the_binding_that_still_changes_is_named_with_its_round(
    bindings: str, result: str, changing: str
) -> None:
    query = f"WITH MUTUALLY RECURSIVE {bindings} SELECT n FROM {result}"
    view = compile_view(query, Catalog([Table("edges", EDGES, ("src", "dst"))]))
    pool = Pool(max_rounds=100)
    pool.create_input("edges", EDGES, ["src", "dst"])
    pool.install("view", view.node, view.key)
    feed_cycle(pool, 0)
    with pytest.raises(NoFixedPoint, match=f"100 rounds, .*: '{changing}' changes in round 100. "):
        pool.advance(1)
