"""Net changes: for each key at one time the row that was there, and the row that is there now.

For sinks that keep one row per key. A row that is taken out and put back differently, in whatever
order, is one change; a row is never taken out of a key before another time put it there.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from connectors.errors import KeyNotUnique
from connectors.sinks.json_texts import json_texts
from connectors.sinks.sink import Changes


@dataclass(frozen=True, slots=True)
class Net:
    """Changes in order of time: `before[i]` and `after[i]` are positions of rows, -1 for none.

    Of both, one at least is a row.
    """

    times: NDArray[np.uint64]
    before: NDArray[np.int64]
    after: NDArray[np.int64]

    @property
    def named(self) -> NDArray[np.int64]:
        """The position of a row that has the key of each change."""
        return np.where(self.after >= 0, self.after, self.before)


def net(changes: Changes, key: tuple[str, ...]) -> Net:
    """Fold `changes` per time and key (raises KeyNotUnique for a key with several rows)."""
    texts = json_texts(changes.rows.select(list(key)))
    codes = np.asarray(texts.dictionary_encode().indices)
    order = np.lexsort((codes, changes.times))
    times, codes, diffs = changes.times[order], codes[order], changes.diffs[order]
    is_first = np.ones(len(order), bool)
    is_first[1:] = (times[1:] != times[:-1]) | (codes[1:] != codes[:-1])
    groups = np.cumsum(is_first) - 1
    return Net(
        times[is_first],
        _rows(order, groups, -diffs, texts),
        _rows(order, groups, diffs, texts),
    )


def _rows(
    order: NDArray[np.int64],
    groups: NDArray[np.int64],
    counts: NDArray[np.int64],
    texts: pa.Array,
) -> NDArray[np.int64]:
    """For each group the one row that counts once; -1 where none does."""
    chosen = np.flatnonzero(counts > 0)
    totals = np.zeros(groups[-1] + 1 if len(groups) else 0, np.int64)
    np.add.at(totals, groups[chosen], counts[chosen])
    if (totals > 1).any():
        first = chosen[totals[groups[chosen]] > 1][0]
        raise KeyNotUnique(f"key {texts[int(order[first])].as_py()} has several rows at once")
    rows = np.full(len(totals), -1, np.int64)
    rows[groups[chosen]] = order[chosen]
    return rows
