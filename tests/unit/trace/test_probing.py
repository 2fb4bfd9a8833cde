"""Probes find the keys that galloping finds, however few they are and wherever they lie."""

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from ivm.trace import shims
from ivm.trace.spine import Trace

Numbers = NDArray[np.int64]

MANY = 150_000
FEW = [1, 2, 7, 8, 31, 32, 33, 100, 1_000]  # about what is sought at once, and steps alike
HELD = {
    "evenly": 3 * np.arange(MANY),
    "most in front": np.arange(MANY) + (np.arange(MANY) > MANY - 50) * 10**9,
    "most behind": np.arange(MANY) + (np.arange(MANY) > 50) * 10**9,
    "further and further apart": np.arange(MANY) ** 3,
    "at random": np.sort(np.random.default_rng(1).integers(0, 2**62, MANY)),
    "in heaps": np.arange(MANY) + (np.arange(MANY) // 1_000) * 10**12,
    "few of many": np.arange(MANY) // 50 * 10**6 + np.arange(MANY) % 50,
}


@cache
def many(how: str, words: int) -> Trace:
    return keys(HELD[how], words)


def keys(numbers: Numbers, words: int) -> Trace:
    """A layer of these keys; of two words, several keys share the first."""
    numbers = np.unique(numbers)
    rows = np.zeros((len(numbers), words + 2), np.uint64)
    rows[:, words - 1] = numbers
    if words == 2:
        rows[:, 0], rows[:, 1] = np.divmod(numbers, 5)
    rows[:, -1] = 1
    trace = Trace(words, 0, 1, ())
    shims.seal(trace, rows, 0)
    shims.absorb(trace, 0)
    return trace


def sought(held: Numbers, few: int) -> dict[str, Numbers]:
    """Keys to look for, some of which are there and some not."""
    near = held + np.arange(len(held)) % 2
    return {
        "all over": np.random.default_rng(few).choice(near, few),
        "the first ones": near[:few],
        "the last ones": near[-few:],
        "at both ends": np.concatenate([near[: few // 2], near[-1 - few // 2 :]]),
        "beyond": held[-1] + 1 + np.arange(few),
    }


@pytest.mark.parametrize("words", [1, 2])
@pytest.mark.parametrize("few", FEW)
@pytest.mark.parametrize("how", HELD)
def test_probes_find_what_galloping_finds(how: str, few: int, words: int) -> None:
    held = many(how, words)
    for where, numbers in sought(HELD[how], few).items():
        galloped, probed = shims.sought(held, keys(numbers, words))
        assert probed == galloped, where
        assert where == "beyond" or max(galloped) >= 0 or few == 1


def test_a_batch_of_one_key_is_probed_too() -> None:
    assert shims.sought(keys(np.array([5]), 1), keys(np.array([4, 5, 6]), 1))[1] == [-1, 0, -1]
