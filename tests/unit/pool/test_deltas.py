"""Deltas wait for whoever takes them, few as rows and many as the batches they came in."""

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.nodes import Get
from ivm.pool import Pool

TYPES: list[tuple[str, pa.DataType]] = [("id", pa.int64()), ("text", pa.string())]
SCHEMA = pa.schema(TYPES)
FEW, MANY = 100, 10_000


def _texts(count: int, time: int) -> pa.RecordBatch:
    numbers = range(time * count, (time + 1) * count)
    names = [f"a text of more than seven bytes, number {i:09d}" for i in numbers]
    return pa.RecordBatch.from_arrays([pa.array(range(count)), pa.array(names)], schema=SCHEMA)


def _texts_of(rows: pa.RecordBatch) -> list[str]:
    return [str(text) for text in rows.column("text").to_pylist()]


@pytest.fixture(params=[["id"], None], ids=["arranged", "changes alone"])
def pool(request: pytest.FixtureRequest) -> Pool:
    pool = Pool(2)
    pool.create_input("texts", SCHEMA, ["id"])
    pool.install("copy", Get("texts", SCHEMA), request.param)
    return pool


@pytest.mark.parametrize("count", [FEW, MANY])
def test_deltas_of_several_steps_are_taken_together_and_once(pool: Pool, count: int) -> None:
    for time in range(3):
        pool.feed("texts", _texts(count, time), np.ones(count, np.int64), time)
        pool.advance(time + 1)
    deltas = pool.drain("copy")
    assert np.unique(deltas.times, return_counts=True)[1].tolist() == [count] * 3
    assert set(deltas.diffs.tolist()) == {1}
    found = sorted(_texts_of(deltas.rows))
    assert found == [text for time in range(3) for text in _texts_of(_texts(count, time))]
    assert pool.drain("copy").rows.num_rows == 0


def test_a_snapshot_of_much_is_of_the_time_before_the_installation(pool: Pool) -> None:
    for time in range(3):
        pool.feed("texts", _texts(MANY, 0), np.ones(MANY, np.int64), time)
        pool.advance(time + 1)
    pool.install("late", Get("texts", SCHEMA), ["text"])
    deltas = pool.drain("late")
    assert (set(deltas.times.tolist()), set(deltas.diffs.tolist())) == ({2}, {3})
    assert deltas.rows.num_rows == MANY


def test_strings_of_deltas_that_nobody_has_taken_stay(pool: Pool) -> None:
    rounds = 60
    for time in range(rounds):
        rows = _texts(MANY, time)
        pool.feed("texts", rows, np.ones(MANY, np.int64), 2 * time)
        pool.advance(2 * time + 1)
        pool.feed("texts", rows, np.full(MANY, -1, np.int64), 2 * time + 1)
        pool.advance(2 * time + 2)
    found = _texts_of(pool.drain("copy").rows)
    assert len(found) == 2 * rounds * MANY
    there = set(found)
    for time in range(rounds):
        assert there.issuperset(_texts_of(_texts(MANY, time)))
