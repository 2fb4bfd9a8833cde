"""Digests of output collections, the same as in the peers' programs.

Order does not matter: rows count with their multiplicity, and the sum of a mix of each row wraps
at 64 bits.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]


class Answer:
    """The output accumulated so far: the number of its rows and the sum of their mixes."""

    def __init__(self) -> None:
        self.rows = 0
        self.sum = 0

    def absorb(self, words: Sequence[Words], diffs: NDArray[np.int64]) -> None:
        """Take in changes of rows: `words` has an array for each column."""
        self.rows += int(diffs.sum())
        weighted = _mix(words) * diffs.view(np.uint64)
        self.sum = (self.sum + int(weighted.sum(dtype=np.uint64))) % 2**64


def _mix(words: Sequence[Words]) -> Words:
    """The finisher of splitmix64, chained over the words of each row."""
    state = np.zeros_like(words[0])
    for word in words:
        z = (state ^ word) + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state = z ^ (z >> np.uint64(31))
    return state
