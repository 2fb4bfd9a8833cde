"""A batch of many unsorted updates is the one that their sorted sum would be."""

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from ivm.trace import shims
from ivm.trace.spine import Trace

Updates = NDArray[np.uint64]

MANY = 60_000  # more than are sorted without buckets, and more than are sampled
MINUS_ONE = 2**64 - 1


def updates(*columns: ArrayLike) -> Updates:
    """The words of each update: those of a key and a value, then times, then a diff."""
    given = [np.asarray(column, np.uint64) for column in columns]
    return np.stack(np.broadcast_arrays(*given), axis=1)


def numbers(seed: int, below: int) -> Updates:
    return np.random.default_rng(seed).integers(0, below, MANY, np.uint64)


def check(given: Updates, key_words: int = 1, val_words: int = 1) -> None:
    """Sealed as they are they make up the batch that they make up sorted, in as much memory."""
    traces = []
    for seal in (shims.seal, shims.seal_unsorted):
        trace = Trace(key_words, val_words, given.shape[1] - key_words - val_words - 1, ())
        seal(trace, given.copy(), 0)
        traces.append(trace)
    wanted, found = map(shims.layers, traces)
    assert len(found) == len(wanted) <= 1
    for batch, expected in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(batch, expected)
    assert shims.held(traces[1]) == shims.held(traces[0])


@pytest.mark.parametrize("keys", [1, 100, 1 << 40])
@pytest.mark.parametrize("values", [1, 100, 1 << 40])
def test_rows_are_in_order_with_their_sums(keys: int, values: int) -> None:
    check(updates(numbers(0, keys), numbers(1, values), 0, 1))


@pytest.mark.parametrize("place", [0, MANY // 2, MANY - 1])
def test_diffs_are_kept_from_whichever_row_on_they_are_not_1(place: int) -> None:
    given = updates(np.arange(MANY)[::-1], 7, 0, 1)
    given[place, -1] = MINUS_ONE
    check(given)


def test_rows_that_cancel_leave_nothing() -> None:
    given = updates(numbers(0, 1 << 30), 5, 0, 1)
    check(np.concatenate([given, given * np.array([1, 1, 1, MINUS_ONE], np.uint64)]))


def test_most_rows_may_have_one_key() -> None:
    given = updates(numbers(0, 1 << 50), numbers(1, 1 << 30), 0, 1)
    given[: MANY - 10, 0] = 7
    check(given)


def test_rows_of_several_times_are_told_apart() -> None:
    check(updates(numbers(0, 1000), numbers(1, 10), numbers(2, 3), 1))


@pytest.mark.parametrize("place", [0, MANY // 2, MANY - 1])
def test_one_row_may_have_another_time(place: int) -> None:
    given = updates(np.arange(MANY), 7, 0, 1)
    given[place, 2] = 1
    check(np.random.default_rng(0).permutation(given))


@pytest.mark.parametrize("key", [0, 1 << 50])
def test_equal_rows_of_one_key_are_added_up_once_where_another_key_has_another_time(
    key: int,
) -> None:
    given = updates(7, numbers(0, 10), 0, 1)
    given[0, :3] = key, 0, 1
    check(given)


def test_times_may_have_several_coordinates() -> None:
    check(updates(numbers(0, 1000), numbers(1, 1000), 3, 5, 1))
    check(updates(numbers(0, 1000), numbers(1, 1000), 3, numbers(2, 2), 1))


@pytest.mark.parametrize(("key_words", "val_words"), [(0, 1), (1, 0), (2, 3), (3, 1)])
def test_rows_may_have_any_width(key_words: int, val_words: int) -> None:
    words = [numbers(word, 50) for word in range(key_words + val_words)]
    check(updates(*words, 0, 1), key_words, val_words)


def test_what_ascends_is_sealed_as_it_is() -> None:
    check(updates(np.arange(MANY), 7, 0, 1))
