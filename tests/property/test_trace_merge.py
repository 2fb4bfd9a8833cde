"""Merging with fuel: large batches are merged a little at a time, which nobody can tell."""

import numpy as np
import pytest

from ivm.trace import shims
from ivm.trace.spine import Trace
from tests.unit.trace.updates import Array

SEEDS = range(12)
CLASSES = 4  # more layers than this few thousand updates never need


def counted(rows: Array, row_words: int, root: int) -> Array:
    """Each row with its count as of `root` (and every inner time)."""
    rows = rows[rows[:, row_words] <= root]
    distinct, which = np.unique(rows[:, :row_words], axis=0, return_inverse=True)
    counts = np.zeros(len(distinct), np.uint64)
    np.add.at(counts, which.ravel(), rows[:, -1])
    kept: Array = np.column_stack([distinct, counts])[counts != 0]
    return kept


def random_batch(rng: np.random.Generator, widths: tuple[int, int, int], root: int) -> Array:
    """Rows of a small or large domain, at times from `root` on, with diffs of either kind."""
    key, val, time = widths
    n = int(rng.choice([1, 20, 400, 3000]))
    batch = np.zeros((n, key + val + time + 1), np.uint64)
    batch[:, : key + val] = rng.integers(0, rng.choice([6, 60, 2**40]), (n, key + val))
    batch[:, key + val : -1] = rng.integers(0, 3, (n, time))
    batch[:, key + val] += np.uint64(root)
    batch[:, -1] = rng.choice(np.array([1, 1, 2**64 - 1], np.uint64), n)
    return batch


@pytest.mark.parametrize("seed", SEEDS)
def test_merges_in_progress_keep_the_collection_and_few_layers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    widths = [(1, 1, 1), (0, 2, 1), (2, 1, 2), (1, 0, 2)][seed % 4]
    key, val, time = widths
    trace = Trace(key, val, time, ())
    sealed: list[Array] = []
    for root in range(30):
        batch = random_batch(rng, widths, root)
        if sealed and rng.random() < 0.3:  # take back what an earlier batch brought
            undone = sealed[rng.integers(len(sealed))].copy()
            undone[:, key + val] = root
            undone[:, -1] = -undone[:, -1]
            batch = np.concatenate([batch, undone])
        shims.seal(trace, batch, root)
        sealed.append(batch)
    layers = shims.layers(trace)
    for root in (29, 30, 31):
        have, want = (counted(np.concatenate(rows), key + val, root) for rows in (layers, sealed))
        assert np.array_equal(have, want)
    assert len(layers) <= 3 * CLASSES + 4


@pytest.mark.parametrize("widths", [(1, 1, 1), (2, 1, 1), (1, 3, 1), (0, 1, 1)])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_merged_batch_has_each_key_and_each_row_once(
    seed: int, widths: tuple[int, int, int]
) -> None:
    rng = np.random.default_rng(seed)
    key, val, _ = widths
    trace = Trace(*widths, ())
    sealed: list[Array] = []
    for root in range(12):
        n = int(rng.choice([200, 2000]))
        batch = np.zeros((n, key + val + 2), np.uint64)
        batch[:, :key] = rng.integers(0, rng.choice([40, 1500, 200_000]), (n, 1))
        batch[:, key:-2] = rng.integers(0, rng.choice([2, 5, 2000]), (n, 1))
        batch[:, -2] = root
        batch[:, -1] = rng.choice(np.array([1, 2**64 - 1], np.uint64), n)
        if sealed:  # some keys, and some rows, that were there before
            again = sealed[rng.integers(len(sealed))]
            batch[::50, :-2] = again[rng.integers(len(again), size=len(batch[::50])), :-2]
        shims.seal(trace, batch, root)
        sealed.append(batch)
    shims.absorb(trace, 12)
    layers = shims.layers(trace)
    for layer in layers:
        rows = [tuple(row) for row in layer[:, :-1].tolist()]
        assert rows == sorted(set(rows))
        assert layer[:, -1].all()
    keys = len(np.unique(layers[0][:, :key], axis=0)) if len(layers[0]) else 0
    assert shims.sought(trace, trace)[0] == list(range(keys))
    have, want = (counted(np.concatenate(each), key + val, 12) for each in (layers, sealed))
    assert np.array_equal(have, want)


def unit_seals(trace: Trace, n: int) -> None:
    rng = np.random.default_rng(0)
    for root in range(n):
        row = np.array([[rng.integers(2**40), root, root, 1]], np.uint64)
        shims.seal(trace, row, root)


def test_layers_stay_logarithmic_over_many_seals_of_one_update() -> None:
    trace = Trace(1, 1, 1, ())
    unit_seals(trace, 20_000)
    sizes = [len(layer) for layer in shims.layers(trace)]
    assert sum(sizes) == 20_000
    assert len(sizes) <= 3 * CLASSES


def test_what_cancels_gives_its_memory_back() -> None:
    trace = Trace(1, 1, 1, ())
    n = 300_000
    rows = np.zeros((n, 4), np.uint64)
    rows[:, 0] = np.arange(n)
    rows[:, -1] = 1
    shims.seal(trace, rows, 0)
    full = shims.held(trace)[1]
    rows[:, -1] = 2**64 - 1
    shims.seal(trace, rows, 1)
    shims.absorb(trace, 2)
    assert full > 16 * n
    assert shims.held(trace) == (0, 0)


def test_a_compacted_row_of_two_words_takes_at_most_24_bytes() -> None:
    trace = Trace(1, 1, 1, ())
    n = 20_000
    rng = np.random.default_rng(1)
    for root in range(4):
        rows = np.ones((n, 4), np.uint64)
        rows[:, 0] = rng.integers(0, n, n)
        rows[:, 1] = rng.integers(0, 2**60, n)
        rows[:, 2] = root
        shims.seal(trace, rows, root)
    shims.absorb(trace, 4)
    _, held = shims.held(trace)
    assert held <= 24 * sum(len(layer) for layer in shims.layers(trace))
