"""The pulse of a cluster: finds out when a member has gone, or stands still."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import wait
from threading import Event, Thread
from time import monotonic

from ivm.cluster.links import Link

BEATS = 6
"""How often a member is asked within the time after which it is lost."""


class Pulse:
    """Asks members over these connections, by number, whether they go on; `lost` hears of one.

    A process that ended is found at once, and one that answers nothing after `seconds`.
    """

    def __init__(self, links: Sequence[Link], seconds: float, lost: Callable[[str], None]) -> None:
        self._links = list(links)
        self._seconds = seconds
        self._lost = lost
        self._stopped = Event()
        self._thread = Thread(target=self._run, name="cluster-pulse", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ask no more."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        heard = dict.fromkeys(range(len(self._links)), monotonic())
        asked = 0.0
        pause = self._seconds / BEATS
        while not self._stopped.is_set():
            now = monotonic()
            if now - asked >= pause:
                asked = now
                for link in self._links:
                    with suppress(OSError):  # it has gone, as is heard below
                        link.send_bytes(b"!")
            ready = wait([link.socket for link in self._links], min(pause, 0.5))
            for number, link in enumerate(self._links):
                if link.socket not in ready:
                    continue
                try:
                    link.recv_bytes()
                except (EOFError, OSError) as error:
                    if not self._stopped.is_set():
                        self._lost(f"member {number} of the cluster has gone: {error}")
                    return
                heard[number] = monotonic()
            for number, at in heard.items():
                if monotonic() - at > self._seconds:
                    self._lost(
                        f"member {number} of the cluster has said nothing for "
                        f"{self._seconds:g} seconds"
                    )
                    return
