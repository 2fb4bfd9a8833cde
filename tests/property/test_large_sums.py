"""Sums of so many rows that they are read by pieces: of few groups and many, ordered or not."""

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.combinators import reduce
from ivm.dataflow.nodes import FlatMap, Get
from ivm.pool import Pool
from tests.property.engine import edges

INT = pa.int64()
ROWS = 150_000
Rows = NDArray[np.int64]

counts = [Aggregate("count", None, "rows", INT, False), Aggregate("sum", 1, "total", INT, True)]


def _keys(kind: str, chance: np.random.Generator) -> Rows:
    match kind:
        case "one large among small":
            return np.where(chance.random(ROWS) < 0.6, 7, chance.integers(0, ROWS, ROWS))
        case "few":
            return chance.integers(0, 5, ROWS)
        case _:
            return chance.integers(0, ROWS, ROWS)


def _feed(pool: Pool, rows: Rows, diff: int, time: int | NDArray[np.uint64]) -> None:
    batch = pa.RecordBatch.from_arrays([pa.array(c) for c in rows.T], schema=edges.schema)
    pool.feed(edges.name, batch, np.full(len(rows), diff, np.int64), time)


def _summed(pool: Pool, name: str) -> dict[int, tuple[int, int]]:
    key, rows, total = (c.to_numpy().tolist() for c in pool.scan(name).rows.columns)
    return {k: (r, t) for k, r, t in zip(key, rows, total, strict=True)}


def _truth(there: Rows, key: int) -> dict[int, tuple[int, int]]:
    keys, place = np.unique(there[:, key], return_inverse=True)
    total = np.zeros(len(keys), np.int64)
    np.add.at(total, place, there[:, 1])
    rows = np.bincount(place)
    return {int(k): (int(r), int(t)) for k, r, t in zip(keys, rows, total, strict=True)}


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("kind", ["one large among small", "few", "many"])
def test_sums_by_the_arrangements_key_and_by_another_column_are_right(
    kind: str, workers: int
) -> None:
    chance = np.random.default_rng(3)
    there = np.stack([_keys(kind, chance), chance.integers(0, 3000, ROWS)], axis=1)
    pool = Pool(workers)
    pool.create_input(edges.name, edges.schema, edges.schema.names[:1])
    views = {
        f"by {key} {when}": key for key in (0, 1) for when in ("from the start", "installed late")
    }

    def install(when: str) -> None:
        for name, key in views.items():
            if name.endswith(when):
                source = Get(edges.name, edges.schema)
                pool.install(
                    name, reduce(source, (key,), counts), edges.schema.names[key : key + 1]
                )

    install("from the start")
    _feed(pool, there, 1, 0)
    pool.advance(1)
    more = np.stack([_keys(kind, chance), chance.integers(0, 3000, ROWS)], axis=1)
    _feed(pool, more, 1, np.arange(1, ROWS + 1, dtype=np.uint64) // (ROWS // 3) + 1)
    pool.advance(5)
    install("installed late")
    both = np.concatenate([there, more])
    for name, key in views.items():
        assert _summed(pool, name) == _truth(both, key), name

    chance.shuffle(both)
    gone, kept = np.split(both, [len(both) * 3 // 4])
    _feed(pool, gone, -1, 5)
    pool.advance(6)
    for name, key in views.items():
        assert _summed(pool, name) == _truth(kept, key), name


@pytest.mark.parametrize("key", [(), (0,)])
def test_a_large_group_has_one_sum_at_a_time(key: tuple[int, ...]) -> None:
    seen: list[int | None] = []

    def see(rows: pa.RecordBatch) -> tuple[pa.RecordBatch, Rows]:
        seen.extend(rows["total"].to_pylist())
        return rows, np.arange(rows.num_rows)

    there = np.stack([np.full(ROWS, 7), np.arange(ROWS)], axis=1)
    pool = Pool()
    pool.create_input(edges.name, edges.schema, edges.schema.names[:1])
    sums = reduce(Get(edges.name, edges.schema), key, counts)
    pool.install("seen", FlatMap(sums, see, sums.schema), sums.schema.names[:1])
    _feed(pool, there, 1, 0)
    pool.advance(1)
    assert seen == [int(there[:, 1].sum())]
