"""Joins of a few keys with many, where keys are sought by probes, against recomputation."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.nodes import Arrange, Get, Join
from ivm.pool import Pool

SCHEMA = pa.schema([pa.field(name, pa.int64(), nullable=False) for name in ("a", "b", "val")])
OUTPUTS = (("a", 0), ("b", 1), ("left", 2), ("right", 3))
Rows = list[tuple[int, int, int]]


def joined(left: Rows, right: Rows) -> Counter[tuple[int, ...]]:
    partners: dict[tuple[int, int], list[int]] = {}
    for a, b, val in right:
        partners.setdefault((a, b), []).append(val)
    return Counter((a, b, val, w) for a, b, val in left for w in partners.get((a, b), ()))


def feed(pool: Pool, name: str, rows: Rows, diff: int, time: int) -> None:
    columns = [pa.array(column, pa.int64()) for column in zip(*rows, strict=True)]
    batch = pa.RecordBatch.from_arrays(columns, schema=SCHEMA)
    pool.feed(name, batch, np.full(len(rows), diff, np.int64), time)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("few", ["left", "right"])
def test_a_few_changes_meet_their_partners_among_many(few: str, workers: int) -> None:
    many = "right" if few == "left" else "left"
    rows: dict[str, Rows] = {
        many: [(i // 3, i % 7, i % 2) for i in range(30_000)],
        few: [(i, i % 7, 5) for i in range(-5, 11_000, 97)],
    }
    pool = Pool(workers)
    for name in rows:
        pool.create_input(name, SCHEMA, ["a", "b", "val"])
    node = Join(
        Arrange(Get("left", SCHEMA), (0, 1)), Arrange(Get("right", SCHEMA), (0, 1)), OUTPUTS
    )
    pool.install("joined", node, ["a", "b"])
    feed(pool, many, rows[many], 1, 0)
    feed(pool, few, rows[few], 1, 1)
    feed(pool, few, rows[few][::2], -1, 2)
    for time in range(3):
        pool.advance(time + 1)
        if time == 1:
            assert _scanned(pool) == joined(rows["left"], rows["right"])
    rows[few] = rows[few][1::2]
    assert _scanned(pool) == joined(rows["left"], rows["right"])


def _scanned(pool: Pool) -> Counter[tuple[int, ...]]:
    snapshot = pool.scan("joined")
    rows = zip(*snapshot.rows.to_pydict().values(), strict=True)
    return Counter(dict(zip(rows, snapshot.counts.tolist(), strict=True)))
