"""A handle keeps times distinguishable and the content of a closed trace alive."""

import pytest

from ivm.errors import TimeCompacted, TimeInPast
from ivm.trace import shims
from ivm.trace.frontier import Antichain
from ivm.trace.handle import Handle
from ivm.trace.spine import Trace
from tests.unit.trace.updates import seal


def counted(upto: int) -> Trace:
    """A trace that gains a copy of row (1, 1) at each time from 0 to below `upto`."""
    trace = Trace(1, 1, 1, ())
    for time in range(upto):
        seal(trace, [((1, 1), (time,), 1)], since=time)
    return trace


def grow(trace: Trace, times: range) -> None:
    for time in times:
        seal(trace, [((1, 1), (time,), 1)], since=time)
    shims.absorb(trace, times.stop)


def updates_held(trace: Trace) -> int:
    return sum(len(layer) for layer in shims.layers(trace))


def test_a_logical_hold_keeps_every_time_from_it_on_readable() -> None:
    trace = counted(3)
    handle = Handle(trace, Antichain(1, [(2,)]))
    grow(trace, range(3, 9))
    counts = [shims.as_of(trace, (time,)) for time in range(2, 9)]
    assert counts == [{(1, 1): time + 1} for time in range(2, 9)]
    assert handle.since == Antichain(1, [(2,)])


def test_without_a_hold_the_times_of_a_row_collapse() -> None:
    trace = counted(3)
    grow(trace, range(3, 9))
    assert updates_held(trace) < 9


def test_advancing_a_hold_lets_compaction_go_on() -> None:
    trace = counted(1)
    handle = Handle(trace)
    grow(trace, range(1, 9))
    assert updates_held(trace) == 9
    handle.advance(Antichain(1, [(8,)]))
    grow(trace, range(9, 15))
    assert updates_held(trace) < 9


def test_dropping_a_handle_lets_compaction_go_on() -> None:
    trace = counted(1)
    handle = Handle(trace)
    grow(trace, range(1, 9))
    del handle
    grow(trace, range(9, 15))
    assert updates_held(trace) < 9


def test_what_was_held_apart_is_compacted_although_only_little_comes_after() -> None:
    trace = Trace(1, 1, 1, ())
    handle = Handle(trace)
    for time in range(2_000):  # row (1, t) is there at time t alone
        rows = [((1, time), (time,), 1)] + ([((1, time - 1), (time,), -1)] if time else [])
        seal(trace, rows, since=time)
    assert updates_held(trace) == 3_999
    del handle
    for time in range(2_000, 2_600):
        seal(trace, [((1, time), (time,), 1), ((1, time - 1), (time,), -1)], since=time)
    assert updates_held(trace) < 500
    assert shims.as_of(trace, (2_599,)) == {(1, 2_599): 1}


def test_the_earliest_of_two_holds_counts() -> None:
    trace = counted(2)
    early, late = (Handle(trace, Antichain(1, [(t,)])) for t in (1, 5))
    grow(trace, range(2, 9))
    assert shims.as_of(trace, (1,)) == {(1, 1): 2}
    assert early.since != late.since


def test_a_hold_on_times_that_were_compacted_is_refused() -> None:
    trace = counted(5)
    with pytest.raises(TimeCompacted, match="can be read as of"):
        Handle(trace, Antichain(1, [(3,)]))
    assert shims.as_of(trace, (5,)) == {(1, 1): 5}


def test_a_hold_does_not_move_back() -> None:
    handle = Handle(counted(1), Antichain(1, [(5,)]))
    with pytest.raises(TimeInPast, match="not in advance"):
        handle.advance(Antichain(1, [(4,)]))
    assert handle.since == Antichain(1, [(5,)])


def test_a_given_up_hold_is_not_taken_up_again() -> None:
    handle = Handle(counted(1))
    handle.advance(Antichain(1))
    with pytest.raises(TimeInPast, match="not in advance"):
        handle.advance(Antichain(1, [(9,)]))


def test_a_hold_of_other_coordinates_is_refused() -> None:
    with pytest.raises(ValueError, match="1 coordinates"):
        Handle(counted(1), Antichain(2, [(0, 0)]))


def test_a_closed_trace_without_handles_releases_its_content() -> None:
    trace = counted(3)
    shims.publish(trace)
    trace.close()
    assert shims.held(trace) == (0, 0)


def test_the_last_logical_hold_on_a_closed_trace_keeps_its_content() -> None:
    trace = counted(3)
    handle = Handle(trace)
    trace.close()
    assert shims.as_of(trace, (2,)) == {(1, 1): 3}
    handle.advance(Antichain(1))
    assert shims.held(trace) == (0, 0)


def test_dropping_the_last_handle_on_a_closed_trace_releases_its_content() -> None:
    trace = counted(3)
    handle = Handle(trace)
    trace.close()
    del handle
    assert shims.held(trace) == (0, 0)
