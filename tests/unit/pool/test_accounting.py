"""`Pool.arrangements`: what operators hold beside arrangements is counted, and given back."""

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
from ivm.pool import Pool
from ivm.results import ArrangementInfo

INT = pa.int64()
EDGES = pa.schema([pa.field("src", INT, nullable=False), pa.field("dst", INT, nullable=False)])
edges = Get("edges", EDGES)
LINE = 300


def _reached() -> Node:
    known = Arrange(Recursive("reached", EDGES), (1,))
    along = Join(known, Arrange(edges, (0,)), (("src", 1), ("dst", 2)))
    return Iterate((("reached", Distinct(Union((edges, along)))),), "reached")


def _depths() -> Node:
    known = Arrange(Recursive("depths", EDGES), (0,))
    along = Join(known, Arrange(edges, (0,)), (("src", 2), ("depth", 1)))
    node, depth = columns(along)
    deeper = Call("add", (depth, Literal(1, INT)), INT, False)
    proposed = Map(along, (("src", node), ("dst", deeper)))
    least = Aggregate("min", 1, "dst", INT, False)
    roots = Map(edges, (("src", Literal(0, INT)), ("dst", Literal(0, INT))))
    return Iterate((("depths", Reduce(Union((roots, proposed)), (0,), (least,))),), "depths")


counts = Reduce(edges, (0,), (Aggregate("count", None, "n", INT, False),))
least = Reduce(edges, (0,), (Aggregate("min", 1, "dst", INT, False),))


def _pool(*, insert_only: bool = False) -> Pool:
    pool = Pool()
    pool.create_input("edges", EDGES, ["src"], insert_only=insert_only)
    return pool


def _feed(pool: Pool, src: list[int], dst: list[int], diff: int = 1) -> None:
    rows = pa.RecordBatch.from_pydict({"src": src, "dst": dst}, EDGES)
    pool.feed("edges", rows, np.full(len(src), diff, np.int64), pool.frontier)
    pool.advance(pool.frontier + 1)


def _line(pool: Pool, diff: int = 1) -> None:
    _feed(pool, list(range(LINE)), list(range(1, LINE + 1)), diff)


def _account(pool: Pool, name: str) -> ArrangementInfo:
    (info,) = (info for info in pool.arrangements() if info.name == name)
    return info


def test_merged_layers_hold_no_times_of_a_step_that_is_over() -> None:
    pool, count = _pool(), 1000
    for first in (0, count):
        places = np.arange(first, first + count)
        rows = pa.RecordBatch.from_pydict({"src": places, "dst": places}, EDGES)
        pool.feed("edges", rows, np.ones(count, np.int64), places.astype(np.uint64))
        pool.advance(first + count)
    assert _account(pool, "edges[src]").bytes < 2 * count * 16 + 500


def test_the_rows_that_a_recursion_over_a_growing_input_knows_are_counted() -> None:
    pool = _pool(insert_only=True)
    pool.install("out", _reached(), ["src"])
    _line(pool)
    known = _account(pool, "out[src] (known rows)")
    assert known.records == LINE * (LINE + 1) // 2
    assert known.bytes >= known.records * 16
    assert known.users == ("out",)


def test_the_groups_of_a_count_are_counted() -> None:
    pool = _pool()
    pool.install("out", counts, ["src"])
    _line(pool)
    assert _account(pool, "out[src] (groups)").records == LINE


def test_the_histories_of_a_reduction_in_a_loop_are_counted_and_given_back() -> None:
    pool = _pool()
    pool.install("out", _depths(), ["src"])
    _line(pool)
    held = _account(pool, "out[src] (histories)")
    assert held.records == LINE + 1
    assert held.bytes >= held.records * 8 * 4
    _line(pool, -1)
    assert _account(pool, "out[src] (histories)").records == 0


def test_a_history_whose_changes_cancel_takes_no_more_memory_than_what_is_left() -> None:
    size, toggles = 2_000, 41
    pool = _pool()
    pool.install("out", _depths(), ["src"])
    rows = pa.RecordBatch.from_pydict({"src": [0] * size, "dst": list(range(size))}, EDGES)
    for time in range(toggles):
        diffs = np.full(size, 1 if time % 2 == 0 else -1, np.int64)
        pool.feed("edges", rows, diffs, pool.frontier + time)
    pool.advance(pool.frontier + toggles)
    held = _account(pool, "out[src] (histories)")
    assert held.bytes < size * toggles * 8 * 4 // 2


def test_the_ranking_of_a_large_group_is_counted_and_given_back() -> None:
    pool, size = _pool(), 2_000
    pool.install("out", least, ["src"])
    _feed(pool, [0] * size, list(range(size)))
    for value in range(100):  # walks that pass ever more values that are gone
        _feed(pool, [0], [value], -1)
    ranked = _account(pool, "out[src] (rankings)")
    assert ranked.records == size - 100
    assert ranked.bytes >= ranked.records * 16
    _feed(pool, [0] * (size - 100), list(range(100, size)), -1)
    assert _account(pool, "out[src] (rankings)").records == 0


@pytest.mark.parametrize("node", [_depths(), counts, least], ids=["depths", "counts", "least"])
def test_what_is_dropped_is_not_counted_any_more(node: Node) -> None:
    pool = _pool()
    before = {info.name for info in pool.arrangements()}
    pool.install("out", node, ["src"])
    _line(pool)
    pool.drop("out")
    assert {info.name for info in pool.arrangements()} == before
