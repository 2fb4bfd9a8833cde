"""Load keys into an arrangement, then update them in rounds, with a count by group beside it.

The workload `arrange` of K-Pg: rows of two 64-bit words, one update in place for each changed
key (its old row out, its new row in), a closed loop of rounds.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ivm.dataflow import Aggregate, Get, Reduce
from ivm.pool import Pool

SCHEMA = pa.schema(
    [pa.field("key", pa.int64(), nullable=False), pa.field("group", pa.int64(), nullable=False)]
)
GROUPS = 1_000


@dataclass(frozen=True, slots=True)
class Measure:
    """`updates` changes of rows that took `seconds` from being fed to being complete."""

    stage: str
    updates: int
    seconds: float


def measure(keys: int, rounds: int, per_round: int, seed: int = 0) -> Iterator[Measure]:
    """Measure the load of `keys` rows, a count over them, and `rounds` rounds of changed keys."""
    random = np.random.default_rng(seed)
    groups = random.integers(0, GROUPS, keys)
    pool = Pool()
    pool.create_input("rows", SCHEMA, ["key"])

    began = perf_counter()
    _feed(pool, np.arange(keys), groups, 1, time=0)
    pool.advance(1)
    yield Measure("load and arrange", keys, perf_counter() - began)

    began = perf_counter()
    count = Aggregate("count", None, "count", pa.int64(), nullable=False)
    pool.install("counts", Reduce(Get("rows", SCHEMA), (1,), (count,)), ["group"])
    yield Measure("install a count by group", keys, perf_counter() - began)

    changed = [random.choice(keys, per_round, replace=False) for _ in range(rounds)]
    regrouped = random.integers(0, GROUPS, (rounds, per_round))
    began = perf_counter()
    for time, (at, new) in enumerate(zip(changed, regrouped, strict=True), start=1):
        _feed(pool, at, groups[at], -1, time)
        groups[at] = new
        _feed(pool, at, new, 1, time)
        pool.advance(time + 1)
    yield Measure(f"rounds of {per_round:,} keys", 2 * rounds * per_round, perf_counter() - began)


def _feed(
    pool: Pool, keys: NDArray[np.int64], groups: NDArray[np.int64], diff: int, time: int
) -> None:
    rows = pa.RecordBatch.from_arrays([pa.array(keys), pa.array(groups)], schema=SCHEMA)
    pool.feed("rows", rows, np.full(len(keys), diff, dtype=np.int64), time)
