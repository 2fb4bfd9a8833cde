"""Counts of copies beyond 64 bits: an error that names the dataflow, never a wrong row."""

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.aggregates import Aggregate, Order, WindowCall
from ivm.dataflow.delta_join import delta_join
from ivm.dataflow.nodes import (
    Arrange,
    Distinct,
    Get,
    Iterate,
    Join,
    Negate,
    Node,
    Recursive,
    Reduce,
    TopK,
    Union,
    Window,
    project,
)
from ivm.errors import CountOverflow, DataflowFailed, NoFixedPoint, UnknownCollection
from ivm.pool import Pool

INT = pa.int64()
MOST = 2**63 - 1
PAIRS = pa.schema([pa.field(name, INT, nullable=False) for name in ("a", "b")])
pairs = Get("pairs", PAIRS)
same_key = Join(Arrange(pairs, (0,)), Arrange(pairs, (0,)), (("a", 0), ("b", 1)))
count = Aggregate("count", None, "n", INT, nullable=False)
by_b = Reduce(pairs, (1,), (count,))
reached = Recursive("reached", PAIRS)
onward = Join(Arrange(reached, (1,)), Arrange(pairs, (0,)), (("a", 1), ("b", 2)))
paths = Iterate((("reached", Union((pairs, onward))),), "reached")


@pytest.fixture(params=[1, 2])
def pool(request: pytest.FixtureRequest) -> Pool:
    made = Pool(request.param)
    made.create_input("pairs", PAIRS, ["a"])
    return made


def feed(pool: Pool, rows: list[tuple[int, int]], time: int, diff: int = 1) -> None:
    columns = [pa.array([row[i] for row in rows], INT) for i in (0, 1)]
    batch = pa.record_batch(columns, schema=PAIRS)
    pool.feed("pairs", batch, np.full(len(rows), diff, np.int64), time)


def counts(pool: Pool, name: str) -> dict[tuple[int, ...], int]:
    found = pool.scan(name)
    rows = [tuple(row.values()) for row in found.rows.to_pylist()]
    return dict(zip(rows, found.counts.tolist(), strict=True))


def advance_and_scan(pool: Pool, name: str, *frontiers: int) -> None:
    for frontier in frontiers:
        pool.advance(frontier)
        pool.scan(name)


def advance_and_drain(pool: Pool, name: str) -> None:
    pool.advance(1)
    pool.drain(name)


def diamonds(n: int) -> list[tuple[int, int]]:
    """A chain in which two ways lead from each node to the next: 2^i from node 0 to node 3i."""
    return [
        edge
        for i in range(0, 3 * n, 3)
        for edge in ((i, i + 1), (i, i + 2), (i + 1, i + 3), (i + 2, i + 3))
    ]


def test_as_many_copies_as_64_bits_count_are_told(pool: Pool) -> None:
    pool.install("squares", same_key, ["a"])
    feed(pool, [(1, 1)], 0, 3_037_000_499)
    pool.advance(1)
    assert counts(pool, "squares") == {(1, 1): 3_037_000_499**2}


@pytest.mark.parametrize("copies", [2**32, 3_037_000_500])
def test_a_product_of_counts_beyond_64_bits_fails_the_view(pool: Pool, copies: int) -> None:
    pool.install("squares", same_key, ["a"])
    pool.install("sums", by_b, ["b"])
    feed(pool, [(1, 1)], 0, copies)
    with pytest.raises(CountOverflow, match=r"squares: a row would have more than 9,223"):
        pool.advance(1)
    with pytest.raises(UnknownCollection):
        pool.scan("squares")
    assert counts(pool, "sums") == {(1, copies): 1}


def test_a_product_of_three_counts_fails_a_join_without_state(pool: Pool) -> None:
    cubes = delta_join((pairs, pairs, pairs), ((0, 2, 4),), (("a", 0), ("b", 1)))
    pool.install("cubes", cubes, ["a"])
    feed(pool, [(1, 1)], 0, 2**20)
    pool.advance(1)
    assert counts(pool, "cubes") == {(1, 1): 2**60}
    feed(pool, [(1, 1)], 1, 2**21)
    with pytest.raises(CountOverflow, match="cubes"):
        pool.advance(2)


def test_a_view_that_failed_is_right_again_once_there_are_fewer_copies(pool: Pool) -> None:
    pool.install("squares", same_key, ["a"])
    feed(pool, [(1, 1)], 0, 2**32)
    with pytest.raises(CountOverflow):
        pool.advance(1)
    feed(pool, [(1, 1)], 1, 3 - 2**32)
    pool.advance(2)
    pool.install("squares", same_key, ["a"])
    assert counts(pool, "squares") == {(1, 1): 9}


def test_a_count_beyond_64_bits_is_refused_when_the_view_is_installed(pool: Pool) -> None:
    feed(pool, [(1, 1)], 0, 2**32)
    pool.advance(1)
    with pytest.raises(CountOverflow, match="squares"):
        pool.install("squares", same_key, ["a"])
    assert pool.names == {"pairs"}


SUMS: dict[str, Node] = {
    "a count": by_b,
    "a projection": project(pairs, (1,)),
    "a union": Union((project(pairs, (1,)), project(pairs, (1,)))),
    "distinct rows": Distinct(project(pairs, (1,))),
    "first rows": TopK(project(pairs, (1,)), (), (Order(0),), MOST, 0),
    "a difference": Union((project(pairs, (1,)), Negate(Negate(project(pairs, (1,)))))),
}


@pytest.mark.parametrize("node", SUMS.values(), ids=list(SUMS))
def test_a_sum_of_counts_over_many_rows_and_times_is_never_wrong(pool: Pool, node: Node) -> None:
    """Either the view fails, or a look-up does; it is the same whether the sum comes at once."""
    pool.install("view", node, node.schema.names[:1])
    feed(pool, [(1, 7)], 0, 2**62)
    feed(pool, [(2, 7)], 0, 2**62)
    with pytest.raises(CountOverflow, match="view"):
        advance_and_scan(pool, "view", 1)


def test_diffs_of_a_row_that_overflow_in_time_are_never_wrong(pool: Pool) -> None:
    pool.install("view", project(pairs, (1,)), ["b"])
    for time in range(3):
        feed(pool, [(time, 7)], time, 2**62)
    with pytest.raises(CountOverflow, match="view"):
        advance_and_scan(pool, "view", *range(1, 4))


def test_a_look_up_of_many_keys_tells_an_overflow(pool: Pool) -> None:
    pool.install("view", project(pairs, (1,)), ["b"])
    feed(pool, [(1, 7)], 0, 2**62)
    pool.advance(1)
    feed(pool, [(2, 7)], 1, 2**62)
    pool.advance(2)
    keys = pa.record_batch([pa.array([7, 8], INT)], names=["b"])
    with pytest.raises(CountOverflow, match="view"):
        pool.look_up("view", keys)


def test_deltas_of_one_time_tell_an_overflow(pool: Pool) -> None:
    pool.install("view", project(pairs, (1,)), None)
    feed(pool, [(1, 7), (2, 7)], 0, 2**62)
    pool.advance(1)
    with pytest.raises(CountOverflow, match="view"):
        pool.drain("view")


def test_counts_that_cancel_at_one_time_do_not_overflow(pool: Pool) -> None:
    pool.install("sums", by_b, ["b"])
    feed(pool, [(1, 7)], 0, 2**62)
    feed(pool, [(2, 7)], 0, -(2**62))
    feed(pool, [(3, 7)], 0, 2**62)
    pool.advance(1)
    assert counts(pool, "sums") == {(7, 2**62): 1}


def test_paths_through_62_diamonds_are_counted(pool: Pool) -> None:
    pool.install("paths", paths, ["a", "b"])
    feed(pool, diamonds(61), 0)
    pool.advance(1)
    assert counts(pool, "paths")[0, 3 * 61] == 2**61
    feed(pool, [(3 * 60, 3 * 60 + 1)], 1, -1)
    pool.advance(2)
    assert counts(pool, "paths")[0, 3 * 61] == 2**60


@pytest.mark.parametrize("n", [63, 64, 65, 80])
def test_paths_beyond_64_bits_fail_a_recursion_by_round_and_name(pool: Pool, n: int) -> None:
    pool.install("paths", paths, ["a", "b"])
    feed(pool, diamonds(n), 0)
    with pytest.raises(CountOverflow, match=r"paths: in round 12\d of its recursion, in 'reached'"):
        pool.advance(1)
    assert pool.names == {"pairs"}


def test_paths_that_one_more_edge_makes_too_many_fail(pool: Pool) -> None:
    pool.install("paths", paths, ["a", "b"])
    pool.install("ends", Reduce(Get("paths", PAIRS), (1,), (count,)), ["b"])
    feed(pool, diamonds(61), 0)
    pool.advance(1)
    feed(pool, [(-1, 0)], 1, 8)
    with pytest.raises(CountOverflow, match=r"paths: in round .*; ends: it reads 'paths', which"):
        pool.advance(2)


def test_an_overflow_beside_a_recursion_without_end_tells_each_reason(pool: Pool) -> None:
    last = Iterate((("reached", Union((pairs, reached))),), "reached", max_rounds=5)
    pool.install("squares", same_key, ["a"])
    pool.install("endless", last, ["a"])
    feed(pool, [(1, 1)], 0, 2**32)
    with pytest.raises(DataflowFailed) as failed:
        pool.advance(1)
    assert failed.value.reasons.keys() == {"squares", "endless"}
    assert "within 5 rounds, the limit that the query sets" in failed.value.reasons["endless"]
    assert not isinstance(failed.value, CountOverflow | NoFixedPoint)


def test_an_input_whose_counts_overflow_stays_and_says_so(pool: Pool) -> None:
    pool.install("copy", pairs, ["b"])
    for time in range(40):
        feed(pool, [(1, 1)], time, 2**60)
    with pytest.raises(CountOverflow, match="copy"):
        advance_and_scan(pool, "copy", *range(1, 41))
    with pytest.raises(CountOverflow, match="pairs"):
        advance_and_scan(pool, "pairs", *range(41, 81))
    assert "pairs" in pool.names


def test_a_dataflow_whose_deltas_overflow_is_dropped_with_those_that_read_it(pool: Pool) -> None:
    pool.install("view", project(pairs, (1,)), ["b"])
    pool.install("over", Distinct(Get("view", project(pairs, (1,)).schema)), ["b"])
    feed(pool, [(1, 7)], 0, 2**62)
    feed(pool, [(2, 7)], 0, 2**62)
    with pytest.raises(CountOverflow) as failed:
        advance_and_drain(pool, "view")
    assert failed.value.reasons["over"] == "it reads 'view', which failed"
    assert pool.names == {"pairs"}


def test_a_window_over_more_copies_than_it_lays_out_fails_the_view(pool: Pool) -> None:
    number = WindowCall("row_number", None, "n", INT, nullable=False)
    numbered = Window(pairs, (1,), (Order(0),), (number,))
    pool.install("numbered", numbered, ["b"])
    feed(pool, [(1, 7)], 0, 2**40)
    feed(pool, [(2, 8)], 0, 1)
    with pytest.raises(CountOverflow, match="67,108,864 under a window"):
        pool.advance(1)


def test_copies_of_a_row_that_add_up_in_a_deep_union_fail_the_view(pool: Pool) -> None:
    doubled = Union((pairs, pairs))
    for _ in range(5):
        doubled = Union((doubled, doubled))
    pool.install("many", Reduce(doubled, (1,), (count,)), ["b"])
    feed(pool, [(1, 7)], 0, 2**58)
    with pytest.raises(CountOverflow, match="many"):
        pool.advance(1)
