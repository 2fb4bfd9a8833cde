"""A recursion whose rounds bring hundreds of thousands of rows at once, to keys in no order."""

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.combinators import reduce
from ivm.dataflow.expressions import Call, Literal
from ivm.dataflow.nodes import Arrange, Get, Iterate, Join, Map, Recursive, Union, columns
from ivm.pool import Pool
from tests.property.engine import edges

INT = pa.int64()
NODES, DEGREE = 50_000, 16
DISTANCES = pa.schema([pa.field(name, INT, nullable=False) for name in ("node", "distance")])

Pairs = NDArray[np.int64]

known = Arrange(Recursive("distances", DISTANCES), (0,))
along = Join(known, Arrange(edges, (0,)), (("node", 2), ("distance", 1)))
roots = Get("roots", DISTANCES)
node, distance = columns(along)
longer = Call("add", (distance, Literal(1, INT)), INT, False)
proposed = Map(along, (("node", node), ("distance", longer)))
least = Aggregate("min", 1, "distance", INT, False)
distances = Iterate((("distances", reduce(Union((roots, proposed)), (0,), (least,))),), "distances")
"""The fewest edges from a root to each node."""


def _feed(pool: Pool, source: Get, rows: Pairs, diff: int) -> None:
    columns = [pa.array(column) for column in rows.T]
    batch = pa.RecordBatch.from_arrays(columns, schema=source.schema)
    pool.feed(source.name, batch, np.full(len(rows), diff, np.int64), pool.frontier)


def _maintained(pool: Pool) -> dict[int, int]:
    node, distance = (column.to_numpy().tolist() for column in pool.scan("distances").rows.columns)
    return dict(zip(node, distance, strict=True))


def _level_by_level(there: Pairs) -> dict[int, int]:
    found, level = np.full(NODES, -1), 0
    found[0] = 0
    while (found == level).any():
        reached = there[found[there[:, 0]] == level, 1]
        level += 1
        found[reached[found[reached] < 0]] = level
    return {int(node): int(found[node]) for node in np.flatnonzero(found >= 0)}


def _loaded(workers: int) -> tuple[Pool, Pairs]:
    chance = np.random.default_rng(5)
    there = np.unique(chance.integers(0, NODES, (NODES * DEGREE, 2)), axis=0)
    chance.shuffle(there)
    pool = Pool(workers)
    for source in (edges, roots):
        pool.create_input(source.name, source.schema, source.schema.names)
    pool.install("distances", distances, ["node"])
    _feed(pool, roots, np.zeros((1, 2), np.int64), 1)
    _feed(pool, edges, there, 1)
    pool.advance(pool.frontier + 1)
    return pool, there


def _histories(pool: Pool) -> int:
    return sum(i.bytes for i in pool.arrangements() if i.name.endswith("(histories)"))


@pytest.mark.parametrize("workers", [1, 2])
def test_distances_are_right_after_large_rounds_and_changes_of_many_edges(workers: int) -> None:
    pool, there = _loaded(workers)
    assert _maintained(pool) == _level_by_level(there)

    gone, kept = np.split(there, [len(there) * 3 // 4])
    _feed(pool, edges, gone, -1)
    pool.advance(pool.frontier + 1)
    assert _maintained(pool) == _level_by_level(kept)


def test_the_memory_of_histories_is_given_back_when_most_of_them_shrink() -> None:
    pool, there = _loaded(1)
    held = _histories(pool)
    gone, kept = np.split(there, [len(there) * 7 // 8])
    _feed(pool, edges, gone, -1)
    pool.advance(pool.frontier + 1)
    assert _histories(pool) < held // 2
    assert _maintained(pool) == _level_by_level(kept)
