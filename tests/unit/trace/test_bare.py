"""Bare rows, of one time and inserted once, make up the batch that they do with times and diffs."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from ivm.trace.shims import held, layers, seal_bare, seal_unsorted, share
from ivm.trace.spine import Trace

Rows = NDArray[np.uint64]
Kind = Callable[[np.random.Generator, int], Rows]

TIME = 5
FEW = 9_000  # that the caches hold
MANY = 120_000  # more than are sorted without buckets


def _pairs(keys: ArrayLike, values: ArrayLike) -> Rows:
    return np.stack(np.broadcast_arrays(keys, values), axis=1).astype(np.uint64)


def _distinct(numbers: np.random.Generator, n: int) -> Rows:
    return _pairs(numbers.permutation(n), numbers.integers(0, 1 << 60, n))


def _of_few_keys(numbers: np.random.Generator, n: int) -> Rows:
    return _pairs(numbers.integers(0, 50, n), numbers.permutation(n))


def _mostly_of_one_key(numbers: np.random.Generator, n: int) -> Rows:
    keys = np.where(numbers.random(n) < 0.99, 7, numbers.integers(0, n, n))
    return _pairs(keys, numbers.permutation(n))


def _ascending(numbers: np.random.Generator, n: int) -> Rows:
    return _pairs(np.arange(n) // 3, np.arange(n))


def _ascending_at_first(numbers: np.random.Generator, n: int) -> Rows:
    return _pairs(np.roll(np.arange(n), n // 3), 4)


def _descending(numbers: np.random.Generator, n: int) -> Rows:
    return _pairs(np.arange(n)[::-1], 4)


def _once_repeated(numbers: np.random.Generator, n: int) -> Rows:
    keys = numbers.permutation(n)
    keys[n // 2] = keys[0]
    return _pairs(keys, 4)


def _often_repeated(numbers: np.random.Generator, n: int) -> Rows:
    return _pairs(numbers.integers(0, 300, n), numbers.integers(0, 3, n))


def _all_equal(numbers: np.random.Generator, n: int) -> Rows:
    return _pairs(np.full(n, 8), 9)


KINDS = (
    _distinct,
    _of_few_keys,
    _mostly_of_one_key,
    _ascending,
    _ascending_at_first,
    _descending,
    _once_repeated,
    _often_repeated,
    _all_equal,
)


def dressed(rows: Rows) -> Rows:
    """The rows with their time and a diff."""
    beside = np.broadcast_to(np.array([TIME, 1], np.uint64), (len(rows), 2))
    return np.concatenate([rows, beside], axis=1)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("n", [1, 100, FEW, MANY])
@pytest.mark.parametrize("kind", KINDS)
def test_the_batch_is_the_same(kind: Kind, n: int, threads: int) -> None:
    rows = kind(np.random.default_rng(n), n)
    check(rows, 1, threads)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("key_words", [1, 2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_keys_and_values_may_have_any_widths(kind: Kind, key_words: int, threads: int) -> None:
    numbers = np.random.default_rng(key_words)
    rows = np.concatenate([kind(numbers, MANY), _pairs(numbers.integers(0, 2, MANY), 1)], axis=1)
    check(rows[:, :3].copy(), key_words, threads)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_a_row_may_have_a_single_word(kind: Kind, threads: int) -> None:
    rows = kind(np.random.default_rng(1), MANY)
    check(rows[:, :1].copy(), 1, threads)


def check(rows: Rows, key_words: int, threads: int) -> None:
    bare, ordinary = (Trace(key_words, rows.shape[1] - key_words, 1, ()) for _ in range(2))
    share(bare, threads)
    seal_bare(bare, np.array_split(rows, 2 * threads - 1), TIME, 0)
    seal_unsorted(ordinary, dressed(rows), 0)
    for found, wanted in zip(layers(bare), layers(ordinary), strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert held(bare) == held(ordinary)  # no array more
