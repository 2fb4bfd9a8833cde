"""A cluster has the whole face of a pool: what it lends, tells and renames is all members'."""

import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
import pytest

from ivm.cluster.pool import AnyPool, ClusterPool
from ivm.cluster.processes import Processes
from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.nodes import Arrange, Get, Iterate, Join, Node, Recursive, Reduce, Union, project
from ivm.errors import OutOfMemory, PoolFailed, TimeCompacted, UnknownCollection
from ivm.installed import reads
from ivm.pool import Pool
from ivm.results import LoopInfo
from tests.property.members import Threads

INT = pa.int64()
FIELDS: list[pa.Field] = [pa.field(name, INT, nullable=False) for name in ("id", "city")]
GUESTS = pa.schema(FIELDS)
guests = Get("guests", GUESTS)
by_city: Node = Reduce(guests, (1,), (Aggregate("count", None, "n", INT, False),))
links, reached = Get("links", GUESTS), Recursive("reached", GUESTS)
onward = Join(Arrange(reached, (1,)), Arrange(links, (0,)), (("id", 1), ("city", 2)))
paths = Iterate((("reached", Union((links, onward))),), "reached")


@pytest.fixture
def pool(encrypted: bool) -> Iterator[ClusterPool]:
    """A cluster of two threads, with a hundred guests of ten cities."""
    with Threads(2, encrypted=encrypted) as pool:
        pool.create_input("guests", GUESTS, ["id"])
        change(pool, range(100), 1)
        yield pool


def change(pool: AnyPool, numbers: range, diff: int) -> None:
    """Let guests come or go, and complete the time."""
    rows = pa.record_batch([list(numbers), [n % 10 for n in numbers]], schema=GUESTS)
    pool.feed("guests", rows, np.full(len(numbers), diff), pool.frontier)
    pool.advance(pool.frontier + 1)


def alone(numbers: range) -> Pool:
    """A pool of this process with the same guests."""
    pool = Pool()
    pool.create_input("guests", GUESTS, ["id"])
    change(pool, numbers, 1)
    return pool


def test_batches_of_all_members_add_up_to_the_rows(pool: ClusterPool) -> None:
    change(pool, range(50), -1)
    rows: Counter[object] = Counter()
    batches = pool.batches("guests")
    for batch in batches:
        for part, diffs in batch.rows(at_once=7):
            assert part.num_rows <= 7
            for number, diff in zip(part["id"].to_pylist(), diffs.tolist(), strict=True):
                rows[number] += diff
    assert {number for number, count in rows.items() if count} == set(range(50, 100))
    assert len({batch.serial for batch in batches}) == len(batches)


def test_a_batch_that_was_dropped_is_given_back(pool: ClusterPool) -> None:
    lent = [len(pool.batches("guests")) for _ in range(3)]
    assert all(lent)
    pool.scan("guests")  # with which members have them back
    assert not pool._calls.owes


def test_a_held_time_is_read_while_later_ones_come(pool: ClusterPool) -> None:
    first = pool.frontier - 1
    with pool.hold("guests") as hold:
        assert hold.time == first
        change(pool, range(100), -1)
        assert pool.scan("guests", as_of=first).rows.num_rows == 100
        assert pool.scan("guests").rows.num_rows == 0
    change(pool, range(1), 1)
    with pytest.raises(TimeCompacted):
        pool.scan("guests", as_of=first)


def test_many_keys_are_looked_up_as_in_one_pool(pool: ClusterPool) -> None:
    keys = pa.record_batch([[99, 1, 500, 1]], names=["id"]).cast(pa.schema([FIELDS[0]]))
    found, expected = pool.look_up("guests", keys), alone(range(100)).look_up("guests", keys)
    for name in ("owners", "order", "starts", "counts"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()
    assert found.rows.equals(expected.rows)


def test_a_read_for_which_memory_is_short_is_refused_and_no_other(
    pool: ClusterPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(reads, "snapshot", short)
        with pytest.raises(OutOfMemory, match="guests"):
            pool.scan("guests")
    assert len(pool.scan("guests").counts) == 100


def short(*_: object) -> None:
    """Stand in for what needs more memory than there is."""
    raise MemoryError("no memory for rows")


def test_a_name_is_taken_over_at_one_time_on_all_members(pool: ClusterPool) -> None:
    pool.install("cities", by_city, ["city"])
    pool.install("later", project(guests, (1,)), ["city"])
    pool.replace({"later": "cities"}, pool.frontier + 1)
    assert pool.names == {"guests", "cities"}
    assert set(pool.scan("cities").counts.tolist()) == {10}
    with pytest.raises(UnknownCollection):
        pool.scan("later")


def test_readers_beside_steps_never_see_two_times_at_once(pool: ClusterPool) -> None:
    pool.install("cities", by_city, ["city"])
    stopped = threading.Event()

    def step() -> None:
        while not stopped.is_set():
            change(pool, range(100, 200), 1)
            change(pool, range(100, 200), -1)

    thread = threading.Thread(target=step)
    thread.start()
    try:
        for _ in range(200):
            counted = set(pool.scan("cities").rows["n"].to_pylist())
            assert counted in ({10}, {20})
    finally:
        stopped.set()
        thread.join()


def test_accounts_are_those_of_all_members(pool: ClusterPool) -> None:
    pool.install("cities", by_city, ["city"])
    one = alone(range(100))
    one.install("cities", by_city, ["city"])
    told = {info.name: info.records for info in pool.arrangements()}
    assert told["guests[id]"] == 100
    assert told["cities[city]"] == 10
    assert pool.arranged() == one.arranged()
    assert pool.explain(by_city, ["city"]).reused == one.explain(by_city, ["city"]).reused
    assert pool.spent("cities").seconds >= 0
    rows = [info.rows for info in pool.operators("cities").operators if info.rows is not None]
    assert max(rows) >= 10
    assert sum(share.records for share in pool.shares()) >= 110
    assert pool.hydrating is None


def test_a_loop_tells_the_changes_of_all_members(pool: ClusterPool) -> None:
    one = alone(range(100))
    for each in (pool, one):
        each.create_input("links", GUESTS, ["id"])
        each.install("paths", paths, ["id"])
        rows = pa.record_batch([list(range(20)), list(range(1, 21))], schema=GUESTS)
        each.feed("links", rows, np.ones(20, np.int64), each.frontier)
        each.advance(each.frontier + 1)
    assert [c.changes for c in loop_of(pool).classes] == [c.changes for c in loop_of(one).classes]
    assert loop_of(pool).last_round == loop_of(one).last_round


def loop_of(pool: AnyPool) -> LoopInfo:
    """The account of the one loop in `paths`."""
    (found,) = [info.rounds for info in pool.operators("paths").operators if info.rounds]
    return found


def test_a_plan_shows_where_rows_go_to_other_members(pool: ClusterPool) -> None:
    assert "Scatter" in pool.plan_text(by_city, ["city"])


def test_inputs_may_be_declared_before_members_have_come() -> None:
    pool = ClusterPool()
    pool.create_input("guests", GUESTS, ["id"])
    assert pool.names == {"guests"}
    assert pool.arrangements() == []
    with pytest.raises(PoolFailed, match="no members yet"):
        pool.scan("guests")
    pool.close()


def lost(pool: Processes, act: Callable[[int], object]) -> str:
    """Why a cluster is lost after something was done to a process of it."""
    heard: list[str] = []
    failed = threading.Event()

    def hear(reason: str) -> None:
        heard.append(reason)
        failed.set()

    pool.when_failed(hear)
    act(pool.processes[1])
    assert failed.wait(30)
    return heard[0]


def test_a_process_that_ended_is_missed_though_nobody_asks_it(encrypted: bool) -> None:
    with Processes(2, encrypted=encrypted) as pool:
        assert "member 1" in lost(pool, lambda pid: os.kill(pid, signal.SIGKILL))
        with pytest.raises(PoolFailed, match="member 1"):
            pool.shares()


def test_a_process_that_is_frozen_is_given_up(encrypted: bool) -> None:
    with Processes(2, encrypted=encrypted, lost_seconds=1) as pool:
        try:
            reason = lost(pool, lambda pid: os.kill(pid, signal.SIGSTOP))
        finally:
            os.kill(pool.processes[1], signal.SIGCONT)
        assert reason == "member 1 of the cluster has said nothing for 1 seconds"


def test_a_command_under_way_ends_once_a_member_is_given_up(encrypted: bool) -> None:
    with Processes(2, encrypted=encrypted, lost_seconds=1) as pool:
        pool.create_input("guests", GUESTS, ["id"])
        os.kill(pool.processes[1], signal.SIGSTOP)
        try:
            with pytest.raises(PoolFailed):
                change(pool, range(10), 1)
        finally:
            os.kill(pool.processes[1], signal.SIGCONT)
