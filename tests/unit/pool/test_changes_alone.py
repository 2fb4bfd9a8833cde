"""Dataflows without a key: their changes are kept until they are drained, and no rows."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.nodes import Arrange, Get, Join, Node, Reduce
from ivm.errors import NotIndexed
from ivm.pool import Pool

INT = pa.int64()
ORDERS = pa.schema([pa.field(name, INT, nullable=False) for name in ("id", "customer")])
KEYS = pa.schema([pa.field("id", INT, nullable=False)])
orders = Get("orders", ORDERS)
counts = Reduce(orders, (1,), (Aggregate("count", None, "n", INT, False),))
pairs = Join(Arrange(orders, (1,)), Arrange(orders, (1,)), (("left", 1), ("right", 2)))
VIEWS: dict[str, Node] = {"rows": orders, "counts": counts, "pairs": pairs}
Changes = dict[tuple[tuple[int, ...], int], int]


def _feed(pool: Pool, rows: list[tuple[int, int]], time: int, diff: int = 1) -> None:
    batch = pa.RecordBatch.from_pylist([{"id": i, "customer": c} for i, c in rows], schema=ORDERS)
    pool.feed("orders", batch, np.full(len(rows), diff, np.int64), time)
    pool.advance(time + 1)


def _drained(pool: Pool, name: str) -> Changes:
    """Row and time of each change, with its diff."""
    deltas = pool.drain(name)
    rows = zip(*(column.to_pylist() for column in deltas.rows.columns), strict=True)
    changes = list(zip(rows, deltas.times.tolist(), strict=True))
    assert len(set(changes)) == len(changes)
    return dict(zip(changes, deltas.diffs.tolist(), strict=True))


@pytest.fixture(params=[1, 2])
def pool(request: pytest.FixtureRequest) -> Pool:
    pool = Pool(request.param)
    pool.create_input("orders", ORDERS, ["id"])
    return pool


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("late", [False, True])
def test_changes_are_those_of_an_arranged_dataflow(pool: Pool, view: str, late: bool) -> None:
    if late:
        _feed(pool, [(9, 1), (8, 2)], 0)
    pool.install("arranged", VIEWS[view], VIEWS[view].schema.names[:1])
    pool.install("alone", VIEWS[view], None)
    _feed(pool, [(1, 1), (2, 1), (3, 2)], 1)
    _feed(pool, [(2, 1)], 2, -1)
    _feed(pool, [(i, 3) for i in range(100, 1200)], 3)
    changes = _drained(pool, "alone")
    assert changes
    assert changes == _drained(pool, "arranged")
    assert _drained(pool, "alone") == {}


def test_no_arrangement_holds_the_rows(pool: Pool) -> None:
    pool.install("alone", pairs, None)
    _feed(pool, [(1, 1), (2, 1)], 0)
    assert {info.name for info in pool.arrangements()} == {"orders[id]", "orders[customer]"}


def test_nothing_that_was_put_out_and_taken_back_at_one_time_is_left(pool: Pool) -> None:
    pool.install("alone", orders, None)
    batch = pa.RecordBatch.from_pylist([{"id": 1, "customer": 1}] * 2, schema=ORDERS)
    pool.feed("orders", batch, np.array([1, -1], np.int64), 0)
    pool.advance(1)
    assert _drained(pool, "alone") == {}


READS: dict[str, Callable[[Pool], object]] = {
    "a look-up": lambda pool: pool.peek("alone", {"customer": 1}),
    "a look-up of many keys": lambda pool: pool.look_up(
        "alone", pa.RecordBatch.from_pylist([{"customer": 1}], pa.schema([ORDERS.field(1)]))
    ),
    "a scan": lambda pool: pool.scan("alone"),
    "a hold": lambda pool: pool.hold("alone"),
    "a dataflow": lambda pool: pool.install("more", Get("alone", counts.schema), ["customer"]),
    "a forecast": lambda pool: pool.explain(Get("alone", counts.schema), ["customer"]),
}


@pytest.mark.parametrize("read", READS)
def test_whoever_reads_the_rows_is_told_to_give_a_key(pool: Pool, read: str) -> None:
    pool.install("alone", counts, None)
    _feed(pool, [(1, 1)], 0)
    with pytest.raises(NotIndexed, match=r"'alone' keeps its changes alone.*with a key"):
        READS[read](pool)
    assert pool.names == {"orders", "alone"}
    assert _drained(pool, "alone") == {((1, 1), 0): 1}


def test_one_with_a_key_of_the_same_name_can_be_read_afterwards(pool: Pool) -> None:
    pool.install("alone", counts, None)
    _feed(pool, [(1, 1)], 0)
    pool.drop("alone")
    pool.install("alone", counts, ["customer"])
    pool.install("copy", Get("alone", counts.schema), None)
    assert _drained(pool, "copy") == {((1, 1), 0): 1}


def test_what_only_it_used_is_freed_with_it(pool: Pool) -> None:
    _feed(pool, [(1, 1), (2, 1)], 0)
    before = pool.arrangements()
    pool.install("alone", pairs, None)
    pool.drop("alone")
    assert pool.arrangements() == before
