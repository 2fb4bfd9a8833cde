"""Wakes coroutines when the applying thread has published something."""

import asyncio


class Signal:
    """A repeated event: take `next()`, look at the state, and then await the event taken.

    Taken in that order, no change between the look and the wait is missed.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._event = asyncio.Event()

    def next(self) -> asyncio.Event:
        """The event that the next notification sets."""
        return self._event

    def notify(self) -> None:
        """Wake all waiting coroutines; from any thread."""
        self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        event, self._event = self._event, asyncio.Event()
        event.set()
