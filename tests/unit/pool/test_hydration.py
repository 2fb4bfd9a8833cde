"""A dataflow that is installed while the pool goes on."""

import threading
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.expressions import Call, Literal
from ivm.dataflow.nodes import (
    Arrange,
    Distinct,
    Get,
    Iterate,
    Join,
    Map,
    Recursive,
    Reduce,
    Union,
    columns,
    project,
)
from ivm.errors import BudgetExceeded, InUse, UnknownCollection
from ivm.installed import filling
from ivm.pool import Budget, Pool
from ivm.results import Hydrating
from ivm.runtime import hydration
from ivm.runtime.hydration import LITTLE, Hydration
from ivm.runtime.mirror import Mirror

PAIRS = pa.schema(
    [pa.field("key", pa.int64(), nullable=False), pa.field("value", pa.int64(), nullable=False)]
)
pairs = Get("pairs", PAIRS)
both = Arrange(pairs, (1,))
large = Reduce(
    Join(both, both, (("value", 0), ("left", 1), ("right", 2))),
    (0,),
    (Aggregate("count", None, "n", pa.int64(), nullable=False),),
)
ROWS, VALUES = 8_000, 20
MOST_STEPS = 500  # so that a slow machine does not fill its memory


def _feed(pool: Pool, keys: list[int], values: list[int], time: int) -> None:
    rows = pa.RecordBatch.from_pydict({"key": keys, "value": values}, PAIRS)
    pool.feed("pairs", rows, np.ones(len(keys), np.int64), time)


@pytest.fixture
def pool() -> Pool:
    """Pairs that a self-join makes 3 million of: more than a step should wait for."""
    pool = Pool()
    pool.create_input("pairs", PAIRS, ["key"])
    _feed(pool, list(range(ROWS)), [i % VALUES for i in range(ROWS)], 0)
    pool.advance(1)
    return pool


class _Installation(threading.Thread):
    def __init__(self, pool: Pool) -> None:
        super().__init__()
        self.pool = pool
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            self.pool.install("large", large, ["value"])
        except Exception as error:
            self.error = error


def _install_while_stepping(pool: Pool) -> int:
    """Install `large` in a thread, and complete a time with one new pair after another."""
    installation = _Installation(pool)
    installation.start()
    steps = 0
    while steps == 0 or (installation.is_alive() and steps < MOST_STEPS):
        _feed(pool, [ROWS + steps], [steps % VALUES], pool.frontier)
        pool.advance(pool.frontier + 1)
        steps += 1
    installation.join()
    assert installation.error is None
    return steps


def test_times_are_completed_while_a_large_dataflow_is_hydrated(pool: Pool) -> None:
    assert _install_while_stepping(pool) > 10


def test_a_dataflow_holds_what_came_in_while_it_was_hydrated(pool: Pool) -> None:
    steps = _install_while_stepping(pool)
    held = Counter(i % VALUES for i in range(ROWS)) + Counter(i % VALUES for i in range(steps))
    rows = pool.scan("large").rows.to_pydict()
    assert dict(zip(rows["value"], rows["n"], strict=True)) == {v: n * n for v, n in held.items()}


def test_its_deltas_add_up_to_what_it_holds_at_every_time(pool: Pool) -> None:
    start = pool.frontier - 1
    _install_while_stepping(pool)
    deltas = pool.drain("large")
    assert deltas.times.min() >= start
    sums: Counter[tuple[int, int]] = Counter()
    for value, n, diff in zip(
        *deltas.rows.to_pydict().values(), deltas.diffs.tolist(), strict=True
    ):
        sums[value, n] += diff
    rows = pool.scan("large").rows.to_pydict()
    assert {row: n for row, n in sums.items() if n} == dict.fromkeys(
        zip(rows["value"], rows["n"], strict=True), 1
    )


def test_what_is_installed_goes_on_after_it_has_caught_up(pool: Pool) -> None:
    steps = _install_while_stepping(pool)
    before = dict(zip(*pool.scan("large").rows.to_pydict().values(), strict=True))
    _feed(pool, [ROWS + steps], [7], pool.frontier)
    pool.advance(pool.frontier + 1)
    after = dict(zip(*pool.scan("large").rows.to_pydict().values(), strict=True))
    pairs_of_7 = round(before[7] ** 0.5)
    assert after == {**before, 7: (pairs_of_7 + 1) ** 2}


def test_a_dataflow_that_is_hydrated_tells_how_many_of_its_operators_have_taken_all(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Hydrating | None] = [pool.hydrating]

    class Watched(Hydration):
        def begin(self) -> None:
            told.append(pool.hydrating)
            super().begin()
            told.append(pool.hydrating)

    monkeypatch.setattr(filling, "Hydration", Watched)
    pool.install("large", large, ["value"])
    before, first, last, after = *told, pool.hydrating
    assert before is after is None
    assert last is not None
    assert last.of > 1
    assert (first, last.done) == (Hydrating("large", 0, last.of), last.of)


def test_what_is_told_of_a_hydration_only_grows(pool: Pool) -> None:
    installation, told = _Installation(pool), list[int]()
    installation.start()
    while installation.is_alive():
        if (hydrating := pool.hydrating) is not None:
            told.append(hydrating.done)
    assert told == sorted(told) != []


def test_what_cannot_be_hydrated_is_told_no_more(pool: Pool) -> None:
    with pytest.raises(BudgetExceeded):
        pool.install("large", large, ["value"], budget=Budget(0.0))
    assert pool.hydrating is None


def test_an_input_cannot_be_dropped_under_a_dataflow_that_is_being_hydrated(pool: Pool) -> None:
    installation = _Installation(pool)
    installation.start()
    while installation.is_alive():
        try:
            pool.drop_input("pairs")
        except InUse:
            break
        except UnknownCollection:  # dropped before the installation began
            break
    installation.join()
    dropped = isinstance(installation.error, UnknownCollection)
    assert dropped or (installation.error is None and pool.scan("large").rows.num_rows == VALUES)


# --- a recursion that catches up with many times ---

TIMES = 500
NODES = 12
known = Arrange(Recursive("reached", PAIRS), (1,))
along = Join(known, Arrange(pairs, (0,)), (("key", 1), ("value", 2)))
reached = Iterate((("reached", Distinct(Union((pairs, along)))),), "reached")


def _edge(time: int) -> tuple[int, int]:
    return time * 7 % NODES, (time * 5 + time // NODES) % NODES


def _step(pool: Pool, time: int) -> None:
    """A time with one edge more, and one less that came some times ago."""
    edges, diffs = [_edge(time)], [1]
    if time >= NODES:
        edges, diffs = [*edges, _edge(time - NODES)], [1, -1]
    rows = pa.RecordBatch.from_pylist(
        [{"key": key, "value": value} for key, value in edges], schema=PAIRS
    )
    pool.feed("pairs", rows, np.array(diffs, np.int64), time)
    pool.advance(time + 1)


def _recursion(installed_at: int, begun_until: int, monkeypatch: pytest.MonkeyPatch) -> Pool:
    """`reached`, installed once a time is complete, with others completed while it is hydrated."""
    pool = Pool()
    pool.create_input("pairs", PAIRS, ["key"])
    for time in range(installed_at):
        _step(pool, time)

    class WhileTimePasses(Hydration):
        def begin(self) -> None:
            super().begin()
            for time in range(installed_at, begun_until):
                _step(pool, time)

    monkeypatch.setattr(filling, "Hydration", WhileTimePasses)
    pool.install("reached", reached, ["key"])
    return pool


def test_a_recursion_that_caught_up_with_many_times_has_the_deltas_of_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    late = _recursion(1, TIMES, monkeypatch).drain("reached")
    early = _recursion(0, 0, monkeypatch)
    for time in range(TIMES):
        _step(early, time)
    deltas = early.drain("reached")
    assert late.rows.equals(deltas.rows)
    assert late.times.tolist() == deltas.times.tolist()
    assert late.diffs.tolist() == deltas.diffs.tolist()


def test_a_recursion_catches_up_with_few_times_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    passed: list[int] = []

    class Watched(Mirror):
        def pass_on(self, upper: int) -> None:
            passed.append(upper)
            super().pass_on(upper)

    monkeypatch.setattr(hydration, "Mirror", Watched)
    _recursion(1, TIMES, monkeypatch)
    assert np.diff([1, *passed]).max() == hydration.TIMES_AT_ONCE
    assert passed[-1] == TIMES


# --- errors of rows ---

divided = Call("divide", (Literal(6, pa.int64()), columns(pairs)[1]), pa.int64(), False)
quotients = Arrange(Map(pairs, (("key", columns(pairs)[0]), ("quotient", divided))), (0,))
counted = Reduce(quotients, (0,), (Aggregate("count", None, "n", pa.int64(), False),))


def test_errors_that_come_while_it_is_hydrated_are_dated_as_they_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pool = Pool()
    pool.create_input("pairs", PAIRS, ["key"])
    _feed(pool, [1, 2], [0, 1], 0)
    pool.advance(1)
    pool.install("early", counted, ["key"])

    class WhileErrorsCome(Hydration):
        def begin(self) -> None:
            super().begin()
            for time in (1, 2):
                _feed(pool, [2 + time], [0], time)
                pool.advance(time + 1)

    monkeypatch.setattr(filling, "Hydration", WhileErrorsCome)
    monkeypatch.setattr(hydration, "LITTLE", -1)  # else it would catch up between two steps
    pool.install("late", project(counted, (1, 0)), ["n"])
    early, late = pool.drain("early"), pool.drain("late")
    assert early.error_times.tolist() == late.error_times.tolist() == [0, 1, 2]
    assert early.error_diffs.tolist() == late.error_diffs.tolist() == [1, 1, 1]


# --- a join of few keys ---

KEYS = pa.schema([PAIRS.field(0)])
found = Join(Arrange(Get("keys", KEYS), (0,)), Arrange(pairs, (0,)), (("key", 0), ("value", 1)))


def _join_of_one_key(rows: int, workers: int) -> Pool:
    """Two keys that have `rows` rows each, and an input that has one of them."""
    pool = Pool(workers)
    pool.create_input("pairs", PAIRS, ["key"])
    _feed(pool, [1] * rows + [2] * rows, [*range(rows)] * 2, 0)
    pool.create_input("keys", KEYS, ["key"])
    pool.feed("keys", pa.RecordBatch.from_pydict({"key": [2]}, KEYS), np.ones(1, np.int64), 0)
    pool.advance(1)
    return pool


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(("pairs", "beside"), [(LITTLE, False), (LITTLE + 1, True)])
def test_a_join_is_hydrated_beside_the_pool_if_it_makes_more_than_a_few_pairs(
    workers: int, pairs: int, beside: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    hydrations = []

    class Watched(Hydration):
        def begin(self) -> None:
            hydrations.append(self)
            super().begin()

    monkeypatch.setattr(filling, "Hydration", Watched)
    pool = _join_of_one_key(pairs, workers)
    pool.install("found", found, ["key"])
    assert len(hydrations) == beside
    values = pool.scan("found").rows["value"].to_numpy()
    assert np.sort(values).tolist() == list(range(pairs))


def test_what_caught_up_between_two_steps_goes_on() -> None:
    pool = _join_of_one_key(3, 1)
    pool.install("found", found, ["key"])
    assert pool.drain("found").diffs.tolist() == [1, 1, 1]
    _feed(pool, [1, 2], [7, 8], 1)
    pool.advance(2)
    assert pool.drain("found").rows.to_pydict() == {"key": [2], "value": [8]}


def test_what_is_read_may_be_foreseen_but_not_what_a_recursion_makes_of_it() -> None:
    pool = _join_of_one_key(3, 1)
    plans = [pool._plans.of_dataflow("v", node, None)[0].plan for node in (found, reached)]
    assert [plan.foreseeable for plan in plans] == [True, False]


def test_a_join_of_what_a_join_makes_is_not_foreseen() -> None:
    pool = _join_of_one_key(3, 1)
    twice = Join(Arrange(found, (1,)), Arrange(pairs, (0,)), (("key", 1), ("value", 2)))
    pool.install("by_key", found, ["key"])
    assert not pool._plans.of_dataflow("v", twice, None)[0].plan.foreseeable
