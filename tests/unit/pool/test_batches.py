"""The batches of an input: what a checkpoint writes down, each of them once."""

import gc
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ivm.errors import UnknownCollection
from ivm.pool import Pool
from ivm.runtime.export import SealedBatch

FIELDS: list[pa.Field] = [
    pa.field("id", pa.int64(), nullable=False),
    pa.field("name", pa.string()),
    pa.field("tags", pa.list_(pa.string())),
]
SCHEMA = pa.schema(FIELDS)


def pool_of(workers: int) -> Pool:
    pool = Pool(workers)
    pool.create_input("people", SCHEMA, ["id"])
    return pool


def feed(pool: Pool, ids: range, diff: int = 1, name: str = "a name of some length") -> None:
    rows = [{"id": n, "name": name if n % 3 else None, "tags": [f"tag {n}"]} for n in ids]
    diffs = np.full(len(rows), diff, np.int64)
    pool.feed("people", pa.RecordBatch.from_pylist(rows, SCHEMA), diffs, pool.frontier)
    pool.advance(pool.frontier + 1)


def contents(batches: list[SealedBatch], at_once: int = 100) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for batch in batches:
        for rows, diffs in batch.rows(at_once):
            assert rows.schema == SCHEMA
            assert 0 < rows.num_rows <= at_once
            for row, diff in zip(rows.to_pylist(), diffs.tolist(), strict=True):
                found[repr(row)] += diff
    return Counter({row: n for row, n in found.items() if n})


def scanned(pool: Pool) -> Counter[Any]:
    snapshot = pool.scan("people")
    rows = map(repr, snapshot.rows.to_pylist())
    return Counter(dict(zip(rows, snapshot.counts.tolist(), strict=True)))


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("at_once", [1, 7, 10_000])
def test_batches_add_up_to_the_rows(workers: int, at_once: int) -> None:
    pool = pool_of(workers)
    feed(pool, range(500))
    feed(pool, range(100, 300), -1)
    feed(pool, range(400, 450))
    assert contents(pool.batches("people"), at_once) == scanned(pool)


def test_a_batch_that_lives_on_keeps_its_serial_and_a_new_one_has_another() -> None:
    pool = pool_of(1)
    feed(pool, range(5_000))
    before = {batch.serial for batch in pool.batches("people")}
    feed(pool, range(5_000, 5_010))
    after = {batch.serial for batch in pool.batches("people")}
    assert before < after
    assert len(after) == 2


def test_nothing_is_appended_to_a_batch_that_was_written_down() -> None:
    pool = pool_of(1)
    for first in range(0, 100_000, 20_000):
        feed(pool, range(first, first + 20_000))
    before, batches = scanned(pool), pool.batches("people")
    feed(pool, range(100_000, 100_010))
    assert {batch.serial for batch in batches} < {batch.serial for batch in pool.batches("people")}
    assert contents(batches, 10_000) == before


def test_a_batch_is_read_as_it_was_though_the_pool_goes_on() -> None:
    pool = pool_of(1)
    feed(pool, range(200))
    before, batches = scanned(pool), pool.batches("people")
    for _ in range(50):
        feed(pool, range(200), -1)
        feed(pool, range(200), 1, "something else of some length")
    assert contents(batches) == before


def test_a_batch_keeps_its_strings() -> None:
    pool = pool_of(1)
    rows = [{"id": n, "name": f"{n:0100}", "tags": None} for n in range(1_000)]
    batch = pa.RecordBatch.from_pylist(rows, SCHEMA)
    pool.feed("people", batch, np.ones(1_000, np.int64), 0)
    pool.advance(1)
    before, batches = scanned(pool), pool.batches("people")
    pool.drop_input("people")
    pool.create_input("people", SCHEMA, ["id"])
    feed(pool, range(300_000), name="x" * 100)
    assert contents(batches) == before


def test_an_empty_input_has_no_batches() -> None:
    pool = pool_of(2)
    assert pool.batches("people") == []
    pool.advance(1)
    assert pool.batches("people") == []


def test_only_inputs_have_batches() -> None:
    with pytest.raises(UnknownCollection, match="no input 'nobody'"):
        pool_of(1).batches("nobody")


def test_a_batch_may_go_with_a_cycle_of_references() -> None:
    """As one of an exception's frames may, which hold the exception."""
    pool = pool_of(1)
    feed(pool, range(5))
    cycle: list[Any] = [pool.batches("people")]
    cycle.append(cycle)
    del cycle
    gc.collect()
    assert contents(pool.batches("people")) == scanned(pool)
