"""The groups that an aggregate makes at once of an arrangement that was there before it."""

from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.nodes import Get, Reduce
from ivm.pool import Pool

NUMBER = pa.int64()
SCHEMA = pa.schema([pa.field(name, NUMBER, nullable=False) for name in ("key", "val")])
SUMS = Reduce(
    Get("rows", SCHEMA),
    (0,),
    (
        Aggregate("count", None, "count", NUMBER, False),
        Aggregate("sum", 1, "sum", NUMBER, False),
    ),
)
workers = pytest.mark.parametrize("workers", [1, 2, 3])


class _Rows:
    """The rows of a pool's input, and what their groups' counts and sums are."""

    def __init__(self, workers: int) -> None:
        self.pool = Pool(workers)
        self.pool.create_input("rows", SCHEMA, ["key"])
        self.counts: Counter[tuple[int, int]] = Counter()

    def change(self, rows: NDArray[np.int64], diffs: NDArray[np.int64]) -> None:
        batch = pa.RecordBatch.from_arrays([pa.array(c) for c in rows.T], schema=SCHEMA)
        self.pool.feed("rows", batch, diffs, self.pool.frontier)
        self.pool.advance(self.pool.frontier + 1)
        for (key, val), diff in zip(rows.tolist(), diffs.tolist(), strict=True):
            self.counts[key, val] += diff

    def insert(self, rows: NDArray[np.int64]) -> None:
        self.change(rows, np.ones(len(rows), np.int64))

    def remove(self, rows: NDArray[np.int64]) -> None:
        self.change(rows, np.full(len(rows), -1))

    def sums(self) -> dict[int, tuple[int, int]]:
        groups: dict[int, tuple[int, int]] = defaultdict(lambda: (0, 0))
        for (key, val), n in self.counts.items():
            groups[key] = groups[key][0] + n, groups[key][1] + n * val
        return {key: found for key, found in groups.items() if found[0] > 0}


class _Sums:
    """What the deltas of the installed sums amount to."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.rows: Counter[tuple[int, int, int]] = Counter()
        pool.install("sums", SUMS, None)

    def read(self) -> dict[int, tuple[int, int]]:
        deltas = self.pool.drain("sums")
        for row, diff in zip(
            zip(*deltas.rows.to_pydict().values(), strict=True), deltas.diffs.tolist(), strict=True
        ):
            self.rows[row] += diff
        assert set(self.rows.values()) <= {0, 1}
        return {key: (count, sum_) for (key, count, sum_), n in self.rows.items() if n == 1}


def _pairs(seed: int, n: int, keys: int) -> NDArray[np.int64]:
    chance = np.random.default_rng(seed)
    return np.stack([chance.integers(0, keys, n), chance.integers(-9, 9, n)], axis=1)


@workers
def test_groups_whose_rows_lie_in_several_batches_are_whole(workers: int) -> None:
    rows = _Rows(workers)
    rows.insert(_pairs(1, 3_000, 500))
    rows.insert(_pairs(2, 200, 600))
    rows.insert(_pairs(3, 7, 600))
    assert _Sums(rows.pool).read() == rows.sums()


@workers
def test_groups_whose_rows_have_all_gone_again_are_not_there(workers: int) -> None:
    rows = _Rows(workers)
    all_rows = _pairs(1, 3_000, 500)
    rows.insert(all_rows)
    rows.remove(all_rows[all_rows[:, 0] % 3 == 0])
    sums = _Sums(rows.pool)
    assert sums.read() == rows.sums()
    assert min(sums.rows.values()) == 1


@workers
def test_groups_with_more_removed_than_inserted_come_with_later_rows(workers: int) -> None:
    rows = _Rows(workers)
    rows.insert(_pairs(1, 100, 20))
    owed = np.array([[3, 1], [30, 5], [31, 6]] * 40)
    rows.remove(owed)
    sums = _Sums(rows.pool)
    assert sums.read() == rows.sums()
    rows.insert(np.concatenate([owed, owed[1:]]))
    assert sums.read() == rows.sums()


@workers
def test_first_groups_are_found_by_what_changes_them(workers: int) -> None:
    rows = _Rows(workers)
    all_rows = _pairs(1, 5_000, 700)
    rows.insert(all_rows)
    sums = _Sums(rows.pool)
    sums.read()
    rows.remove(all_rows[:4_000])
    rows.insert(_pairs(4, 1_000, 900))
    assert sums.read() == rows.sums()
    rows.remove(all_rows[4_000:])
    assert sums.read() == rows.sums()
