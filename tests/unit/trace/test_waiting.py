"""Layers of a few updates wait until there are eight, and are then summed at once."""

from ivm.trace import shims
from ivm.trace.spine import Trace
from tests.unit.trace.updates import Update, seal

MANY = 100  # updates of a batch that waits for nothing


def one_row_each(times: range, trace: Trace) -> None:
    """A row of its own at each of `times`, all past afterwards."""
    for time in times:
        seal(trace, [((time, time), (time,), 1)], since=time)
    shims.absorb(trace, times.stop)


def many_rows() -> list[Update]:
    return [((1000 + i, 0), (0,), 1) for i in range(MANY)]


def lengths(trace: Trace) -> list[int]:
    return [len(layer) for layer in shims.layers(trace)]


def test_seven_layers_wait() -> None:
    trace = Trace(1, 1, 1, ())
    one_row_each(range(7), trace)
    assert lengths(trace) == [1] * 7


def test_eight_layers_are_summed() -> None:
    trace = Trace(1, 1, 1, ())
    one_row_each(range(8), trace)
    assert lengths(trace) == [8]


def test_a_sum_is_compacted() -> None:
    trace = Trace(1, 1, 1, ())
    for time in range(8):  # row (1, t) is there at time t alone
        seal(trace, [((1, time), (time,), 1)] + [((1, time - 1), (time,), -1)] * (time > 0), time)
    shims.absorb(trace, 8)
    assert lengths(trace) == [1]


def test_a_sum_of_nothing_leaves_no_layer() -> None:
    trace = Trace(1, 1, 1, ())
    for diff in (1, -1) * 4:
        seal(trace, [((1, 1), (0,), diff)])
    shims.absorb(trace, 1)
    assert lengths(trace) == []


def test_sums_of_a_few_updates_wait_again() -> None:
    trace = Trace(1, 1, 1, ())
    one_row_each(range(9), trace)
    assert lengths(trace) == [8, 1]


def test_a_larger_batch_waits_for_nothing_and_takes_what_waits_with_it() -> None:
    trace = Trace(1, 1, 1, ())
    one_row_each(range(5), trace)
    seal(trace, many_rows(), since=5)
    shims.absorb(trace, 5)
    assert lengths(trace) == [MANY + 5]


def test_readers_see_what_waits() -> None:
    trace = Trace(1, 1, 1, ())
    seen = []
    for time in range(9):
        seal(trace, [((time, time), (time,), 1)], since=time)
        shims.publish(trace)
        seen.append(sum(len(batch) for batch in shims.published(trace)))
    assert seen == list(range(1, 10))
