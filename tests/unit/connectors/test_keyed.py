"""What a change by key does to a table, one behaviour each."""

from typing import Any

import numpy as np
import pyarrow as pa

from connectors.ingest.upsert import Changes, Folded, emptied, fold
from ivm.dataflow.nodes import Get
from ivm.pool import Pool

FIELDS: list[pa.Field] = [
    pa.field("id", pa.int64(), nullable=False),
    pa.field("name", pa.string(), nullable=False),
    pa.field("note", pa.string()),
]
SCHEMA = pa.schema(FIELDS)
Row = tuple[Any, ...]


def table(*rows: Row) -> Pool:
    """A pool with these rows in table `t`, complete up to time 0."""
    pool = Pool()
    pool.create_input("t", SCHEMA, ["id"])
    pool.feed("t", batch(*rows), np.ones(len(rows), np.int64), 0)
    pool.advance(1)
    return pool


def batch(*rows: Row) -> pa.RecordBatch:
    columns = zip(*rows, strict=True) if rows else [[] for _ in SCHEMA]
    arrays = [pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def changes(*some: tuple[int, Row], missing: list[Any] | None = None) -> Changes:
    """These (kind, row), all at time 1."""
    kinds = np.array([kind for kind, _ in some], np.int64)
    out = None if missing is None else pa.array(missing, pa.list_(pa.int16()))
    times = np.ones(len(some), np.uint64)
    return Changes(batch(*(row for _, row in some)), kinds, times, out)


def apply(pool: Pool, given: Changes) -> Folded:
    folded = fold("t", ("id",), given, pool)
    for part in folded.updates:
        pool.feed("t", part.rows, part.diffs, part.times)
    pool.advance(2)
    return folded


def rows(pool: Pool) -> list[Row]:
    found = pool.scan("t")
    assert found.counts.tolist() == [1] * found.rows.num_rows
    return sorted(tuple(row.values()) for row in found.rows.to_pylist())


def test_a_set_takes_the_row_before_back() -> None:
    pool = table((1, "ada", None), (2, "bob", None))
    apply(pool, changes((1, (1, "eve", "new"))))
    assert rows(pool) == [(1, "eve", "new"), (2, "bob", None)]


def test_a_set_of_what_is_there_changes_nothing() -> None:
    pool = table((1, "ada", None))
    pool.install("v", Get("t", SCHEMA), ["id"])
    pool.drain("v")
    apply(pool, changes((1, (1, "ada", None))))
    assert pool.drain("v").rows.num_rows == 0


def test_a_delete_needs_the_key_only() -> None:
    pool = table((1, "ada", None), (2, "bob", None))
    assert apply(pool, changes((-1, (1, None, None)))).absent == 0
    assert rows(pool) == [(2, "bob", None)]


def test_a_delete_of_what_is_not_there_is_counted_and_does_nothing() -> None:
    pool = table((1, "ada", None))
    folded = apply(
        pool, changes((-1, (7, None, None)), (-1, (1, None, None)), (-1, (1, None, None)))
    )
    assert folded.absent == 2
    assert rows(pool) == []


def test_several_changes_of_a_key_come_to_the_last() -> None:
    pool = table((1, "ada", None))
    given = changes((1, (1, "bob", None)), (-1, (1, None, None)), (1, (1, "eve", None)))
    folded = apply(pool, given)
    assert sum(len(part.diffs) for part in folded.updates) == 2
    assert rows(pool) == [(1, "eve", None)]


def test_a_value_that_is_left_out_stays() -> None:
    pool = table((1, "ada", "a long note"))
    apply(pool, changes((1, (1, "eve", None)), missing=[[2]]))
    assert rows(pool) == [(1, "eve", "a long note")]


def test_a_value_that_is_left_out_may_come_from_the_same_batch() -> None:
    pool = table((1, "ada", "old"))
    given = changes((1, (1, "bob", "new")), (1, (1, None, None)), missing=[None, [1, 2]])
    apply(pool, given)
    assert rows(pool) == [(1, "bob", "new")]


def test_a_value_left_out_without_a_row_before_is_unavailable_and_changes_nothing() -> None:
    pool = table((1, "ada", "old"))
    given = changes(
        (1, (7, "eve", None)),
        (-1, (1, None, None)),
        (1, (1, "bob", None)),
        (1, (1, "zoe", None)),
        missing=[[2], None, [2], [2]],
    )
    assert apply(pool, given).unavailable.tolist() == [0, 2, 3]
    assert rows(pool) == []


def test_a_truncation_takes_back_all_that_is_there_at_its_place() -> None:
    pool = table((1, "ada", None), (2, "bob", None))
    given = changes((1, (3, "eve", None)), (0, (None, None, None)), (1, (2, "zoe", None)))
    assert apply(pool, given).absent == 0
    assert rows(pool) == [(2, "zoe", None)]


def test_a_key_that_changes_leaves_no_ghost() -> None:
    pool = table((1, "ada", None))
    apply(pool, changes((-1, (1, None, None)), (1, (2, "ada", None))))
    assert rows(pool) == [(2, "ada", None)]


def test_rows_that_were_there_twice_are_taken_back_as_often() -> None:
    pool = table((1, "ada", None), (1, "ada", None), (1, "bob", None))
    apply(pool, changes((1, (1, "eve", None))))
    assert rows(pool) == [(1, "eve", None)]


def test_a_table_that_is_not_keyed_is_truncated_too() -> None:
    pool = table((1, "ada", None), (1, "ada", None))
    given = changes(
        (1, (3, "eve", None)),
        (-1, (1, "ada", None)),
        (0, (None, None, None)),
        (1, (4, "zoe", None)),
        (0, (None, None, None)),
        (1, (5, "zoe", None)),
    )
    for part in emptied("t", given, pool):
        pool.feed("t", part.rows, part.diffs, part.times)
    pool.advance(2)
    assert rows(pool) == [(5, "zoe", None)]
