"""Rows go to the shard that owns their key, few handed over by one thread and many by all."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.expressions import Call, Literal
from ivm.dataflow.nodes import (
    Arrange,
    Distinct,
    Filter,
    Get,
    Iterate,
    Join,
    Negate,
    Recursive,
    Reduce,
    Union,
    columns,
)
from ivm.pool import Pool

INT = pa.int64()
PAIRS = pa.schema([pa.field(name, INT, nullable=False) for name in ("a", "b")])
pairs = Get("pairs", PAIRS)
counted = Reduce(pairs, (1,), (Aggregate("count", None, "n", INT, False),))
GROUPS = 11
MANY = 140_000  # updates that threads share
LENGTH = 200


def _pool(workers: int, rows: int) -> Pool:
    pool = Pool(workers)
    pool.create_input("pairs", PAIRS, ["a"])
    pool.install("counted", counted, ["b"])
    _feed(pool, rows, 1)
    return pool


def _feed(pool: Pool, rows: int, diff: int) -> None:
    numbers = np.arange(rows)
    batch = pa.record_batch([pa.array(numbers), pa.array(numbers % GROUPS)], schema=PAIRS)
    pool.feed("pairs", batch, np.full(rows, diff, np.int64), pool.frontier)
    pool.advance(pool.frontier + 1)


def _counts(pool: Pool) -> list[int]:
    """What the shard that owns each group has of it."""
    found = [pool.peek("counted", {"b": b}).rows.column("n") for b in range(GROUPS)]
    return [int(n[0].as_py()) if len(n) else 0 for n in found]


@pytest.mark.parametrize("workers", [2, 3])
@pytest.mark.parametrize("rows", [1, 50, MANY])
def test_each_group_is_where_its_owner_is_looked_for(workers: int, rows: int) -> None:
    pool = _pool(workers, rows)
    assert _counts(pool) == [len(range(b, rows, GROUPS)) for b in range(GROUPS)]


@pytest.mark.parametrize("workers", [2, 3])
def test_what_many_rows_brought_is_taken_out_by_few_and_by_many(workers: int) -> None:
    pool = _pool(workers, MANY)
    _feed(pool, 50, -1)
    _feed(pool, 50, 1)
    _feed(pool, MANY, -1)
    assert _counts(pool) == [0] * GROUPS


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("keys", [1, GROUPS, MANY])
@pytest.mark.parametrize("times", [1, 3])
def test_many_arranged_rows_are_where_they_are_looked_for(
    workers: int, keys: int, times: int
) -> None:
    pool = Pool(workers)
    pool.create_input("pairs", PAIRS, ["b"])
    rows = np.random.default_rng(keys).permutation(2 * MANY)
    batch = pa.record_batch([pa.array(rows), pa.array(rows % keys)], schema=PAIRS)
    fed = np.sort(rows % times).astype(np.uint64)
    pool.feed("pairs", batch, np.where(rows < MANY // 2, 2, 1), fed)
    pool.advance(times)
    for key in range(min(keys, GROUPS)):
        found = pool.peek("pairs", {"b": key})
        counts = zip(found.rows.column("a").to_pylist(), found.counts.tolist(), strict=True)
        expected = {row: 2 if row < MANY // 2 else 1 for row in range(key, 2 * MANY, keys)}
        assert dict(counts) == expected
    assert sum(info.records for info in pool.arrangements()) == 2 * MANY


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("rows", [50, MANY])
def test_what_a_sum_subtracts_is_subtracted_wherever_its_group_is(workers: int, rows: int) -> None:
    above = Call("ge", (columns(pairs)[0], Literal(GROUPS, INT)), pa.bool_(), False)
    first = Union((pairs, Negate(Filter(pairs, above))))
    pool = Pool(workers)
    pool.create_input("pairs", PAIRS, ["a"])
    pool.install("counted", Reduce(first, (1,), counted.aggregates), ["b"])
    _feed(pool, rows, 1)
    assert _counts(pool) == [1] * GROUPS


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_a_chain_is_followed_from_shard_to_shard_one_row_a_round(workers: int) -> None:
    known = Arrange(Recursive("reached", PAIRS), (1,))
    along = Join(known, Arrange(pairs, (0,)), (("a", 1), ("b", 2)))
    first = Filter(pairs, Call("eq", (columns(pairs)[0], Literal(0, INT)), pa.bool_(), False))
    reached = Iterate((("reached", Distinct(Union((first, along)))),), "reached")
    pool = Pool(workers)
    pool.create_input("pairs", PAIRS, ["a"])
    pool.install("reached", reached, ["b"])
    _link(pool, range(LENGTH), 1)
    assert pool.scan("reached").rows.num_rows == LENGTH
    _link(pool, [LENGTH // 2], -1)
    assert pool.scan("reached").rows.num_rows == LENGTH // 2
    _link(pool, [LENGTH // 2], 1)
    assert pool.peek("reached", {"b": LENGTH}).rows.to_pylist() == [{"a": 0, "b": LENGTH}]


def _link(pool: Pool, nodes: Sequence[int], diff: int) -> None:
    """Edges from each of `nodes` to the next one."""
    ends = [pa.array(nodes, INT), pa.array([node + 1 for node in nodes], INT)]
    batch = pa.record_batch(ends, schema=PAIRS)
    pool.feed("pairs", batch, np.full(len(nodes), diff, np.int64), pool.frontier)
    pool.advance(pool.frontier + 1)
