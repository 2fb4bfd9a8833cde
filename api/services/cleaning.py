"""Cleaning: removes what is beyond retention, from time to time, on a thread of its own."""

import threading

import structlog

from api.services.parts import Parts
from api.services.repairs import Repairs
from connectors.files.retention import Retention
from connectors.quarantine.store import CLOSED

log = structlog.get_logger()


class Cleaning:
    """Cleans every `clean_seconds`, from `start` until `stop`."""

    def __init__(self, parts: Parts, repairs: Repairs) -> None:
        self._parts = parts
        self._repairs = repairs
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="cleaning", daemon=True)

    def start(self) -> None:
        """Clean from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Clean no more; what is being cleaned is finished."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def clean(self) -> None:
        """Remove what is beyond retention now."""
        self._parts.sink.clean()
        self._clean_posted_rows()
        self._repairs.purge(CLOSED, self._parts.settings.quarantine_retention_seconds)

    def _clean_posted_rows(self) -> None:
        """Posted rows go once every checkpoint holds them, and retention does not want them."""
        parts, seconds = self._parts, self._parts.settings.rows_retention_seconds
        if seconds is None:
            return
        at_base = parts.journal.positions_at(parts.journal.base)
        settled: dict[str, int] = {}
        for spec in tuple(parts.registry.sources.values()):
            reached = at_base.get((spec.name, 0), 0)
            settled[spec.topic] = min(reached, settled.get(spec.topic, reached))
        parts.writes.clean(Retention(seconds), settled)

    def _run(self) -> None:
        while not self._stopped.wait(self._parts.settings.clean_seconds):
            try:
                self.clean()
            except Exception:
                log.exception("cleaning failed; it is tried again")
