"""What the service counts while it runs, and the histograms of its durations.

Written by the thread that applies batches and read by scrapes; a scrape may see a batch half
counted, never a torn number.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# Upper bounds in seconds, each 10% above the last, from 1 ms to about 4 minutes: a quantile read
# from the histogram is off by 5% at most.
BOUNDS = np.round(0.001 * 1.1 ** np.arange(131), 6)


class Histogram:
    """Counts of durations in seconds by `BOUNDS`, the last bucket being open."""

    def __init__(self) -> None:
        self.counts: NDArray[np.int64] = np.zeros(len(BOUNDS) + 1, np.int64)
        self.total = 0.0

    def observe(self, seconds: NDArray[np.float64]) -> None:
        """Count these durations; negative ones, from clocks that disagree, count as 0."""
        at_least_zero = np.maximum(seconds, 0.0)
        buckets = np.searchsorted(BOUNDS, at_least_zero)
        self.counts = self.counts + np.bincount(buckets, minlength=len(self.counts))
        self.total += float(at_least_zero.sum())


def quantile(counts: Sequence[int] | NDArray[np.int64], q: float) -> float:
    """The `q`-quantile, in seconds, of a histogram over `BOUNDS`; NaN of an empty one."""
    cumulative = np.cumsum(np.asarray(counts))
    if cumulative[-1] == 0:
        return float("nan")
    bucket = int(np.searchsorted(cumulative, q * cumulative[-1]))
    return float(BOUNDS[min(bucket, len(BOUNDS) - 1)])


class Meter:
    """Counters since the start of this process; what is replayed does not count."""

    def __init__(self) -> None:
        self.records = 0
        self.batches = 0
        self.updates: Counter[str] = Counter()
        self.deltas: Counter[str] = Counter()
        self.batch_seconds = Histogram()
        self.latency_seconds = Histogram()
