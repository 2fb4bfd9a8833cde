"""Joins with more pairs than are held at once, which a map evaluates while they come."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.expressions import Call, Literal
from ivm.dataflow.nodes import Arrange, Filter, Get, Join, Map, Node, Union, columns, project
from ivm.pool import Pool

INT = pa.int64()
LEAST = 30
SCHEMA = pa.schema([pa.field(name, INT, nullable=False) for name in ("key", "val")])

rows = Arrange(Get("rows", SCHEMA), (0,))
pairs = Join(rows, rows, (("key", 0), ("left", 1), ("right", 2)))
key, left, right = columns(pairs)
sums = Map(pairs, (("key", key), ("sum", Call("add", (left, right), INT, False))))
large = Filter(sums, Call("lt", (Literal(LEAST, INT), columns(sums)[1]), pa.bool_(), False))
both = Union((large, project(pairs, (0, 1))))


def _large(values: range) -> Counter[tuple[int, int]]:
    return Counter((0, a + b) for a in values for b in values if a + b > LEAST)


def _both(values: range) -> Counter[tuple[int, int]]:
    return _large(values) + Counter({(0, a): len(values) for a in values})


def _feed(pool: Pool, values: range, diff: int) -> None:
    batch = pa.RecordBatch.from_pydict({"key": [0] * len(values), "val": list(values)}, SCHEMA)
    pool.feed("rows", batch, np.full(len(values), diff, np.int64), pool.frontier)
    pool.advance(pool.frontier + 1)


def _scanned(pool: Pool) -> Counter[tuple[int, int]]:
    snapshot = pool.scan("out")
    found = zip(*snapshot.rows.to_pydict().values(), strict=True)
    return Counter(dict(zip(found, snapshot.counts.tolist(), strict=True)))


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    "width", [32, 64, 70]
)  # 32 * 32 are as many pairs as are evaluated at once
@pytest.mark.parametrize(("node", "expected"), [(large, _large), (both, _both)])
def test_all_pairs_are_evaluated_whoever_else_reads_them(
    node: Node,
    expected: Callable[[range], Counter[tuple[int, int]]],
    width: int,
    workers: int,
) -> None:
    pool = Pool(workers)
    pool.create_input("rows", SCHEMA, ["key"])
    pool.install("out", node, ["key"])
    _feed(pool, range(width), 1)
    assert _scanned(pool) == expected(range(width))
    _feed(pool, range(width // 2, width), -1)
    assert _scanned(pool) == expected(range(width // 2))


def test_a_pair_that_cannot_be_evaluated_is_an_error_and_all_others_are_there() -> None:
    product = Call("multiply", (left, right), INT, False)
    pool = Pool()
    pool.create_input("rows", SCHEMA, ["key"])
    pool.install("out", Map(pairs, (("key", key), ("product", product))), ["key"])
    huge, small = 2**62, range(2, 70)
    _feed(pool, small, 1)
    _feed(pool, range(huge, huge + 1), 1)
    errors = pool.drain("out")
    assert sum(_scanned(pool).values()) == len(small) ** 2
    assert sum(errors.error_diffs) == 2 * len(small) + 1
    _feed(pool, range(huge, huge + 1), -1)
    assert sum(pool.drain("out").error_diffs) == -(2 * len(small) + 1)


def test_a_join_goes_on_when_a_map_of_its_pairs_is_dropped() -> None:
    again = Join(Arrange(pairs, (0,)), rows, (("key", 0), ("val", 3)))
    pool = Pool()
    pool.create_input("rows", SCHEMA, ["key"])
    pool.install("mapped", Union((again, sums)), ["key"])
    pool.install("out", again, ["key"])
    _feed(pool, range(8), 1)
    pool.drop("mapped")
    for last in range(8, 12):
        _feed(pool, range(last, last + 1), 1)
    assert _scanned(pool) == Counter({(0, value): 12**2 for value in range(12)})
