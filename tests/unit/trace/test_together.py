"""Several threads seal and merge many updates of one trace: it is what one thread makes of them."""

from collections.abc import Callable

import numpy as np
import pytest
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
from ivm.trace.trace import Trace

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


KINDS = (
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
    for trace in (alone, together):
        absorb(trace, 0)
        publish(trace)
    assert alone.account() == together.account()  # as many keys, and no array more
    assert len(layers(alone)) == len(layers(together))
    for one, other in zip(layers(alone), layers(together), strict=True):
        np.testing.assert_array_equal(one, other)


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
