"""Several threads seal and merge many updates of one trace: it is what one thread makes of them."""

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

from ivm.trace.shims import (
    absorb,
    consolidated,
    layers,
    publish,
    seal_together,
    seal_unsorted,
    share,
)
from ivm.trace.spine import Trace

Updates = NDArray[np.uint64]
Numbers = np.random.Generator
FEW = 9_000  # that the caches hold
MANY = 120_000  # more than are sorted without buckets


def _updates(key: ArrayLike, value: ArrayLike, time: ArrayLike, diff: ArrayLike) -> Updates:
    columns = np.broadcast_arrays(key, value, time, diff)
    return np.stack(columns, axis=1).astype(np.int64).astype(np.uint64)


def _distinct(numbers: Numbers, n: int) -> Updates:
    return _updates(numbers.permutation(n), numbers.integers(0, 9, n), 5, 1)


def _of_few_keys(numbers: Numbers, n: int) -> Updates:
    return _updates(numbers.integers(0, 50, n), numbers.integers(0, n, n), 5, 1)


def _of_one_key(numbers: Numbers, n: int) -> Updates:
    return _updates(7, numbers.permutation(n), 5, 1)


def _mostly_of_one_key(numbers: Numbers, n: int) -> Updates:
    keys = np.where(numbers.random(n) < 0.99, 7, numbers.integers(0, n, n))
    return _updates(keys, numbers.integers(0, n, n), 5, 1)


def _often_repeated(numbers: Numbers, n: int) -> Updates:
    return _updates(numbers.integers(0, 300, n), numbers.integers(0, 3, n), 5, 1)


def _often_cancelled(numbers: Numbers, n: int) -> Updates:
    diffs = numbers.choice([-1, 1], n)
    return _updates(numbers.integers(0, 300, n), numbers.integers(0, 20, n), 5, diffs)


def _gone(numbers: Numbers, n: int) -> Updates:
    rows = _distinct(numbers, n // 2)
    return np.concatenate([rows, rows * np.array([1, 1, 1, 2**64 - 1], np.uint64)])


def _of_several_times(numbers: Numbers, n: int) -> Updates:
    times, diffs = numbers.integers(0, 40, n), numbers.choice([-1, 1, 2], n)
    return _updates(numbers.integers(0, n, n), numbers.integers(0, 3, n), times, diffs)


def _of_a_time_for_each_half(numbers: Numbers, n: int) -> Updates:
    return _updates(keys := numbers.permutation(n), 0, np.where(keys < n // 2, 3, 4), 1)


def _ascending(updates: Updates) -> Updates:
    return updates[np.lexsort((updates[:, 2], updates[:, 1], updates[:, 0]))]


def _distinct_ascending(numbers: Numbers, n: int) -> Updates:
    return _ascending(_distinct(numbers, n))


def _of_few_keys_ascending(numbers: Numbers, n: int) -> Updates:
    return _updates(np.arange(n) * 50 // n, np.arange(n), 5, 1)


def _of_one_key_ascending(numbers: Numbers, n: int) -> Updates:
    return _ascending(_of_one_key(numbers, n))


def _of_one_key_between_others_ascending(numbers: Numbers, n: int) -> Updates:
    return _updates(np.clip(np.arange(n), n // 9, n - n // 9), np.arange(n), 5, 1)


def _of_several_times_ascending(numbers: Numbers, n: int) -> Updates:
    n_th, diffs = np.arange(n), numbers.choice([-1, 2], n)
    return _updates(n_th // 7, n_th // 3, n_th % 3, diffs)


def _ascending_but_for_one(numbers: Numbers, n: int) -> Updates:
    updates = _distinct_ascending(numbers, n)
    updates[n - n // 8, 0] = 3
    return updates


def _ascending_but_for_repetitions(numbers: Numbers, n: int) -> Updates:
    return _updates(np.arange(n) // 2, 0, 5, 1)


def _ascending_but_for_diffs_of_nothing(numbers: Numbers, n: int) -> Updates:
    return _updates(np.arange(n), 0, 5, np.arange(n) % 1000 != 0)


KINDS = (
    _distinct_ascending,
    _of_few_keys_ascending,
    _of_one_key_ascending,
    _of_one_key_between_others_ascending,
    _of_several_times_ascending,
    _ascending_but_for_one,
    _ascending_but_for_repetitions,
    _ascending_but_for_diffs_of_nothing,
    _distinct,
    _of_few_keys,
    _of_one_key,
    _mostly_of_one_key,
    _often_repeated,
    _often_cancelled,
    _gone,
    _of_several_times,
    _of_a_time_for_each_half,
)
Kind = Callable[[Numbers, int], Updates]


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("n", [100, FEW, MANY])
@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_is_the_same_whoever_builds_it(kind: Kind, n: int, threads: int) -> None:
    updates = kind(np.random.default_rng(n), n)
    alone, together = Trace(1, 1, 1, ()), Trace(1, 1, 1, ())
    share(together, threads)
    seal_unsorted(alone, updates.copy(), 0)
    seal_together(together, np.array_split(updates, 4), 0)
    _expect_the_same(alone, together)


def _expect_the_same(alone: Trace, together: Trace) -> None:
    for trace in (alone, together):
        absorb(trace, 0)
        publish(trace)
    assert alone.account() == together.account()  # as many keys, and no array more
    assert len(layers(alone)) == len(layers(together))
    for one, other in zip(layers(alone), layers(together), strict=True):
        np.testing.assert_array_equal(one, other)


# Seals what ascends in seven parts, and prints how many threads have come.
IN_PARTS = """
import os
import numpy as np
from ivm.trace.shims import seal_together, share
from ivm.trace.spine import Trace
updates = np.stack([np.arange(90_000), np.arange(90_000), np.full(90_000, 5), np.ones(90_000)], 1)
before = len(os.listdir("/proc/self/task"))
for n in (9_000, 90_000):
    trace = Trace(1, 1, 1, ())
    share(trace, 2)
    seal_together(trace, np.array_split(updates[:n].astype(np.uint64), 7), 0)
print(len(os.listdir("/proc/self/task")) - before)
"""


def test_many_parts_hire_no_more_threads_than_the_trace_has() -> None:
    told = subprocess.run([sys.executable, "-c", IN_PARTS], capture_output=True, check=True)
    assert told.stdout.split() == [b"1"]


@given(
    rows=st.sets(st.tuples(st.integers(0, 4), st.integers(0, 9)), min_size=1),
    cuts=st.lists(st.integers(0, 50), max_size=5),
    threads=st.integers(2, 4),
)
def test_rows_that_ascend_may_be_parted_anywhere(
    rows: set[tuple[int, int]], cuts: list[int], threads: int
) -> None:
    keys, values = zip(*sorted(rows), strict=True)
    updates = _updates(keys, values, 5, 1)
    alone, together = Trace(1, 1, 1, ()), Trace(1, 1, 1, ())
    share(together, threads)
    seal_unsorted(alone, updates.copy(), 0)
    seal_together(together, np.split(updates, np.minimum(sorted(cuts), len(updates))), 0)
    _expect_the_same(alone, together)


@given(
    cuts=st.lists(st.integers(0, MANY), max_size=7),
    parts=st.integers(2, 4),
    of_each_key=st.integers(1, 3),
    again=st.booleans(),
    threads=st.integers(2, 4),
)
def test_parts_that_ascend_may_take_turns(
    cuts: list[int], parts: int, of_each_key: int, again: bool, threads: int
) -> None:
    numbers = np.arange(MANY)
    pieces = np.split(_updates(numbers // of_each_key, numbers, 5, 1), sorted(cuts))
    if again:
        pieces += pieces[:1]
    given = [np.concatenate([pieces[0][:0], *pieces[part::parts]]) for part in range(parts)]
    alone, together = Trace(1, 1, 1, ()), Trace(1, 1, 1, ())
    share(together, threads)
    seal_unsorted(alone, np.concatenate(given), 0)
    seal_together(together, given, 0)
    _expect_the_same(alone, together)


@pytest.mark.parametrize("key_words", [1, 2])
@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("since", [0, 20, 2**40])
@pytest.mark.parametrize("kind", KINDS)
def test_a_sum_is_the_same_whoever_merges(
    kind: Kind, since: int, threads: int, key_words: int
) -> None:
    numbers = np.random.default_rng(11)
    alone, together = Trace(key_words, 2 - key_words, 1, ()), Trace(key_words, 2 - key_words, 1, ())
    share(together, threads)
    for n in (FEW, FEW, 3 * FEW, 100, FEW, 2 * FEW, FEW):
        updates = kind(numbers, n)
        for trace in (alone, together):
            seal_unsorted(trace, updates.copy(), since)
            absorb(trace, since)
    np.testing.assert_array_equal(_all(alone, since), _all(together, since))


def _all(trace: Trace, since: int) -> Updates:
    """All that a trace holds, with times that nobody tells apart any more as one."""
    held = np.concatenate([np.empty((0, 4), np.uint64), *layers(trace)])
    held[:, 2] = np.maximum(held[:, 2], since)
    return consolidated(held, 2)
