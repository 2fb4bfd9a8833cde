"""Rates: how fast counters grow between two looks at them."""

import time as clock
from collections.abc import Mapping


class Rates:
    """Remembers counters from one look to the next."""

    def __init__(self) -> None:
        self._moment = clock.monotonic()
        self._before: Mapping[str, float] | None = None

    def since_last(self, counts: Mapping[str, float]) -> dict[str, float]:
        """The growth of each counter a second since the last look, to a tenth.

        At the first look there is none.
        """
        now = clock.monotonic()
        seconds, before = max(now - self._moment, 1e-9), self._before
        self._moment, self._before = now, dict(counts)
        if before is None:
            return {}
        return {
            name: round(max(count - before.get(name, 0), 0) / seconds, 1)
            for name, count in counts.items()
        }
