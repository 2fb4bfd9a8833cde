"""A dataflow that comes and goes is planned once, and anew where the pool has changed meanwhile."""

import gc

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.nodes import Arrange, Constant, Distinct, Get, Join, Node, Reduce
from ivm.errors import SchemaMismatch, UnknownCollection
from ivm.operators.arranging.capture import Capture
from ivm.planner.dispatch import Planner
from ivm.pool import Pool

INT = pa.int64()
PAIRS = pa.schema([pa.field(name, INT, nullable=False) for name in ("a", "b")])
pairs = Get("pairs", PAIRS)
counted = Reduce(pairs, (1,), (Aggregate("count", None, "n", INT, False),))
by_b = Arrange(pairs, (1,))
twins = Join(by_b, by_b, (("b", 0), ("left", 1), ("right", 2)))


@pytest.fixture(params=[1, 2])
def workers(request: pytest.FixtureRequest) -> int:
    given: int = request.param
    return given


@pytest.fixture
def pool(workers: int) -> Pool:
    made = Pool(workers)
    made.create_input("pairs", PAIRS, ["a"])
    _feed(made, [(i, i % 3) for i in range(9)])
    return made


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[Arrange]:
    """What was planned, in order."""
    found: list[Arrange] = []
    plan = Planner.plan

    def noted(planner: Planner, wanted: Arrange) -> object:
        found.append(wanted)
        return plan(planner, wanted)

    monkeypatch.setattr(Planner, "plan", noted)
    return found


def _feed(pool: Pool, rows: list[tuple[int, int]], diff: int = 1) -> None:
    batch = pa.record_batch([pa.array(c, INT) for c in zip(*rows, strict=True)], schema=PAIRS)
    pool.feed("pairs", batch, np.full(len(rows), diff, np.int64), pool.frontier)
    pool.advance(pool.frontier + 1)


def _rows(pool: Pool, name: str) -> list[tuple[int, ...]]:
    found = pool.scan(name)
    rows = zip(*found.rows.to_pydict().values(), strict=True)
    return sorted(row for row, n in zip(rows, found.counts.tolist(), strict=True) for _ in range(n))


def test_what_was_installed_before_is_built_again_by_the_same_plan(
    pool: Pool, planned: list[Arrange]
) -> None:
    for name in ("first", "second", "third"):
        pool.install(name, counted, ["b"])
        assert _rows(pool, name) == [(0, 3), (1, 3), (2, 3)]
        pool.drop(name)
    assert len(planned) == 1


def test_what_is_built_again_goes_on_with_what_changes(pool: Pool) -> None:
    pool.install("counted", counted, ["b"])
    pool.drop("counted")
    _feed(pool, [(9, 0)])
    pool.install("counted", counted, ["b"])
    _feed(pool, [(10, 0), (11, 7)])
    assert _rows(pool, "counted") == [(0, 5), (1, 3), (2, 3), (7, 1)]


def test_what_is_built_twice_at_once_has_names_of_its_own(pool: Pool) -> None:
    other = Distinct(counted)
    pool.install("one", other, ["n"])
    pool.drop("one")
    assert pool.install("another", other, ["n"]).created == ("another[n]",)
    pool.install("third", counted, ["n"])
    assert _rows(pool, "another") == _rows(pool, "third")


def test_an_arrangement_that_is_there_meanwhile_is_read_and_not_made_again(pool: Pool) -> None:
    assert "pairs[b]" in pool.install("first", twins, ["b"]).created
    pool.drop("first")
    pool.install("other", Join(by_b, by_b, (("b", 0), ("left", 1))), ["b"])
    again = pool.install("first", twins, ["b"])
    assert "pairs[b]" in again.reused
    assert "pairs[b]" not in again.created


def test_an_arrangement_that_is_gone_meanwhile_is_made_again(pool: Pool) -> None:
    pool.install("other", Join(by_b, by_b, (("b", 0), ("left", 1))), ["b"])
    assert "pairs[b]" in pool.install("first", twins, ["b"]).reused
    pool.drop("first")
    pool.drop("other")
    again = pool.install("first", twins, ["b"])
    assert "pairs[b]" in again.created
    assert len(_rows(pool, "first")) == 27


def test_an_input_that_is_another_one_by_now_is_read_as_it_is(pool: Pool) -> None:
    pool.install("first", Distinct(pairs), ["a"])
    pool.drop("first")
    pool.drop_input("pairs")
    with pytest.raises(UnknownCollection, match="'pairs'"):
        pool.install("first", Distinct(pairs), ["a"])
    pool.create_input("pairs", PAIRS, ["b"], insert_only=True)
    _feed(pool, [(1, 2), (1, 2)])
    pool.install("first", Distinct(pairs), ["a"])
    assert _rows(pool, "first") == [(1, 2)]
    pool.drop("first")
    pool.drop_input("pairs")
    pool.create_input("pairs", PAIRS, ["b"])
    _feed(pool, [(1, 2), (3, 4)])
    pool.install("first", Distinct(pairs), ["a"])
    _feed(pool, [(1, 2)], -1)
    assert _rows(pool, "first") == [(3, 4)]


def test_an_input_with_other_columns_is_refused_where_a_plan_took_it_for_granted(
    pool: Pool,
) -> None:
    pool.install("first", counted, ["b"])
    pool.drop("first")
    pool.drop_input("pairs")
    wider = PAIRS.append(pa.field("c", INT))
    pool.create_input("pairs", wider, ["a"])
    with pytest.raises(SchemaMismatch, match="'pairs' has the schema"):
        pool.install("first", counted, ["b"])


def test_constants_are_there_from_when_they_are_built_again(pool: Pool) -> None:
    fixed = Constant(((1, 2), (3, 4)), PAIRS)
    for name in ("first", "second"):
        pool.install(name, fixed, ["a"])
        assert _rows(pool, name) == [(1, 2), (3, 4)]
        pool.advance(pool.frontier + 1)


@pytest.mark.parametrize("node", [twins, counted, Distinct(counted)])
def test_nothing_is_left_of_a_dropped_dataflow_whose_arrangement_another_reads(
    pool: Pool, workers: int, node: Node
) -> None:
    def captures() -> int:
        gc.collect()
        return sum(isinstance(held, Capture) for held in gc.get_objects())

    before = captures()
    pool.install("first", node, ["b"])
    pool.install("second", node, ["b"])
    pool.drop("first")
    kept = captures() - before
    pool.drop("second")
    assert kept == 1


@pytest.mark.parametrize("node", [twins, counted, Distinct(counted)])
def test_what_comes_and_goes_leaves_nothing_to_the_garbage_collector(
    pool: Pool, node: Node
) -> None:
    def come_and_go() -> None:
        pool.create_input("more", PAIRS, ["a"])
        pool.install("view", node, ["b"])
        _feed(pool, [(1, 1)])
        pool.drain("view")
        pool.drop("view")
        pool.drop_input("more")

    come_and_go()  # what is planned once stays
    gc.collect()
    gc.disable()
    try:
        come_and_go()
        assert gc.collect() == 0
    finally:
        gc.enable()
