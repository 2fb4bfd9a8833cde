"""Changes of a few groups among many: they are sought by probes, against recomputation."""

from collections import Counter
from collections.abc import Callable, Iterable

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.delta_join import delta_join
from ivm.dataflow.nodes import Distinct, Get, Node, Reduce
from ivm.pool import Pool

NUMBER = pa.int64()
SCHEMA = pa.schema([pa.field(name, NUMBER, nullable=False) for name in ("src", "dst")])
edges = Get("edges", SCHEMA)
LARGEST = Reduce(edges, (0,), (Aggregate("max", 1, "largest", NUMBER, False),))
STEPS = delta_join((edges, edges, edges), ((1, 2), (3, 4)), (("a", 0), ("b", 5)))
NODES = 3_000

Rows = Counter[tuple[int, int]]


def largest(rows: Rows) -> Rows:
    found: dict[int, int] = {}
    for src, dst in rows:
        found[src] = max(dst, found.get(src, dst))
    return Counter(dict.fromkeys(found.items(), 1))


def steps(rows: Rows) -> Rows:
    after: dict[int, Rows] = {}
    for (src, dst), n in rows.items():
        after.setdefault(src, Counter())[src, dst] += n
    found: Rows = Counter()
    for (a, b), n in rows.items():
        for (_, c), m in after.get(b, Counter()).items():
            for (_, d), k in after.get(c, Counter()).items():
                found[a, d] += n * m * k
    return found


VIEWS: dict[str, tuple[Node, Callable[[Rows], Rows]]] = {
    "distinct": (Distinct(edges), lambda rows: Counter(dict.fromkeys(rows, 1))),
    "max": (LARGEST, largest),
    "delta join": (STEPS, steps),
}


def change(pool: Pool, rows: Rows, pairs: Iterable[tuple[int, int]], diff: int) -> None:
    listed = list(pairs)
    columns = [pa.array(column, NUMBER) for column in zip(*listed, strict=True)]
    batch = pa.RecordBatch.from_arrays(columns, schema=SCHEMA)
    pool.feed("edges", batch, np.full(len(listed), diff, np.int64), pool.frontier)
    pool.advance(pool.frontier + 1)
    for pair in listed:
        rows[pair] += diff


def scanned(pool: Pool) -> Rows:
    snapshot = pool.scan("view")
    found = zip(*snapshot.rows.to_pydict().values(), strict=True)
    return Counter(dict(zip(found, snapshot.counts.tolist(), strict=True)))


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("few", [1, 9, 40, 150])
@pytest.mark.parametrize("name", VIEWS)
def test_a_few_changed_groups_are_right(name: str, few: int, workers: int) -> None:
    node, expected = VIEWS[name]
    chance = np.random.default_rng(few)
    pool = Pool(workers)
    pool.create_input("edges", SCHEMA, ["src"])
    pool.install("view", node, ["a" if name == "delta join" else "src"])
    rows: Rows = Counter()
    there = [(int(a), int(b)) for a, b in chance.integers(0, NODES, (5_000, 2))]
    change(pool, rows, there, 1)
    change(pool, rows, there[:few], -1)
    fresh = [(int(a), int(b)) for a, b in chance.integers(-5, NODES + 5, (few, 2))]
    change(pool, rows, fresh, 1)
    change(pool, rows, there[few : 2 * few], -1)
    assert scanned(pool) == expected(+rows)
