"""Budgets: a hydration is stopped amid its steps, and nothing of it is left."""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.delta_join import delta_join
from ivm.dataflow.expressions import Call
from ivm.dataflow.nodes import (
    Arrange,
    Distinct,
    Filter,
    FlatMap,
    Get,
    Iterate,
    Join,
    Node,
    Recursive,
    Union,
    columns,
)
from ivm.errors import BudgetExceeded
from ivm.pool import Budget, Pool

INT = pa.int64()
ROWS = 1_000_000
ITEMS = pa.schema([pa.field(name, INT, nullable=False) for name in ("id", "all")])
items = Get("items", ITEMS)
MIB = 1 << 20


def pairs() -> Node:
    """A million times a million pairs, without end for who makes them."""
    return Join(Arrange(items, ()), Arrange(items, ()), (("a", 0), ("b", 2)))


def equal_pairs() -> Node:
    """The same, most of which a condition drops as they come."""
    a, b = columns(pairs())
    return Filter(pairs(), Call("eq", (a, b), pa.bool_(), False))


def triples() -> Node:
    return delta_join([items, items, items], [{1, 3, 5}], [("a", 0), ("b", 2), ("c", 4)])


def paths() -> Node:
    """In its second round a recursion meets a million rows with a million."""
    met = Recursive("met", ITEMS)
    onward = Join(Arrange(met, (1,)), Arrange(items, (1,)), (("id", 1), ("all", 2)))
    return Iterate((("met", Distinct(Union((items, onward)))),), "met")


class Slowly:
    """A function of rows that takes its time."""

    def __call__(self, rows: pa.RecordBatch) -> tuple[pa.RecordBatch, list[int]]:
        threading.Event().wait(0.05)
        return rows, list(range(rows.num_rows))


def slow() -> Node:
    return FlatMap(items, Slowly(), ITEMS)


def pool(workers: int = 1, rows: int = ROWS) -> Pool:
    made = Pool(workers)
    made.create_input("items", ITEMS, ["id"])
    made.create_input("others", ITEMS, ["id"])
    made.install("copy", Get("others", ITEMS), ["id"])
    values = [pa.array(np.arange(rows)), pa.array(np.zeros(rows, np.int64))]
    made.feed("items", pa.record_batch(values, schema=ITEMS), np.ones(rows, np.int64), 0)
    made.advance(1)
    return made


def feed_other(to: Pool) -> None:
    row = pa.record_batch([[to.frontier], [0]], schema=ITEMS)
    to.feed("others", row, np.ones(1, np.int64), to.frontier)
    to.advance(to.frontier + 1)


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def key(node: Node) -> list[str]:
    return node.schema.names[:1]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("make", [equal_pairs, paths, triples, slow])
def test_a_step_without_end_is_stopped_at_its_seconds(
    workers: int, make: Callable[[], Node]
) -> None:
    made, node = pool(workers), make()
    began = time.monotonic()
    with pytest.raises(BudgetExceeded, match=r"'view' was stopped: it took more than 0.2 seconds"):
        made.install("view", node, key(node), budget=Budget(0.2))
    assert time.monotonic() - began < 10
    assert made.names == {"items", "others", "copy"}
    feed_other(made)
    assert made.scan("copy").rows.num_rows == 1


def test_a_step_without_end_is_stopped_at_its_bytes_and_gives_them_back() -> None:
    made = pool()

    def attempt() -> int:
        with pytest.raises(
            BudgetExceeded, match=r"memory has grown by more than 134,217,728 bytes"
        ):
            made.install("view", pairs(), ["a"], budget=Budget(bytes=128 * MIB))
        return resident()

    first = attempt()
    assert max(attempt() for _ in range(8)) - first < 256 * MIB  # some is kept for the next one


def test_a_hydration_that_grows_is_stopped_where_the_process_has_too_many_bytes() -> None:
    made = pool()
    with pytest.raises(BudgetExceeded, match=r"the process has more than 1 bytes in memory"):
        made.install("view", pairs(), ["a"], budget=Budget(process_bytes=1))


def test_another_thread_stops_a_step_and_the_pool_goes_on_meanwhile() -> None:
    made, budget, reasons = pool(), Budget(), list[str]()

    def install() -> None:
        with pytest.raises(BudgetExceeded) as stopped:
            made.install("view", equal_pairs(), ["a"], budget=budget)
        reasons.append(str(stopped.value))

    installing = threading.Thread(target=install)
    installing.start()
    for _ in range(100):
        feed_other(made)
    assert installing.is_alive()
    budget.stop()
    installing.join(60)
    assert reasons == ["'view' was stopped: it was stopped"]


def test_a_hydration_within_its_budget_is_as_without_one() -> None:
    made = pool(rows=2_000)
    made.install("view", equal_pairs(), ["a"], budget=Budget(60, bytes=1 << 40))
    feed_other(made)
    assert made.scan("view").rows.num_rows == 2_000
