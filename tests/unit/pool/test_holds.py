"""Holding a time: what can be read as of it, what it costs, and what ends it."""

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.nodes import Arrange, Get, Join, Reduce
from ivm.errors import (
    InvalidTime,
    TimeCompacted,
    TimeIncomplete,
    UnknownCollection,
)
from ivm.pool import Pool

INT = pa.int64()
STOCK = pa.schema([pa.field("item", INT, nullable=False), pa.field("level", INT, nullable=False)])
stock = Get("stock", STOCK)
most = Reduce(stock, (0,), (Aggregate("max", 1, "level", INT, False),))


@pytest.fixture(params=[1, 2], ids=["one worker", "two workers"])
def pool(request: pytest.FixtureRequest) -> Pool:
    """One item whose level is replaced at each time: at time t it is t."""
    made = Pool(request.param)
    made.create_input("stock", STOCK, ["item"])
    made.install("most", most, ["item"])
    _replace(made, 3)
    return made


def _replace(pool: Pool, upto: int) -> None:
    """Complete the times below `upto`."""
    for time in range(pool.frontier, upto):
        levels, diffs = ([time - 1, time], [-1, 1]) if time else ([0], [1])
        rows = pa.RecordBatch.from_pydict({"item": [1] * len(levels), "level": levels}, STOCK)
        pool.feed("stock", rows, np.array(diffs, np.int64), time)
        pool.advance(time + 1)


def _level(pool: Pool, name: str = "stock", as_of: int | None = None) -> list[int | None]:
    found = pool.peek(name, {"item": 1}, as_of=as_of)
    return found.rows["level"].to_pylist()


def _held(pool: Pool, name: str = "stock[item]") -> int:
    return sum(info.records for info in pool.arrangements() if info.name == name)


def test_a_hold_without_a_time_is_of_the_last_completed_one(pool: Pool) -> None:
    with pool.hold("stock") as hold:
        assert hold.time == 2


@pytest.mark.parametrize("name", ["stock", "most"])
def test_look_ups_and_scans_read_every_held_time(pool: Pool, name: str) -> None:
    with pool.hold(name):
        _replace(pool, 50)
        assert [_level(pool, name, time) for time in range(2, 50)] == [[t] for t in range(2, 50)]
        assert pool.scan(name, as_of=7).rows["level"].to_pylist() == [7]


def test_a_read_as_of_a_time_tells_that_time(pool: Pool) -> None:
    with pool.hold("stock"):
        _replace(pool, 9)
        assert pool.peek("stock", {"item": 1}, as_of=4).time == 4
        assert pool.peek("stock", {"item": 1}).time == 8


def test_the_last_completed_time_can_be_read_without_a_hold(pool: Pool) -> None:
    assert _level(pool, as_of=2) == [2]


def test_an_earlier_time_without_a_hold_is_refused(pool: Pool) -> None:
    with pytest.raises(TimeCompacted, match="time 1 of 'stock' is not kept"):
        pool.scan("stock", as_of=1)
    with pytest.raises(TimeCompacted, match="time 1 of 'stock' is not kept"):
        pool.hold("stock", 1)


def test_a_time_that_is_not_complete_is_refused(pool: Pool) -> None:
    with pytest.raises(TimeIncomplete, match="time 3 is not complete"):
        pool.scan("stock", as_of=3)
    fresh = Pool()
    fresh.create_input("stock", STOCK, ["item"])
    with pytest.raises(TimeIncomplete, match="no time is complete yet"):
        fresh.scan("stock", as_of=0)


def test_what_is_no_time_is_refused(pool: Pool) -> None:
    with pytest.raises(InvalidTime):
        pool.scan("stock", as_of=-1)
    with pytest.raises(InvalidTime):
        pool.hold("stock", -1)


def test_a_hold_of_an_unknown_name_is_refused(pool: Pool) -> None:
    with pytest.raises(UnknownCollection, match="'stocks'"):
        pool.hold("stocks")


def test_a_hold_of_one_collection_keeps_no_other(pool: Pool) -> None:
    with pool.hold("most"):
        _replace(pool, 9)
        with pytest.raises(TimeCompacted):
            pool.scan("stock", as_of=5)


def test_a_hold_of_a_time_to_come_keeps_the_times_from_then_on(pool: Pool) -> None:
    with pool.hold("stock", 5):
        _replace(pool, 20)
        assert [_level(pool, as_of=time) for time in (5, 12)] == [[5], [12]]
        with pytest.raises(TimeCompacted):
            _level(pool, as_of=4)


def test_compaction_goes_on_after_the_release_and_gives_the_memory_back(pool: Pool) -> None:
    few = _held(pool)
    with pool.hold("stock") as hold:
        _replace(pool, 500)
        assert _held(pool) >= 900
        hold.release()
        hold.release()
        with pytest.raises(TimeCompacted):
            _level(pool, as_of=5)
        _replace(pool, 1500)
        assert _held(pool) <= few + 300  # what small layers wait for


def test_of_two_holds_the_earlier_counts_until_it_is_released(pool: Pool) -> None:
    early = pool.hold("stock")
    _replace(pool, 10)
    late = pool.hold("stock")
    _replace(pool, 20)
    assert _level(pool, as_of=3) == [3]
    early.release()
    _replace(pool, 30)
    assert [_level(pool, as_of=time) for time in (late.time, 15)] == [[late.time], [15]]
    with pytest.raises(TimeCompacted):
        _level(pool, as_of=3)


def test_an_earlier_time_can_be_held_again_while_another_hold_keeps_it(pool: Pool) -> None:
    with pool.hold("stock"):
        _replace(pool, 10)
        again = pool.hold("stock", 4)
    _replace(pool, 20)
    assert _level(pool, as_of=4) == [4]
    again.release()


def test_dropping_a_dataflow_ends_its_holds(pool: Pool) -> None:
    hold = pool.hold("most")
    _replace(pool, 9)
    pool.drop("most")
    with pytest.raises(UnknownCollection):
        pool.scan("most", as_of=5)
    pool.install("most", most, ["item"])
    with pytest.raises(TimeCompacted):
        pool.scan("most", as_of=5)
    hold.release()
    assert _level(pool, "most") == [8]


def test_an_arrangement_that_is_made_under_a_hold_is_not_read_before_its_time(pool: Pool) -> None:
    with pool.hold("stock"):
        _replace(pool, 9)
        by_level = Arrange(stock, (1,))
        pool.install("pairs", Join(by_level, by_level, (("a", 1), ("b", 2))), ["a"])
        assert pool.peek("stock", {"level": 8}, as_of=8).rows.num_rows == 1
        with pytest.raises(TimeCompacted, match=r"by \(level\)"):
            pool.peek("stock", {"level": 4}, as_of=4)


def test_dropping_an_input_ends_its_holds(pool: Pool) -> None:
    hold = pool.hold("stock")
    pool.drop("most")
    pool.drop_input("stock")
    pool.create_input("stock", STOCK, ["item"])
    hold.release()
    with pytest.raises(TimeCompacted):
        pool.scan("stock", as_of=1)
