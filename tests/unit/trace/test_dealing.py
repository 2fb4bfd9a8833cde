"""Many rows are dealt out to the shards that own their keys, and sorted on the way."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import ArrayLike, NDArray

from ivm.rows.interner import Interner
from ivm.rows.layout import Layout
from ivm.trace.shims import consolidated, dealt

Updates = NDArray[np.uint64]
Part = tuple[Updates, bool]

LAYOUT = Layout(pa.schema([pa.field(n, pa.int64(), nullable=False) for n in ("a", "b")]))
FEW = 10_000  # that the caches hold
MANY = 60_000  # more than are sorted without buckets, and more than are sampled
OTHER_WORD = 1 << 40

few_or_many = pytest.mark.parametrize("n", [FEW, MANY])


def updates(*columns: ArrayLike) -> Updates:
    """Rows of two words, a time and a diff each."""
    return np.stack(np.broadcast_arrays(*columns), axis=1).astype(np.uint64)


def random_rows(seed: int, n: int, values: int) -> Updates:
    numbers = np.random.default_rng(seed)
    return updates(numbers.integers(0, values, n), numbers.integers(0, values, n), 0, 1)


def deal(parts: Sequence[Part], key: Sequence[int] = (1,), shards: int = 2) -> list[Updates]:
    return dealt(parts, 2, key, LAYOUT, Interner(), shards)


def check(parts: Sequence[Part], shards: int = 2) -> None:
    """Together the shards have the parts' sum, each a consolidated piece, and a key lies in one."""
    found = deal(parts, shards=shards)
    for piece in found:
        np.testing.assert_array_equal(piece, consolidated(piece, 2))
    wanted = np.concatenate([part for part, _ in parts])
    flipped = np.concatenate([np.full(len(part), negated) for part, negated in parts])
    wanted[flipped, -1] = -wanted[flipped, -1]
    together = consolidated(np.concatenate(found), 2)
    np.testing.assert_array_equal(together, consolidated(wanted, 2))
    owners = Counter(key for piece in found for key in set(piece[:, 1].tolist()))
    assert set(owners.values()) <= {1}


@pytest.mark.parametrize("shards", [2, 3])
@pytest.mark.parametrize("n", [1, 2, FEW, MANY])
def test_each_shard_has_the_rows_of_its_keys_in_order(n: int, shards: int) -> None:
    check([(random_rows(0, n, 1000), False)], shards)


@few_or_many
def test_rows_of_several_parts_are_added_up_and_those_of_a_negated_one_taken_away(n: int) -> None:
    rows = random_rows(1, n, 100)
    check([(rows, False), (rows[: n // 2], True), (random_rows(2, 999, 100), False)])
    assert sum(map(len, deal([(rows, False), (rows, True)]))) == 0


@few_or_many
def test_parts_may_be_empty(n: int) -> None:
    none = random_rows(0, 0, 2)
    check([(none, False), (random_rows(3, n, 50), False), (none, True)])
    assert [len(piece) for piece in deal([(none, False)])] == [0, 0]


@few_or_many
def test_most_rows_may_have_one_key(n: int) -> None:
    rows = random_rows(4, n, 1 << 30)
    rows[: n - 10, 1] = 7
    check([(rows, False)])


@few_or_many
def test_equal_rows_are_one(n: int) -> None:
    found = deal([(updates(np.full(n, 5), 6, 0, 1), False)])
    assert [piece.tolist() for piece in found if len(piece)] == [[[5, 6, 0, n]]]


@pytest.mark.parametrize("place", range(0, MANY, 4_999))
@pytest.mark.parametrize("word", [0, 1])
def test_a_row_that_differs_in_other_bits_than_all_others_is_sorted_too(
    place: int, word: int
) -> None:
    rows = updates(3, np.random.default_rng(place).integers(0, 1000, MANY), 0, 1)
    rows[place, word] = OTHER_WORD
    check([(rows, False)])


@pytest.mark.parametrize("place", range(0, MANY, 4_999))
@pytest.mark.parametrize("word", [0, 1])
def test_so_it_is_by_one_thread(place: int, word: int) -> None:
    rows = updates(3, np.random.default_rng(place).integers(0, 1000, MANY), 0, 1)
    rows[place, word] = OTHER_WORD
    by_numpy, counts = np.unique(rows[:, :3], axis=0, return_counts=True)
    np.testing.assert_array_equal(consolidated(rows, 2), np.column_stack([by_numpy, counts]))


@few_or_many
def test_times_are_kept_apart(n: int) -> None:
    numbers = np.random.default_rng(5)
    rows = updates(numbers.integers(0, 9, n), numbers.integers(0, 9, n), np.arange(n), 1)
    check([(rows, False)])
    assert sum(map(len, deal([(rows, False)]))) == n
