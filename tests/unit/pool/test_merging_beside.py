"""What helpers merge beside the steps is taken over by later ones, whatever these are about."""

from time import monotonic

import numpy as np
import pyarrow as pa
import pytest

from ivm.pool import Pool

MANY, ONE = 100_000, np.ones(1, np.int64)
PATIENCE = 60  # seconds
SCHEMA = pa.schema([pa.field("k", pa.int64(), nullable=False)])


def rows(first: int, count: int) -> pa.RecordBatch:
    """So many keys, each of which comes after one of those of another `first`."""
    return pa.record_batch([pa.array(range(first, first + 16 * count, 16))], schema=SCHEMA)


def loaded(workers: int, batches: int) -> Pool:
    """A pool with a large input, which came in several batches, and a small one."""
    pool = Pool(workers)
    for name in ("large", "small"):
        pool.create_input(name, SCHEMA, ["k"])
    for time in range(batches):
        pool.feed("large", rows(time, MANY), np.ones(MANY, np.int64), time)
        pool.advance(time + 1)
    return pool


@pytest.mark.parametrize("workers", [2, 3])
def test_an_input_that_comes_to_rest_is_merged_while_others_go_on(workers: int) -> None:
    pool = loaded(workers, 4)
    time, end = 4, monotonic() + PATIENCE
    while len(pool.batches("large")) > 1 and monotonic() < end:
        pool.feed("small", rows(time, 1), ONE, time)
        time += 1
        pool.advance(time)
    assert [batch.values for batch in pool.batches("large")] == [4 * MANY]


def test_steps_beside_helpers_see_all_rows() -> None:
    pool = loaded(2, 7)
    for time in range(7, 30):
        pool.feed("large", rows(-time, 1), ONE, time)
        pool.advance(time + 1)
        assert pool.scan("large").rows.num_rows == 7 * MANY + time - 6


def test_what_is_being_merged_may_be_dropped() -> None:
    for batches in range(2, 8):
        pool = loaded(2, batches)
        pool.drop_input("large")
        pool.feed("small", rows(0, 1), ONE, batches)
        pool.advance(batches + 1)
        assert pool.names == {"small"}
