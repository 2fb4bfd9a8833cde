"""Lets a source in which nothing is new be asked less often, so that an idle service is idle."""

import time as clock
from collections.abc import Callable

# For how long nothing has to be new, and how long each look is put off then, in seconds.
_AFTER, _PAUSE = 1.0, 0.1


class Idling:
    """Puts off the looks of one source; for one thread."""

    def __init__(
        self,
        now: Callable[[], float] = clock.monotonic,
        sleep: Callable[[float], object] = clock.sleep,
    ) -> None:
        self._now, self._sleep = now, sleep
        self._last = now()

    def pause(self) -> None:
        """Wait a moment if nothing has been new for a while."""
        if self._now() - self._last > _AFTER:
            self._sleep(_PAUSE)

    def note(self, is_new: bool) -> None:
        """Note whether a look found anything."""
        if is_new:
            self._last = self._now()
