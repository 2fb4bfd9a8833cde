"""Rates: bounds how often someone may ask, with a token bucket for each."""

import time
from collections import OrderedDict
from dataclasses import dataclass

# Of so many callers the buckets are kept; those that asked longest ago are full again.
_MOST = 10_000


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: float


class Rates:
    """The buckets of callers by name; one holds the requests of `burst` seconds."""

    def __init__(self, burst: float = 2.0) -> None:
        self._burst = burst
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def take(self, name: str, per_second: float, now: float | None = None) -> bool:
        """Count a request of a caller; whether it keeps to its rate. `now` is in seconds.

        >>> rates = Rates(burst=1)
        >>> [rates.take("a", 2, now) for now in (0, 0, 0, 0.5)]
        [True, True, False, True]
        """
        now = time.monotonic() if now is None else now
        most = max(1.0, per_second * self._burst)
        bucket = self._buckets.get(name)
        if bucket is None:
            bucket = self._buckets[name] = _Bucket(most, now)
            if len(self._buckets) > _MOST:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(name)
        bucket.tokens = min(most, bucket.tokens + (now - bucket.at) * per_second)
        bucket.at = now
        if bucket.tokens < 1:
            return False
        bucket.tokens -= 1
        return True
