"""A dataflow that is installed on a cluster while its steps go on."""

import threading
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

from ivm.cluster.pool import ClusterPool
from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.nodes import Arrange, Distinct, Get, Iterate, Join, Node, Recursive, Reduce, Union
from ivm.errors import BudgetExceeded, OutOfMemory
from ivm.installed import filling
from ivm.pool import Budget
from ivm.results import Hydrating
from ivm.runtime.hydration import Hydration
from tests.property.members import Threads

MEMBERS = 3
INT = pa.int64()
PAIRS = pa.schema([pa.field(name, INT, nullable=False) for name in ("key", "value")])
pairs = Get("pairs", PAIRS)
by_value = Arrange(pairs, (1,))
large = Reduce(
    Join(by_value, by_value, (("value", 0), ("left", 1), ("right", 2))),
    (0,),
    (Aggregate("count", None, "n", INT, nullable=False),),
)
ROWS, VALUES = 6_000, 20
MOST_STEPS = 500  # so that a slow machine does not fill its memory


def feed(pool: ClusterPool, keys: list[int], values: list[int]) -> None:
    rows = pa.RecordBatch.from_pydict({"key": keys, "value": values}, PAIRS)
    pool.feed("pairs", rows, np.ones(len(keys), np.int64), pool.frontier)
    pool.advance(pool.frontier + 1)


@pytest.fixture
def pool() -> Iterator[ClusterPool]:
    """Pairs that a self-join makes 2 million of: more than a step should wait for."""
    with Threads(MEMBERS) as made:
        made.create_input("pairs", PAIRS, ["key"])
        feed(made, list(range(ROWS)), [i % VALUES for i in range(ROWS)])
        yield made


def closure() -> Node:
    """All that is reached over pairs as edges, from anywhere."""
    paths = Recursive("paths", PAIRS)
    longer = Join(Arrange(paths, (1,)), Arrange(pairs, (0,)), (("key", 1), ("value", 2)))
    return Iterate((("paths", Distinct(Union((pairs, longer)))),), "paths")


class Installation(threading.Thread):
    """Installs a dataflow on a thread, and keeps the error that ends it."""

    def __init__(self, pool: ClusterPool, node: Node = large, budget: Budget | None = None) -> None:
        super().__init__()
        self.pool, self.node, self.budget = pool, node, budget
        self.error: Exception | None = None
        self.start()

    def run(self) -> None:
        try:
            self.pool.install("large", self.node, None, budget=self.budget)
        except Exception as error:
            self.error = error


def step_beside(pool: ClusterPool, installation: Installation) -> int:
    """Complete times with one new pair each until an installation ends; how many."""
    steps = 0
    while steps == 0 or (installation.is_alive() and steps < MOST_STEPS):
        feed(pool, [ROWS + steps], [steps % VALUES])
        steps += 1
    installation.join()
    return steps


def test_times_are_completed_while_members_fill_a_dataflow(pool: ClusterPool) -> None:
    installation = Installation(pool)
    assert step_beside(pool, installation) > 3
    assert installation.error is None


def test_what_is_filled_has_what_came_meanwhile(pool: ClusterPool) -> None:
    steps = step_beside(pool, Installation(pool))
    held = Counter(i % VALUES for i in range(ROWS)) + Counter(i % VALUES for i in range(steps))
    deltas = pool.drain("large")
    sums: Counter[tuple[int, int]] = Counter()
    for *row, diff in zip(*deltas.rows.to_pydict().values(), deltas.diffs.tolist(), strict=True):
        sums[row[0], row[1]] += diff
    assert {row: n for row, n in sums.items() if n} == {(v, n * n): 1 for v, n in held.items()}


def test_a_recursion_is_filled_beside_steps_as_well(pool: ClusterPool) -> None:
    # Every key leads to one of the first keys, and these among themselves.
    installation = Installation(pool, closure())
    steps = step_beside(pool, installation)
    assert installation.error is None
    edges = {i: i % VALUES for i in range(ROWS)} | {ROWS + i: i % VALUES for i in range(steps)}
    deltas = pool.drain("large")
    assert int(deltas.diffs.sum()) == len(edges)
    assert dict(zip(*deltas.rows.to_pydict().values(), strict=True)) == edges


def test_readers_are_told_how_far_a_dataflow_is(pool: ClusterPool) -> None:
    installation, told = Installation(pool), list[Hydrating]()
    while installation.is_alive():
        if (hydrating := pool.hydrating) is not None:
            told.append(hydrating)
    assert {hydrating.name for hydrating in told} == {"large"}
    assert [each.done for each in told] == sorted(each.done for each in told)
    assert pool.hydrating is None


@pytest.mark.parametrize(
    ("budget", "reason"),
    [
        (lambda: Budget(0.0), "'large' was stopped: it took more than 0 seconds"),
        (lambda: Budget(bytes=0), "'large' was stopped: memory has grown by more than 0 bytes"),
    ],
)
@pytest.mark.parametrize("node", [large, closure()], ids=["join", "recursion"])
def test_all_members_end_what_is_over_the_budget_of_one(
    pool: ClusterPool, node: Node, budget: type[Budget], reason: str
) -> None:
    feed(pool, list(range(ROWS, 20 * ROWS)), [i % 1_000 for i in range(ROWS, 20 * ROWS)])
    with pytest.raises(BudgetExceeded, match=reason):
        pool.install("large", node, ["value"], budget=budget())
    assert "large" not in pool.names
    feed(pool, [-1], [-1])
    pool.install("large", by_value.input, ["key"])
    assert pool.peek("large", {"key": -1}).counts.tolist() == [1]


def test_where_memory_is_too_short_for_one_member_all_refuse_the_dataflow(
    pool: ClusterPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = iter([True])

    class Short(Hydration):
        def begin(self) -> None:
            if next(short, False):
                raise MemoryError("no memory to begin")
            super().begin()

    monkeypatch.setattr(filling, "Hydration", Short)
    with pytest.raises(OutOfMemory, match=r"'large'.*no memory to begin"):
        pool.install("large", large, ["value"])
    pool.install("large", large, ["value"])
    assert len(pool.scan("large").counts) == VALUES


def test_a_budget_is_stopped_from_another_thread(pool: ClusterPool) -> None:
    budget = Budget()
    installation = Installation(pool, budget=budget)
    budget.stop()
    installation.join()
    assert isinstance(installation.error, BudgetExceeded)
    assert str(installation.error) == "'large' was stopped: it was stopped"
