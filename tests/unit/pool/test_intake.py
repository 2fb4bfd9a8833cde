"""Rows that are fed reach the shard of their key: few, and so many that several threads write."""

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from ivm.dataflow.nodes import Get
from ivm.errors import SchemaMismatch
from ivm.pool import Pool

FIELDS: list[pa.Field] = [
    pa.field("id", pa.int64(), nullable=False),
    pa.field("name", pa.string()),
    pa.field("part", pa.int32()),
]
SCHEMA = pa.schema(FIELDS)
HANDFUL, FEW, MANY = 5, 50, 40_000  # so many of one time queue without times and diffs
KEYS = [["id"], ["name"], ["part", "name"]]

Rows = Counter[tuple[Any, ...]]


def batch(count: int, parts: int = 7) -> pa.RecordBatch:
    names = [None if i % 11 == 0 else f"the name of number {i}" for i in range(count)]
    part = [None if i % 13 == 0 else i % parts for i in range(count)]
    columns: list[pa.Array[Any]] = [pa.array(range(count)), pa.array(names)]
    columns.append(pa.array(part, pa.int32()))
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def pool_of(workers: int, key: list[str]) -> Pool:
    pool = Pool(workers)
    pool.create_input("people", SCHEMA, key)
    return pool


def counted(rows: pa.RecordBatch, counts: NDArray[np.int64]) -> Rows:
    columns = [column.to_pylist() for column in rows.columns]
    return Counter(dict(zip(zip(*columns, strict=True), counts.tolist(), strict=True)))


@pytest.mark.parametrize("count", [HANDFUL, FEW, MANY])
@pytest.mark.parametrize("key", KEYS, ids="-".join)
@pytest.mark.parametrize("workers", [2, 3])
def test_each_row_is_found_by_its_key(workers: int, key: list[str], count: int) -> None:
    pool, rows = pool_of(workers, key), batch(count)
    pool.feed("people", rows, np.ones(count, np.int64), 0)
    pool.advance(1)
    ones = np.ones(count, np.int64)
    snapshot = pool.scan("people")
    assert counted(snapshot.rows, snapshot.counts) == counted(rows, ones)
    for at in range(0, count, max(count // FEW, 1)):
        wanted = {name: rows.column(name)[at].as_py() for name in key}
        found = pool.peek("people", wanted).rows.to_pylist()
        assert rows.slice(at, 1).to_pylist()[0] in found


def test_rows_that_all_belong_to_one_shard_arrive() -> None:
    pool, rows, ones = pool_of(2, ["part"]), batch(MANY, parts=1), np.ones(MANY, np.int64)
    pool.feed("people", rows, ones, 0)
    pool.advance(1)
    snapshot = pool.scan("people")
    assert counted(snapshot.rows, snapshot.counts) == counted(rows, ones)


@pytest.mark.parametrize("count", [HANDFUL, FEW])
def test_a_row_that_is_taken_back_in_the_same_step_is_not_there(count: int) -> None:
    pool, rows, ones = pool_of(2, ["id"]), batch(MANY), np.ones(MANY, np.int64)
    pool.feed("people", rows, ones, 0)
    pool.feed("people", rows.slice(MANY - count), -ones[:count], 0)
    pool.advance(1)
    snapshot = pool.scan("people")
    kept = MANY - count
    assert counted(snapshot.rows, snapshot.counts) == counted(rows.slice(0, kept), ones[:kept])


@pytest.mark.parametrize("count", [FEW, MANY])
def test_a_step_takes_the_rows_that_came_before_its_end_and_leaves_the_others(count: int) -> None:
    pool, rows, ones = pool_of(2, ["id"]), batch(count), np.ones(count, np.int64)
    times = np.arange(count, dtype=np.uint64)
    pool.feed("people", rows, ones, times)
    for end in (count // 3, count):
        pool.advance(end)
        snapshot = pool.scan("people")
        assert counted(snapshot.rows, snapshot.counts) == counted(rows.slice(0, end), ones[:end])


@pytest.mark.parametrize("order", [1, -1], ids=["ascending", "descending"])
def test_each_row_changes_the_view_at_its_own_time(order: int) -> None:
    pool, rows = pool_of(2, ["id"]), batch(MANY)
    pool.install("copy", Get("people", SCHEMA), ["id"])
    times = np.sort(np.arange(MANY, dtype=np.uint64) // 100)[::order].copy()
    pool.feed("people", rows, np.ones(MANY, np.int64), times)
    pool.feed("people", rows, -np.ones(MANY, np.int64), times + np.uint64(1))
    pool.advance(MANY)
    deltas = pool.drain("copy")
    found = zip(deltas.rows.column("id").to_pylist(), deltas.times.tolist(), strict=True)
    ids = range(MANY)
    came = dict(zip(ids, times.tolist(), strict=True))
    expected = [(i, came[i], 1) for i in ids] + [(i, came[i] + 1, -1) for i in ids]
    assert sorted((i, t, d) for (i, t), d in zip(found, deltas.diffs.tolist(), strict=True)) == (
        sorted(expected)
    )


@pytest.mark.parametrize("order", [1, -1], ids=["ascending", "descending"])
def test_rows_fed_one_time_after_another_change_the_view_at_theirs(order: int) -> None:
    pool, rows, ones = pool_of(2, ["id"]), batch(FEW), np.ones(FEW // 5, np.int64)
    pool.install("copy", Get("people", SCHEMA), ["id"])
    for time in range(5)[::order]:
        pool.feed("people", rows.slice(time * FEW // 5, FEW // 5), ones, time)
    seen = []
    for time in range(5):
        pool.advance(time + 1)
        seen += pool.drain("copy").times.tolist()
    assert seen == [time for time in range(5) for _ in range(FEW // 5)]
    assert pool.scan("copy").rows.num_rows == FEW


@pytest.mark.parametrize("count", [FEW, MANY])
def test_of_rows_that_do_not_fit_none_is_queued(count: int) -> None:
    pool, rows, ones = pool_of(2, ["id"]), batch(count), np.ones(count, np.int64)
    pool.feed("people", rows, ones, 0)
    with pytest.raises(SchemaMismatch, match="'ident'"):
        pool.feed("people", rows.rename_columns(["ident", "name", "part"]), ones, 0)
    pool.advance(1)
    snapshot = pool.scan("people")
    assert counted(snapshot.rows, snapshot.counts) == counted(rows, ones)


Feed = tuple[slice, int, int]  # some of the rows, all with one diff, at one time

LOADS: dict[str, list[Feed]] = {
    "at once": [(slice(0, MANY), 1, 0)],
    "in pieces": [(slice(0, MANY), 1, 0), (slice(MANY, 2 * MANY), 1, 0), (slice(5, 9), 1, 0)],
    "with rows twice": [(slice(0, MANY), 1, 0), (slice(0, MANY), 1, 0)],
    "taken back": [(slice(0, MANY), 1, 0), (slice(0, MANY), -1, 0)],
    "taken back later": [(slice(0, MANY), 1, 0), (slice(0, MANY), -1, 1)],
    "after a few": [(slice(0, 3), 1, 0), (slice(0, MANY), 1, 0)],
    "before a few": [(slice(0, MANY), 1, 0), (slice(0, 3), 1, 2), (slice(4, 5), 1, 1)],
    "at two times": [(slice(0, MANY), 1, 1), (slice(MANY, 2 * MANY), 1, 0)],
    "again": [(slice(0, MANY), 1, 0), (slice(MANY, 2 * MANY), 1, 2), (slice(0, MANY), 1, 4)],
    "with diffs": [(slice(0, MANY), 3, 0), (slice(0, MANY), 1, 0)],
}


@pytest.mark.parametrize("feeds", LOADS.values(), ids=LOADS)
@pytest.mark.parametrize("key", KEYS, ids="-".join)
@pytest.mark.parametrize("workers", [1, 2, 3])
def test_a_load_changes_the_view_when_it_is_due(
    workers: int, key: list[str], feeds: list[Feed]
) -> None:
    pool, rows = pool_of(workers, key), batch(2 * MANY)
    pool.install("copy", Get("people", SCHEMA), ["id"])
    for which, diff, time in feeds:
        count = which.stop - which.start
        pool.feed("people", rows.slice(which.start, count), np.full(count, diff), time)
    total: Counter[int] = Counter()
    for end in range(1, 6):
        pool.advance(end)
        for which, diff, time in feeds:
            if time == end - 1:
                for i in range(which.start, which.stop):
                    total[i] += diff
        deltas, snapshot = pool.drain("copy"), pool.scan("copy")
        assert set(deltas.times.tolist()) <= {end - 1}
        found = zip(snapshot.rows.column("id").to_pylist(), snapshot.counts.tolist(), strict=True)
        assert dict(found) == {i: count for i, count in total.items() if count}
    assert pool.scan("people").rows.num_rows == snapshot.rows.num_rows
    some = rows.slice(7, 1).to_pylist()[0]
    assert some in pool.peek("people", {name: some[name] for name in key}).rows.to_pylist() or (
        total[7] == 0
    )


def test_diffs_that_are_not_all_1_are_kept_in_a_load() -> None:
    pool, rows, diffs = pool_of(2, ["id"]), batch(MANY), np.ones(MANY, np.int64)
    diffs[MANY // 2 + 1] = 5
    pool.feed("people", rows, diffs, 0)
    pool.advance(1)
    snapshot = pool.scan("people")
    assert counted(snapshot.rows, snapshot.counts) == counted(rows, diffs)


def test_texts_that_wait_in_a_load_are_not_swept() -> None:
    pool, rows = pool_of(2, ["id"]), batch(MANY)
    pool.feed("people", rows, np.ones(MANY, np.int64), 1)
    pool._core.strings.limit = 0
    pool.advance(1)
    pool.advance(2)
    snapshot = pool.scan("people")
    assert counted(snapshot.rows, snapshot.counts) == counted(rows, np.ones(MANY, np.int64))


def test_of_a_load_that_does_not_fit_none_is_queued() -> None:
    pool, rows, ones = pool_of(2, ["id"]), batch(MANY), np.ones(MANY, np.int64)
    with pytest.raises(SchemaMismatch, match="'ident'"):
        pool.feed("people", rows.rename_columns(["ident", "name", "part"]), ones, 0)
    pool.feed("people", rows.slice(0, 3), ones[:3], 0)
    pool.advance(1)
    assert set(pool.scan("people").rows.column("id").to_pylist()) == {0, 1, 2}
