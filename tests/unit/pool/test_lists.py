"""The aggregates `list` and `set`: what a group's values look like as one value."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.nodes import Get, Reduce
from ivm.pool import Pool
from ivm.results import Deltas

TEXT = pa.string()
FIELDS: list[pa.Field] = [pa.field("k", pa.int64(), nullable=False), pa.field("v", TEXT)]
ROWS = pa.schema(FIELDS)


def pool_of(function: str) -> Pool:
    pool = Pool()
    pool.create_input("t", ROWS, ["k"])
    listed = Aggregate(function, 1, "l", pa.list_(TEXT), False)  # type: ignore[arg-type]
    pool.install("out", Reduce(Get("t", ROWS), (0,), (listed,)), ["k"])
    return pool


def change(pool: Pool, rows: Sequence[tuple[int, str | None, int]]) -> Deltas:
    batch = pa.RecordBatch.from_pylist([{"k": k, "v": v} for k, v, _ in rows], schema=ROWS)
    pool.feed("t", batch, np.array([n for *_, n in rows], np.int64), pool.frontier)
    pool.advance(pool.frontier + 1)
    return pool.drain("out")


def changes(deltas: Deltas) -> list[tuple[Any, int]]:
    return list(zip(deltas.rows["l"].to_pylist(), deltas.diffs.tolist(), strict=True))


def test_a_list_has_every_copy_in_order_and_null_last() -> None:
    rows = [(1, "pear", 1), (1, None, 2), (1, "a longer fruit", 2), (1, "a longer", 1)]
    listed = ["a longer", "a longer fruit", "a longer fruit", "pear", None, None]
    assert changes(change(pool_of("list"), rows)) == [(listed, 1)]


def test_a_set_has_every_value_once() -> None:
    rows = [(1, "pear", 3), (1, None, 2), (1, "", 1)]
    assert changes(change(pool_of("set"), rows)) == [(["", "pear", None], 1)]


def test_zero_bytes_neither_end_a_string_nor_join_two() -> None:
    rows = [(1, "a\0", 1), (1, "a", 1), (1, "\0\0 eight bytes", 1)]
    assert changes(change(pool_of("list"), rows)) == [(["\0\0 eight bytes", "a", "a\0"], 1)]


def test_a_set_does_not_change_with_another_copy_and_a_list_does() -> None:
    for function, expected in {"set": [], "list": [(["a"], -1), (["a", "a"], 1)]}.items():
        pool = pool_of(function)
        change(pool, [(1, "a", 1)])
        assert changes(change(pool, [(1, "a", 1)])) == expected


def test_a_list_that_is_too_long_is_an_error_until_it_is_shorter() -> None:
    pool = pool_of("list")
    errors = change(pool, [(1, "a", 2**40), (2, "b", 1)])
    message = "a list or text of more than 1 GiB for the row (k = 1)"
    assert errors.errors["error"].to_pylist() == [message]
    assert changes(errors) == [(["b"], 1)]
    after = change(pool, [(1, "a", 1 - 2**40)])
    assert (after.error_diffs.tolist(), changes(after)) == ([-1], [(["a"], 1)])


def test_a_list_can_be_looked_up_by_the_key_of_its_group() -> None:
    pool = pool_of("list")
    change(pool, [(1, "a", 1), (2, "a much longer text than seven bytes", 1)])
    pool._core.strings.limit = 0
    pool.advance(pool.frontier + 1)
    assert pool.peek("out", {"k": 2}).rows["l"].to_pylist() == [
        ["a much longer text than seven bytes"]
    ]
