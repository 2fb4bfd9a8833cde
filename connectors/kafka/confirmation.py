"""Makes sure, beside the work, that topics are still those that reading began with."""

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

# How often a check begins at most, and how old one may be that nobody has to wait for the next
# (seconds). A topic is not deleted, created anew and written to within that time.
_PERIOD, _FRESH = 0.15, 0.3


class Confirmation:
    """The last good check, made again on a thread of its own. For one thread at a time."""

    def __init__(self, check: Callable[[], None]) -> None:
        """`check` raises the fault that it finds; it runs on a thread of its own."""
        self._check = check
        self._thread = ThreadPoolExecutor(1, "kafka-confirmation")
        self._asked = self._confirmed = float("-inf")
        self._running: Future[None] | None = None

    def confirm(self) -> None:
        """Return once a check was good that began a moment ago.

        Raises what a check has found.
        """
        now = time.monotonic()
        is_stale = now > self._confirmed + _FRESH
        if self._running is None and (is_stale or now > self._asked + _PERIOD):
            self._asked = now
            self._running = self._thread.submit(self._check)
        if self._running is not None and (is_stale or self._running.done()):
            running, self._running = self._running, None
            running.result()
            self._confirmed = self._asked

    def close(self) -> None:
        """Check no more."""
        self._thread.shutdown(wait=False)
