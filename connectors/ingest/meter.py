"""The meter: counters of the running service, and histograms of its durations.

Written by the thread that applies batches and read by scrapes; a scrape may see a batch half
counted, never a torn number.
"""

import time as clock
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray
from opentelemetry import trace

from connectors.progress.batches import Counts, TimedBatch
from connectors.streams import table_of

# Upper bounds in seconds, each 10% above the last, from 1 ms to about 4 minutes: a quantile read
# from the histogram is off by 5% at most.
BOUNDS = np.round(0.001 * 1.1 ** np.arange(131), 6)

TRACER = trace.get_tracer("ivm")


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
    """Counters since the start of this process; replayed records do not count.

    `stage_seconds` is where the thread that applies batches spends its time, by stage;
    `step_seconds` how long the engine took for each completion of times, and `publish_seconds` the
    sinks for the deltas of each. By table:
    `outcomes` of the input records; how many were `corrected` out of the quarantine; and
    how many of the changes were not applied, being `duplicates`, or because values were
    `unavailable`.
    """

    def __init__(self) -> None:
        self.records = 0
        self.batches = 0
        self.outcomes: dict[str, Counts] = {}
        self.corrected: Counter[str] = Counter()
        self.updates: Counter[str] = Counter()
        self.deltas: Counter[str] = Counter()
        self.keyed_changes: Counter[tuple[str, str]] = Counter()
        self.absent_deletes: Counter[str] = Counter()
        self.duplicates: Counter[str] = Counter()
        self.unavailable: Counter[str] = Counter()
        self.stage_seconds: defaultdict[str, float] = defaultdict(float)
        self.batch_seconds = Histogram()
        self.latency_seconds = Histogram()
        self.step_seconds = Histogram()
        self.publish_seconds = Histogram()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the seconds until the context ends, which is a span of its batch."""
        started = clock.perf_counter()
        try:
            with TRACER.start_as_current_span(name):
                yield
        finally:
            self.stage_seconds[name] += clock.perf_counter() - started

    @contextmanager
    def timed(self, histogram: Histogram) -> Iterator[None]:
        """Observe the seconds until the context ends."""
        started = clock.perf_counter()
        try:
            yield
        finally:
            histogram.observe(np.array([clock.perf_counter() - started]))

    def count(self, batch: TimedBatch) -> None:
        """Count a batch that was published."""
        self.batches += 1
        self.records += sum(counts.records for counts in batch.counts.values())
        for table, counts in batch.counts.items():
            self.outcomes[table] = self.outcomes.get(table, Counts()) + counts
        self.corrected.update(table_of(correction.table) for correction in batch.corrections)
        for table, updates in batch.tables.items():
            self.updates[table] += len(updates.diffs)

    def forget(self, table: str) -> None:
        """Count a table of this name, should there be one again, from nothing."""
        self.outcomes.pop(table, None)
        for counter in (self.corrected, self.duplicates, self.unavailable):
            del counter[table]

    def by_outcome(self, table: str) -> dict[str, int]:
        """The number of a table's records, by their outcome."""
        counts = self.outcomes.get(table, Counts())
        return {
            "changes": counts.changes - self.duplicates[table] - self.unavailable[table],
            "tombstones": counts.tombstones,
            "ignored": counts.ignored,
            "duplicates": self.duplicates[table],
            "rejected": counts.rejected + self.unavailable[table],
        }
