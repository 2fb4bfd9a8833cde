"""Memory of what is retracted is given back: histories of loops, and states of groups."""

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.nodes import (
    Arrange,
    Distinct,
    Get,
    Iterate,
    Join,
    Map,
    Recursive,
    Reduce,
    Union,
    columns,
)
from ivm.pool import Pool

INT = pa.int64()
PAIRS = pa.schema([pa.field(name, INT, nullable=False) for name in ("a", "b")])
SEEDS = pa.schema([pa.field("s", INT, nullable=False)])
edges, seeds, reached = Get("edges", PAIRS), Get("seeds", SEEDS), Recursive("reached", PAIRS)
(seed,) = columns(seeds)
onward = Join(Arrange(reached, (1,)), Arrange(edges, (0,)), (("a", 1), ("b", 2)))
start = Map(seeds, (("a", seed), ("b", seed)))
paths = Iterate((("reached", Distinct(Union((start, onward)))),), "reached")
NODES, QUERIES = 300, 200


class Paths:
    """What each of many standing queries reaches on a cycle, and how much of it."""

    def __init__(self, workers: int) -> None:
        self.pool = Pool(workers)
        self.pool.create_input("edges", PAIRS, ["a", "b"])
        self.pool.create_input("seeds", SEEDS, ["s"])
        self.pool.install("paths", paths, ["a", "b"])
        self.time = 0
        nodes = np.arange(NODES)
        rows = pa.record_batch([pa.array(nodes), pa.array((nodes + 1) % NODES)], schema=PAIRS)
        self.pool.feed("edges", rows, np.ones(NODES, np.int64), 0)

    def change(self, queries: range, diff: int) -> None:
        rows = pa.record_batch([pa.array([*queries], INT)], schema=SEEDS)
        self.pool.feed("seeds", rows, np.full(len(queries), diff, np.int64), self.time)
        self.time += 1
        self.pool.advance(self.time)
        self.pool.drain("paths")

    def state_bytes(self) -> int:
        return sum(info.bytes for info in self.pool.arrangements() if "(" in info.name)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("at_once", [QUERIES, 10])
def test_histories_of_a_loop_give_memory_back_once_its_rows_are_retracted(
    at_once: int, workers: int
) -> None:
    made = Paths(workers)
    made.change(range(QUERIES), 1)
    loaded = made.state_bytes()
    assert loaded > 4 << 20
    for first in range(0, QUERIES, at_once):
        made.change(range(first, first + at_once), -1)
    assert made.state_bytes() < loaded // 20


def test_histories_that_stay_keep_what_they_need_and_no_more() -> None:
    made = Paths(1)
    made.change(range(QUERIES), 1)
    loaded = made.state_bytes()
    for first in range(10, QUERIES, 10):
        made.change(range(first, first + 10), -1)
    assert made.state_bytes() < loaded // 4
    assert made.pool.scan("paths").rows.num_rows == 10 * NODES
    made.change(range(10, QUERIES), 1)
    assert made.pool.scan("paths").rows.num_rows == QUERIES * NODES
    made.change(range(QUERIES), -1)
    assert made.pool.scan("paths").rows.num_rows == 0


@pytest.mark.parametrize("workers", [1, 2])
def test_groups_at_the_root_give_memory_back_and_count_on(workers: int) -> None:
    groups = 50_000
    pool = Pool(workers)
    pool.create_input("edges", PAIRS, ["a", "b"])
    count = Aggregate("count", None, "n", INT, nullable=False)
    pool.install("counts", Reduce(edges, (1,), (count,)), ["b"])
    rows = np.arange(groups)
    time = 0

    def change(some: np.ndarray[tuple[int], np.dtype[np.int64]], diff: int) -> None:
        nonlocal time
        batch = pa.record_batch([pa.array(some), pa.array(some)], schema=PAIRS)
        pool.feed("edges", batch, np.full(len(some), diff, np.int64), time)
        time += 1
        pool.advance(time)
        pool.drain("counts")

    def held() -> int:
        return sum(info.bytes for info in pool.arrangements() if "(" in info.name)

    change(rows, 1)
    loaded = held()
    for part in np.array_split(rows[100:], 10):
        change(part, -1)
    assert held() < loaded // 10
    change(rows[:50], 1)
    change(rows[100:200], 1)
    found = pool.scan("counts").rows.to_pylist()
    assert {row["b"]: row["n"] for row in found} == {i: 2 if i < 50 else 1 for i in range(200)}
