"""A reduction in a loop whose keys have long histories: right at every time, and not quadratic."""

import random
from collections.abc import Sequence
from time import perf_counter

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.combinators import reduce
from ivm.dataflow.expressions import Call, Literal
from ivm.dataflow.nodes import Arrange, Iterate, Join, Map, Recursive, Union, columns
from ivm.pool import Pool
from tests.property.engine import EDGES, Change, assert_law, edges

INT = pa.int64()
SPANS = pa.schema([pa.field(name, INT, nullable=False) for name in ("node", "low", "high")])
HUBS, SPOKES, TIMES = 3, 400, 4

source, target = columns(edges)
known = Arrange(Recursive("spans", SPANS), (0,))
along = Join(known, Arrange(edges, (0,)), (("node", 3), ("low", 1), ("high", 2)))
# What a key receives descends, so that every value but the first comes out of order.
negative = Call("subtract", (Literal(0, INT), source), INT, False)
own = Map(edges, (("node", target), ("low", negative), ("high", source)))
low = Aggregate("min", 1, "low", INT, False)
high = Aggregate("max", 2, "high", INT, False)
spans = Iterate((("spans", reduce(Union((own, along)), (0,), (low, high))),), "spans")
"""The greatest node from which edges lead to each, and the same with its sign changed."""


def _star(chance: random.Random) -> list[Change]:
    """Spokes to hubs in no order, hubs in a line, and at later times many spokes less and more."""
    changes = [Change("edges", (hub, hub + 1), 0, 1) for hub in range(HUBS)]
    there: list[tuple[int, int]] = []
    for time in range(TIMES):
        chance.shuffle(there)
        gone = chance.choice([0, 3, len(there) // 2, len(there)])
        changes += [Change("edges", edge, time, -1) for edge in there[:gone]]
        there = there[gone:]
        count = chance.choice([1, 5, SPOKES])
        new = [(chance.randrange(100, 10**6), chance.randrange(HUBS)) for _ in range(count)]
        changes += [Change("edges", edge, time, 1) for edge in new]
        there += new
    chance.shuffle(changes)
    return changes


@pytest.mark.parametrize("stops", [[1, 2, 3, 4], [2, 4], [4]], ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_long_histories_keep_the_law(seed: int, stops: Sequence[int]) -> None:
    assert_law(spans, _star(random.Random(seed)), stops)


def _feed(pool: Pool, sources: Sequence[int], diff: int) -> float:
    """Seconds that it takes to insert or remove spokes of hub 0."""
    rows = pa.RecordBatch.from_pydict({"src": list(sources), "dst": [0] * len(sources)}, EDGES)
    began = perf_counter()
    pool.feed("edges", rows, np.full(len(sources), diff, np.int64), pool.frontier)
    pool.advance(pool.frontier + 1)
    return perf_counter() - began


def test_many_changes_of_a_hot_key_move_its_history_once() -> None:
    pool, size, many = Pool(), 100_000, 3_000
    pool.create_input("edges", EDGES, ["src", "dst"])
    pool.install("spans", spans, ["node"])
    _feed(pool, range(1, size), 1)
    chosen = random.Random(0).sample(range(1, size), many)
    one = min(_feed(pool, [1], diff) for diff in (-1, 1, -1, 1, -1, 1))
    together = min(_feed(pool, chosen, diff) for diff in (-1, 1, -1, 1))
    assert together < many / 10 * one
