"""Arrangements of sums, some of whose terms lie where they belong."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.nodes import Get, Negate, Node, Union, project
from ivm.pool import Pool

SCHEMA = pa.schema(
    [pa.field("src", pa.int64(), nullable=False), pa.field("dst", pa.int64(), nullable=False)]
)
edges = Get("edges", SCHEMA)
backwards = project(edges, (1, 0))


def _scanned(pool: Pool) -> Counter[tuple[int, int]]:
    snapshot = pool.scan("out")
    found = zip(*snapshot.rows.to_pydict().values(), strict=True)
    return Counter(dict(zip(found, snapshot.counts.tolist(), strict=True)))


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize(("node", "sign"), [
    (Union((edges, backwards)), 1),
    (Union((edges, Negate(backwards))), -1),
])  # fmt: skip
def test_a_sum_is_found_by_key_in_every_shard(node: Node, sign: int, workers: int) -> None:
    chance = np.random.default_rng(3)
    pairs = chance.integers(0, 200, (20_000, 2))
    pool = Pool(workers)
    pool.create_input("edges", SCHEMA, ["src"])
    pool.install("out", node, ["src"])
    batch = pa.RecordBatch.from_arrays([pa.array(c) for c in pairs.T], schema=SCHEMA)
    pool.feed("edges", batch, np.ones(len(pairs), np.int64), 0)
    pool.advance(1)
    expected = Counter(map(tuple, pairs.tolist()))
    for (a, b), count in Counter(map(tuple, pairs.tolist())).items():
        expected[b, a] += sign * count
    assert _scanned(pool) == Counter({row: n for row, n in expected.items() if n != 0})
    there = pool.peek("out", {"src": 7})
    by_end = dict(zip(there.rows.column("dst").to_pylist(), there.counts.tolist(), strict=True))
    assert by_end == {b: n for (a, b), n in expected.items() if a == 7 and n != 0}
