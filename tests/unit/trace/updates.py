"""What the tests of traces share: updates as arrays, and collections by recomputation."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from ivm.trace import shims
from ivm.trace.spine import Trace

Time = tuple[int, ...]
Row = tuple[int, ...]
Update = tuple[Row, Time, int]
Array = NDArray[np.uint64]


def array(updates: Sequence[Update], width: int) -> Array:
    """One row of `width` words for each update: row, time, diff."""
    rows = [(*row, *time, diff % 2**64) for row, time, diff in updates]
    return np.array(rows, np.uint64).reshape(len(rows), width)


def unpacked(batch: Array, row_words: int) -> list[Update]:
    """The reverse of `array`."""
    return [
        (tuple(words[:row_words]), tuple(words[row_words:-1]), (words[-1] + 2**63) % 2**64 - 2**63)
        for words in batch.tolist()
    ]


def collection(updates: Iterable[Update], time: Time) -> dict[Row, int]:
    """The count of each row as of `time`."""
    counts: Counter[Row] = Counter()
    for row, at, diff in updates:
        if all(map(int.__le__, at, time)):
            counts[row] += diff
    return {row: count for row, count in counts.items() if count}


def updates(
    row_words: int, time_words: int, root: st.SearchStrategy[int], size: int = 12
) -> st.SearchStrategy[list[Update]]:
    """Few distinct rows and times, so that many meet; diffs that cancel."""
    row = st.tuples(*[st.integers(0, 3)] * row_words)
    time = st.tuples(root, *[st.integers(0, 2)] * (time_words - 1))
    return st.lists(st.tuples(row, time, st.sampled_from([1, 1, -1, 2])), max_size=size)


def seal(trace: Trace, batch: Sequence[Update], since: int = 0) -> None:
    """Seal `batch` as the trace's fresh batch."""
    width = trace.key_words + trace.val_words + trace.time_words + 1
    shims.seal(trace, array(batch, width), since)
