"""Errors that differential engines are known to make, each as a test where it would show."""

from collections import Counter
from time import process_time
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.expressions import Call, Literal
from ivm.dataflow.nodes import (
    Arrange,
    Constant,
    Filter,
    Iterate,
    Join,
    Map,
    Negate,
    Node,
    Recursive,
    Reduce,
    Union,
    columns,
    project,
)
from ivm.errors import NoFixedPoint
from ivm.pool import Pool
from tests.property.engine import Change, edges, feed, new_pool, run
from tests.property.nodes import NODE, NODES

INT = pa.int64()
NEVER = Literal(False, pa.bool_())
count = Aggregate("count", None, "n", INT, False)


def installed(node: Node, max_rounds: int = 10_000) -> Pool:
    pool = new_pool(max_rounds=max_rounds)
    pool.install("out", node, [])
    return pool


def rewire(pool: Pool, time: int) -> None:
    """At `time` an edge comes, and the one of ten times ago goes."""
    edge = Change("edges", (time, time + 1), time, 1)
    gone = Change("edges", (time - 10, time - 9), time, -1)
    feed(pool, [edge, gone] if time >= 10 else [edge])
    pool.advance(time + 1)


def records(pool: Pool) -> int:
    return sum(info.records for info in pool.arrangements())


def test_a_group_changes_where_three_times_meet_though_no_two_of_them_do() -> None:
    """Rows at (1,0,0), (0,1,0) and (0,0,1) make three at (1,1,1): the join closure of times."""
    changes = [Change("edges", (5, 0), 0, 1), Change("edges", (5, 1), 1, 1)]
    output = run(NODES["three coordinates"], changes, [2])
    assert [output.at(time) for time in (0, 1)] == [Counter({(5, 3): 1}), Counter({(5, 4): 1})]


@pytest.mark.parametrize(
    ("node", "row"),
    [
        (Reduce(edges, (0,), (count,)), (1, 1)),
        (Reduce(edges, (0,), (Aggregate("min", 1, "m", INT, False),)), (1, 2)),
        (Join(Arrange(edges, (0,)), Arrange(edges, (0,)), (("a", 0), ("b", 2))), (1, 2)),
    ],
    ids=["count", "min", "join"],
)
def test_updates_that_cancel_within_a_step_show_at_the_times_between(
    node: Node, row: tuple[Any, ...]
) -> None:
    """Times are taken from the raw batch: what it leaves behind in the end is nothing."""
    changes = [Change("edges", (1, 2), 1, 1), Change("edges", (1, 2), 3, -1)]
    output = run(node, changes, [5])
    assert sorted(output.changes) == [(row, 1, 1), (row, 3, -1)]


def test_a_join_sees_rows_of_both_sides_that_came_and_went_in_one_step() -> None:
    """Batches in flight are joined though the traces have cancelled them by then."""
    node = Join(Arrange(edges, (0,)), Arrange(edges, (1,)), (("x", 1), ("y", 2)))
    changes = [
        Change("edges", row, time, diff)
        for row, come, go in [((1, 2), 0, 2), ((0, 1), 1, 3)]
        for time, diff in [(come, 1), (go, -1)]
    ]
    assert sorted(run(node, changes, [4]).changes) == [((2, 0), 1, 1), ((2, 0), 2, -1)]


def test_changes_that_cancel_do_not_keep_a_loop_going() -> None:
    """A frontier, or a next round, is computed after consolidation: there is no phantom round."""
    x = Recursive("x", NODE)
    body = Union((project(edges, (0,)), x, Negate(x)))
    pool = installed(Iterate((("x", body),), "x"), max_rounds=3)
    feed(pool, [Change("edges", (1, 2), 0, 1)])
    pool.advance(1)
    assert pool.drain("out").rows.num_rows == 1


def test_rows_parked_for_four_times_as_many_rounds_cost_about_four_times_as_much() -> None:
    """What waits for later rounds is kept by round, not in one ladder that each round copies."""
    short, long = (min(_seconds_to_retract_a_path(n) for _ in range(3)) for n in (1_000, 4_000))
    assert long < 10 * short


def _seconds_to_retract_a_path(length: int) -> float:
    """Processor time; every node's retraction waits for a round of its own."""
    pool = installed(NODES["reach"])
    feed(pool, [Change("edges", (i, i + 1), 0, 1) for i in range(length)])
    pool.advance(1)
    pool.drain("out")
    feed(pool, [Change("edges", (0, 1), 1, -1)])
    start = process_time()
    pool.advance(2)
    seconds = process_time() - start
    assert pool.drain("out").diffs.tolist() == [-1] * length
    return seconds


def test_what_is_dropped_releases_its_arrangements_and_strings() -> None:
    pool = new_pool()
    before = {info.name for info in pool.arrangements()}
    pool.install("out", NODES["max of strings"], [])
    rows = [(i, f"a name that is too long for a word: {i}", 1, None, None) for i in range(1000)]
    feed(pool, [Change("people", row, 0, 1) for row in rows])
    pool.advance(1)
    assert pool.string_bytes > 30_000
    pool.drop("out")
    assert {info.name for info in pool.arrangements()} == before
    pool.drop_input("people")
    pool._core.strings.limit = 0
    pool.advance(2)
    assert pool._core.interner.count == 0


def test_an_arrangement_of_changing_rows_holds_what_is_there_and_not_all_that_came() -> None:
    """Small layers are compacted too: neither memory nor look-ups grow with the updates."""
    pool = installed(Reduce(edges, (0,), (count,)))
    for time in range(200):
        rewire(pool, time)
    after_200 = records(pool)
    for time in range(200, 2_000):
        rewire(pool, time)
    assert records(pool) <= max(2 * after_200, 200)


X, Y = Recursive("x", NODE), Recursive("y", NODE)


def again(node: Node) -> Node:
    return Map(node, (("node", Call("multiply", (columns(node)[0], Literal(1, INT)), INT, False)),))


def nothing() -> Node:
    """Where edges begin, less where they end: nothing, if they make up a circle."""
    begin, end = (Map(edges, (("node", column),)) for column in columns(edges))
    return Union((begin, Negate(end)))


ROUND_AND_ROUND = {
    "alone": Iterate((("x", Union((nothing(), again(X)))),), "x"),
    "in turns": Iterate((("x", Union((nothing(), again(Y)))), ("y", again(X))), "y"),
    "around a loop": Iterate(
        (("x", Union((nothing(), Iterate((("y", Union((X, Filter(Y, NEVER)))),), "y")))),), "x"
    ),
}


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("how", ROUND_AND_ROUND)
def test_what_cancels_does_not_go_round_in_two_workers(how: str, workers: int) -> None:
    pool = new_pool(workers, max_rounds=50)
    pool.install("out", ROUND_AND_ROUND[how], [])
    feed(pool, [Change("edges", (i, (i + 1_000) % 2_000), 0, 1) for i in range(2_000)])
    pool.advance(1)
    assert pool.drain("out").rows.num_rows == 0


def test_a_recursion_without_an_end_is_stopped_and_named() -> None:
    x = Recursive("x", NODE)
    one = Map(x, (("node", Call("add", (columns(x)[0], Literal(1, INT)), INT, False)),))
    start = Constant(((0,),), NODE)
    pool = installed(Iterate((("x", Union((start, one))),), "x"), max_rounds=50)
    with pytest.raises(NoFixedPoint, match="out"):
        pool.advance(1)


def test_a_step_takes_many_times_and_answers_at_each() -> None:
    """Physical batches are not logical ones: a thousand times in one step are told apart."""
    pool = installed(Reduce(edges, (), (count,)))
    batch = pa.RecordBatch.from_arrays(
        [pa.array(range(1000), INT), pa.array(range(1000), INT)], schema=edges.schema
    )
    pool.feed("edges", batch, np.ones(1000, np.int64), np.arange(1000, dtype=np.uint64))
    pool.advance(1000)
    deltas = pool.drain("out")
    added = deltas.diffs > 0
    assert deltas.times[added].tolist() == list(range(1000))
    assert deltas.rows.filter(pa.array(added))["n"].to_pylist() == list(range(1, 1001))
