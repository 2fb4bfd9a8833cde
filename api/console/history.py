"""The last hour of a service: its counters, looked at every few seconds, in a bounded ring."""

import asyncio
import time as clock
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from connectors.ingest.meter import Meter, quantile

LOOK_SECONDS = 10.0
KEPT = 360  # an hour of looks; with the histograms 800 kB


@dataclass(frozen=True, slots=True)
class Look:
    """The counters of a service at one moment (epoch, seconds)."""

    moment: float
    records: int
    deltas: int
    latencies: NDArray[np.int64]
    batches: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Stretch:
    """The time from one look to the next, at `moment`: rates a second, quantiles in seconds.

    A quantile of nothing is None.
    """

    moment: float
    records: float
    deltas: float
    latency_median: float | None
    latency_p99: float | None
    batch_p99: float | None


class History:
    """Looks at a meter, of which the newest are kept."""

    def __init__(self, meter: Meter, kept: int = KEPT) -> None:
        self._meter = meter
        self._looks: deque[Look] = deque(maxlen=kept + 1)

    async def keep(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            self.look(clock.time())
            await asyncio.sleep(LOOK_SECONDS)

    def look(self, moment: float) -> None:
        """Add the counters as they are."""
        meter = self._meter
        self._looks.append(
            Look(
                moment,
                meter.records,
                meter.deltas.total(),
                meter.latency_seconds.counts,
                meter.batch_seconds.counts,
            )
        )

    def stretches(self) -> Sequence[Stretch]:
        """The stretches between the looks, oldest first."""
        return [_between(before, now) for before, now in pairwise(tuple(self._looks))]


def _between(before: Look, now: Look) -> Stretch:
    seconds = max(now.moment - before.moment, 1e-9)
    latencies, batches = now.latencies - before.latencies, now.batches - before.batches
    return Stretch(
        now.moment,
        (now.records - before.records) / seconds,
        (now.deltas - before.deltas) / seconds,
        _quantile(latencies, 0.5),
        _quantile(latencies, 0.99),
        _quantile(batches, 0.99),
    )


def _quantile(counts: NDArray[np.int64], q: float) -> float | None:
    return quantile(counts, q) if counts.any() else None
