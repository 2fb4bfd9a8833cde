"""Repairs of records that could not be decoded: fixed, replayed, discarded, or skipped."""

import threading
from collections.abc import Sequence

from api.services.admission import Admission
from api.services.parts import Parts
from api.services.readiness import Readiness
from connectors.quarantine.replay import Outcome
from connectors.quarantine.store import Place, Quarantined, Repair


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

    def discard(self, place: Place) -> Quarantined:
        """Close a record without a replay (raises UnknownRecord, RecordClosed)."""
        self._readiness.wait()
        with self._repairing:
            return self._parts.quarantine.discard(place)

    def replay(self, places: Sequence[Place], overwrite: bool) -> Outcome:
        """Apply quarantined records as corrections (raises as `Pipeline.correct`)."""
        self._readiness.wait()
        with self._repairing:
            return self._parts.pipeline.correct(places, overwrite)

    def skip(self, place: Place) -> None:
        """Let a stalled pipeline go on after this record (raises NotStalled, NotReady)."""
        with self._admission.mending():
            self._parts.pipeline.skip(place)
