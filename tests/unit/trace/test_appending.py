"""What follows a batch in the order of keys goes behind its rows, and no batch changes."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ivm.trace import shims
from ivm.trace.frontier import Antichain
from ivm.trace.handle import Handle
from ivm.trace.spine import Trace
from ivm.trace.subscription import Subscription

MANY = 40_000  # rows of two words: two such batches make a large one

Rows = NDArray[np.uint64]


def rows(first: int, count: int, time: int, diff: int = 1) -> Rows:
    """Keys from `first` on, each with the value 7."""
    keys = np.arange(first, first + count, dtype=np.uint64)
    sevens, times = np.full(count, 7, np.uint64), np.full(count, time, np.uint64)
    return np.column_stack([keys, sevens, times, np.full(count, diff, np.int64).view(np.uint64)])


def step(trace: Trace, given: Rows, time: int) -> None:
    """Seal what came at `time`, which is then past."""
    shims.seal(trace, given, time)
    shims.absorb(trace, time)


def lengths(trace: Trace) -> list[int]:
    return [len(layer) for layer in shims.layers(trace)]


def sums(parts: list[Rows]) -> Rows:
    """What updates add up to, whatever their times."""
    together = np.concatenate(parts)
    together[:, 2] = 0
    return shims.consolidated(together, 2)


def test_what_follows_is_appended_whatever_the_sizes() -> None:
    trace = Trace(1, 1, 1, ())
    held = []
    for time in range(8):
        step(trace, rows(time * MANY, MANY, time), time)
        held.append([length // MANY for length in lengths(trace)])
    step(trace, rows(8 * MANY, 20, 8), 8)
    assert held == [[1], [2], [3], [4], [4, 1], [5, 1], [7], [8]]  # the fifth has no room
    assert lengths(trace) == [8 * MANY + 20]


def test_a_batch_stays_as_it_was_when_others_are_appended_to_its_block() -> None:
    trace, views = Trace(1, 1, 1, ()), []
    for time in range(12):
        step(trace, rows(time * MANY, MANY, time), time)
        views.append(Subscription(trace))
    for time, view in enumerate(views):
        before = [rows(t * MANY, MANY, t) for t in range(time + 1)]
        assert np.array_equal(sums(shims.history(view)), sums(before))


def test_two_traces_of_one_batch_append_apart() -> None:
    first, second = Trace(1, 1, 1, ()), Trace(1, 1, 1, ())
    for time in range(3):
        step(first, rows(time * MANY, MANY, time), time)
    shims.import_into(Subscription(first), second, 2)
    shims.absorb(second, 2)
    step(first, rows(3 * MANY, 9, 3), 3)
    step(second, rows(3 * MANY, 5, 3), 3)
    assert (sum(lengths(first)), sum(lengths(second))) == (3 * MANY + 9, 3 * MANY + 5)
    for trace, more in ((first, 9), (second, 5)):
        assert np.array_equal(sums(shims.layers(trace)), sums([rows(0, 3 * MANY + more, 0)]))


def test_times_that_are_held_stay_readable() -> None:
    trace = Trace(1, 1, 1, ())
    for time in range(2):
        step(trace, rows(time * MANY, MANY, time), time)
    handle = Handle(trace, Antichain(1, [(1,)]))
    step(trace, rows(2 * MANY, MANY, 2), 2)
    step(trace, rows(3 * MANY, MANY, 3), 3)
    assert handle.since == Antichain(1, [(1,)])
    counts = [len(shims.as_of(trace, (time,))) for time in (1, 2, 3)]
    assert counts == [2 * MANY, 3 * MANY, 4 * MANY]


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([1, 500, MANY, 2 * MANY]),
            st.sampled_from([0, 0, 0, 1, 300]),
            st.sampled_from([1, 1, 1, 1, -1, 2]),
        ),
        min_size=3,
        max_size=9,
    )
)
def test_layers_add_up_to_what_was_sealed(given: list[tuple[int, int, int]]) -> None:
    trace, sealed, end = Trace(1, 1, 1, ()), [], 0
    for time, (count, overlap, diff) in enumerate(given):
        first = max(end - overlap, 0)
        sealed.append(rows(first, count, time, diff))
        step(trace, sealed[-1], time)
        end = first + count
    assert np.array_equal(sums(shims.layers(trace)), sums(sealed))
