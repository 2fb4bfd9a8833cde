"""Repairs of records that could not be decoded: fixed, replayed, discarded, skipped, or purged."""

import threading
from collections.abc import Collection, Sequence
from dataclasses import replace
from time import time

import pyarrow as pa
import structlog

from api.services.admission import Admission
from api.services.parts import Parts
from api.services.readiness import Readiness
from connectors.quarantine.replay import Outcome
from connectors.quarantine.store import Place, Purge, Quarantined, Repair, Status

log = structlog.get_logger()


class Repairs:
    """Changes what the quarantine holds, one change at a time: a replay finds repairs as they are.

    Showing what it holds needs none of this.
    """

    def __init__(self, parts: Parts, readiness: Readiness, admission: Admission) -> None:
        self._parts = parts
        self._readiness = readiness
        self._admission = admission
        self._repairing = threading.Lock()

    def fix(self, place: Place, repair: Repair | None) -> Quarantined:
        """Set the bytes that a replay decodes in a record's stead.

        Raises UnknownRecord, RecordClosed.
        """
        self._readiness.wait()
        with self._repairing:
            return self._parts.quarantine.fix(place, repair)

    def preview(self, place: Place, repair: Repair | None) -> pa.Table:
        """The updates that a replay would make of a record if this were its repair.

        They have the columns of its table, and `DIFF`; nothing is changed. Raises UnknownRecord,
        StillRejected, UnknownTable and RegistryUnavailable.
        """
        self._readiness.wait()
        found = replace(self._parts.quarantine.get(place), status="open", repair=repair)
        return self._parts.pipeline.decoded(found)

    def discard(self, place: Place) -> Quarantined:
        """Close a record without a replay (raises UnknownRecord, RecordClosed)."""
        self._readiness.wait()
        with self._repairing:
            return self._parts.quarantine.discard(place)

    def replay(self, places: Sequence[Place], overwrite: bool) -> Outcome:
        """Apply quarantined records as corrections.

        Raises as `Pipeline.correct`, and BrokerFault where that could not be published.
        """
        self._readiness.wait()
        with self._repairing:
            self._parts.applier.expect_answers()
            return self._parts.pipeline.correct(places, overwrite)

    def purge(
        self, statuses: Collection[Status], older_than: float = 0.0, table: str | None = None
    ) -> int:
        """Delete records with these outcomes, first met so many seconds ago; how many they were.

        Those stay that a start may need: of which the oldest checkpoint does not hold the range.
        """
        self._readiness.wait()
        journal = self._parts.journal
        before = int((time() - older_than) * 1000)
        with self._repairing:
            base = journal.base
            settled = journal.positions_at(base)
            epochs = {name: journal.epoch(name) for name in self._parts.quarantine.tables()}
            wanted = Purge(frozenset(statuses), before, base, table)
            purged = self._parts.quarantine.purge(wanted, settled, epochs)
        if purged:
            told = {"table": table, "statuses": sorted(statuses), "older_than": older_than}
            log.info("quarantine purged", records=purged, **told)
        return purged

    def skip(self, place: Place) -> None:
        """Let what has stalled before this record go on after it (raises NotStalled, NotReady)."""
        with self._admission.mending():
            self._parts.pipeline.skip(place)
