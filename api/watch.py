"""Writes faults of the service's parts to the log: once when they begin and once when they end."""

import threading
from collections.abc import Callable, Iterable

import structlog

from connectors.health import PartFault

# How often faults are looked for; they are told within seconds.
SECONDS = 1.0

log = structlog.get_logger()


class FaultLog:
    """Compares faults with those of the last time; a fault is known by its part and setting."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str | None], PartFault] = {}

    def observe(self, faults: Iterable[PartFault]) -> None:
        """Log those that are new, and those that are gone."""
        present = {(fault.part, fault.setting): fault for fault in faults}
        for key, fault in present.items():
            if key not in self._known:
                log.error("fault", part=fault.part, setting=fault.setting, detail=fault.detail)
        for key, fault in self._known.items():
            if key not in present:
                log.info("fault gone", part=fault.part, setting=fault.setting)
        self._known = present


class Watch:
    """A thread that observes faults until it is stopped."""

    def __init__(self, faults: Callable[[], Iterable[PartFault]]) -> None:
        self._faults = faults
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    def start(self) -> None:
        """Begin to observe."""
        self._thread.start()

    def stop(self) -> None:
        """Observe no more."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        found = FaultLog()
        while not self._stopped.wait(SECONDS):
            found.observe(self._faults())
