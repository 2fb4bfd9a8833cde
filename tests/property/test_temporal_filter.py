"""Rows that wait for their moment: at every time there is what the clock has let in by then."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ivm.dataflow.expressions import Literal
from ivm.dataflow.nodes import Get, Iterate, Map, Recursive, TemporalFilter, columns
from ivm.errors import SchemaMismatch, Unsupported
from ivm.pool import Pool
from tests.property.engine import AnyPool
from tests.property.members import Threads

LAST = 6
INT: pa.DataType = pa.int64()
CLOCK = pa.schema([pa.field("now", INT, nullable=False)])
EVENTS = pa.schema(
    [
        pa.field("moment", INT, nullable=False),
        pa.field("id", INT, nullable=False),
        pa.field("name", pa.string()),
    ]
)
LIVE = TemporalFilter(Get("events", EVENTS), Get("clock", CLOCK))
Event = tuple[int, int, str | None]
Change = tuple[int, Event, int]

events = st.tuples(
    st.integers(-3, 12), st.integers(0, 2), st.sampled_from([None, "a", "longer than inline"])
)
changes = st.lists(st.tuples(st.integers(0, LAST - 1), events, st.sampled_from([1, 1, -1])))
clocks = st.lists(st.integers(0, 3), min_size=LAST, max_size=LAST)
"""How far the clock moves at each time; it stands still at 0."""


def expected(changes: list[Change], moves: list[int], time: int) -> Counter[tuple[object, ...]]:
    now = sum(moves[: time + 1])
    counts: Counter[tuple[object, ...]] = Counter()
    for at, (moment, *row), diff in changes:
        if at <= time and moment <= now and any(moves[: time + 1]):
            counts[tuple(row)] += diff
    return Counter({row: count for row, count in counts.items() if count})


def started(workers: int) -> Pool:
    pool = Pool(workers)
    create_inputs(pool)
    return pool


def create_inputs(pool: AnyPool) -> None:
    pool.create_input("clock", CLOCK, ["now"])
    pool.create_input("events", EVENTS, ["moment", "id", "name"])


def feed(pool: AnyPool, changes: list[Change], moves: list[int], first: int, end: int) -> None:
    """All changes and the clock at the times from `first` to below `end`."""
    for at in range(first, end):
        before, now = sum(moves[:at]), sum(moves[: at + 1])
        ticks = [(before, -1)] * any(moves[:at]) + [(now, 1)] if moves[at] else []
        if ticks:
            rows = pa.record_batch([pa.array([now for now, _ in ticks])], schema=CLOCK)
            pool.feed("clock", rows, np.array([diff for _, diff in ticks]), at)
    new = [c for c in changes if first <= c[0] < end]
    columns = zip(*(row for _, row, _ in new), strict=True) if new else ([], [], [])
    arrays = [pa.array(list(c), f.type) for c, f in zip(columns, EVENTS, strict=True)]
    pool.feed(
        "events",
        pa.record_batch(arrays, schema=EVENTS),
        np.array([diff for _, _, diff in new], np.int64),
        np.array([at for at, _, _ in new], np.uint64),
    )


@pytest.mark.parametrize("workers", [1, 2])
@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    changes=changes,
    moves=clocks,
    stops=st.sets(st.integers(1, LAST - 1)),
    install_at=st.integers(0, LAST - 1),
)
def test_at_every_time_what_has_come_by_then_is_there(
    workers: int, changes: list[Change], moves: list[int], stops: set[int], install_at: int
) -> None:
    assert_law(started(workers), changes, moves, stops, install_at)


@settings(max_examples=20, deadline=None, derandomize=True)
@given(
    changes=changes,
    moves=clocks,
    stops=st.sets(st.integers(1, LAST - 1)),
    install_at=st.integers(0, LAST - 1),
)
def test_two_members_have_one_clock(
    changes: list[Change], moves: list[int], stops: set[int], install_at: int
) -> None:
    with Threads(members=2) as pool:
        create_inputs(pool)
        assert_law(pool, changes, moves, stops, install_at)


def assert_law(
    pool: AnyPool, changes: list[Change], moves: list[int], stops: set[int], install_at: int
) -> None:
    """What has come by each time from `install_at` on is there."""
    counts: Counter[tuple[object, ...]] = Counter()
    found: dict[int, Counter[tuple[object, ...]]] = {}
    for first, end in pairwise(sorted({0, *stops, install_at, LAST})):
        feed(pool, changes, moves, first, end)
        if first == install_at:
            pool.install("due", LIVE, ["id"])
        pool.advance(end)
        if end <= install_at:
            continue
        deltas = pool.drain("due")
        rows = list(zip(*deltas.rows.to_pydict().values(), strict=True))
        of_time = list(zip(deltas.times.tolist(), rows, deltas.diffs.tolist(), strict=True))
        for time in range(first, end):
            for at, row, diff in of_time:
                if at == time or (at < first and time == first):
                    counts[row] += diff
            found[time] = Counter({row: count for row, count in counts.items() if count})
    for time, rows_then in found.items():
        assert rows_then == expected(changes, moves, time)


def test_the_least_moment_has_not_come_before_the_clock_begins() -> None:
    pool, least = started(1), -(2**63)
    pool.install("due", LIVE, ["id"])
    rows = pa.record_batch([pa.array([least]), pa.array([1]), pa.array(["x"])], schema=EVENTS)
    pool.feed("events", rows, np.ones(1, np.int64), 0)
    pool.advance(1)
    assert pool.drain("due").rows.num_rows == 0
    pool.feed("clock", pa.record_batch([pa.array([least])], schema=CLOCK), np.ones(1, np.int64), 1)
    pool.advance(2)
    assert pool.drain("due").rows["id"].to_pylist() == [1]


def test_nothing_is_kept_of_rows_whose_moments_have_all_passed() -> None:
    pool = started(1)
    pool.install("due", LIVE, ["id"])
    moves = [1] * LAST
    held = []
    for time in range(LAST):
        rows: list[Change] = [(time, (time + 1, i, None), 1) for i in range(1000)]
        ends: list[Change] = [(time, (time + 2, i, None), -1) for i in range(1000)]
        feed(pool, rows + ends, moves, time, time + 1)
        pool.advance(time + 1)
        held.append(sum(i.records for i in pool.arrangements() if i.name.startswith("due")))
    assert held[-1] <= 2 * held[1]


def test_a_moment_is_never_null() -> None:
    pool = started(1)
    loose = Get("loose", pa.schema([pa.field("moment", INT), *list(EVENTS)[1:]]))
    pool.create_input("loose", loose.schema, ["id"])
    with pytest.raises(SchemaMismatch):
        pool.install("due", TemporalFilter(loose, Get("clock", CLOCK)), ["id"])


def test_rows_of_a_loop_do_not_wait() -> None:
    seen = Recursive("seen", LIVE.schema)
    named = zip(seen.schema.names, columns(seen), strict=True)
    waiting = Map(seen, (("moment", Literal(0, INT)), *named))
    body = TemporalFilter(waiting, Get("clock", CLOCK))
    with pytest.raises(Unsupported, match="moment"):
        started(1).install("due", Iterate((("seen", body),), "seen"), ["id"])
