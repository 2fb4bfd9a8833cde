"""Helpers merge while their caller goes on: nobody can tell, and it may stop at any time."""

import os
from threading import Event

import numpy as np
import pytest
from numpy.typing import NDArray

from ivm.rows.shims import Chore
from ivm.trace.frontier import Antichain
from ivm.trace.handle import Handle
from ivm.trace.shims import absorb, as_of, consolidated, layers, seal_together, seal_unsorted, share
from ivm.trace.spine import Trace

MANY = 20_000  # updates, whose merges take helpers longer than it takes to begin them
PATIENCE = 60  # seconds

Updates = NDArray[np.uint64]


def some(seed: int) -> Updates:
    """Updates of one time, that of `seed`, some of which take others back."""
    numbers = np.random.default_rng(seed)
    updates = np.empty((MANY, 4), np.uint64)
    updates[:, 0] = numbers.integers(0, 3 * MANY, MANY)
    updates[:, 1] = numbers.integers(0, 3, MANY)
    updates[:, 2] = seed
    updates[:, 3] = numbers.choice(np.array([1, 1, 2**64 - 1], np.uint64), MANY)
    return updates


def busy(threads: int = 2, steps: int = 12) -> tuple[Trace, list[Updates]]:
    """A trace whose helpers have just begun to merge, and what it was given."""
    trace, given = Trace(1, 1, 1, ()), [some(step) for step in range(steps)]
    share(trace, threads)
    for step, updates in enumerate(given):
        seal_together(trace, np.array_split(updates, threads), step)
    absorb(trace, steps)
    return trace, given


def sums(parts: list[Updates]) -> Updates:
    """What updates add up to, whatever their times."""
    together = np.concatenate(parts)
    together[:, 2] = 0
    return consolidated(together, 2)


@pytest.mark.parametrize("threads", [2, 3])
def test_what_is_being_merged_is_read_as_it_was(threads: int) -> None:
    trace, given = Trace(1, 1, 1, ()), []
    share(trace, threads)
    for step in range(25):
        given.append(some(step))
        seal_together(trace, np.array_split(given[-1], threads), step)
        np.testing.assert_array_equal(sums(layers(trace)), sums(given))


@pytest.mark.parametrize("size", [2_000, 5_000, MANY])
def test_layers_stay_few_where_no_helper_comes(size: int) -> None:
    over, steps = Event(), 60
    kept_busy = Chore(lambda part: over.wait(PATIENCE), 16, 2)  # all that were ever hired here
    most = {}
    for threads in (1, 2):
        trace, seen = Trace(1, 1, 1, ()), []
        share(trace, threads)
        for step in range(steps):
            seal_unsorted(trace, some(step)[:size], step)
            seen.append(len(layers(trace)))
        most[threads] = max(seen)
    over.set()
    kept_busy.end()
    assert most[2] <= most[1] + 4 < steps / 4


def test_a_handle_keeps_times_apart_that_helpers_merge() -> None:
    trace = Trace(1, 1, 1, ())
    share(trace, 2)
    handle = Handle(trace, Antichain(1, [(0,)]))
    given = [some(step) for step in range(10)]
    for step, updates in enumerate(given):
        seal_together(trace, np.array_split(updates, 2), step)
        absorb(trace, step)
    for step in range(10):
        want = {
            (int(key), int(val)): diff for key, val, _, diff in sums(given[: step + 1]).view(int)
        }
        assert as_of(trace, (step,)) == want
    handle.advance(Antichain(1, []))


def test_a_trace_may_go_while_helpers_merge() -> None:
    for steps in range(2, 14):
        busy(steps=steps)


def test_a_forked_child_goes_on_with_what_was_being_merged() -> None:
    trace, given = busy()
    child = os.fork()
    seal_together(trace, [some(12)], 12)
    absorb(trace, 13)
    right = np.array_equal(sums(layers(trace)), sums([*given, some(12)]))
    if child == 0:
        os._exit(0 if right else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert right
