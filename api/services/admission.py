"""Admission: admits changes of sources and views one at a time, once they are possible.

Two locks: that of the admission orders changes; the applier's own excludes them from the batch
under way. The admission's is taken first, and the pipeline takes only the second.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from api.services.parts import Parts
from api.services.readiness import Readiness


class Admission:
    """The lock of all changes, and the conditions on which it is given."""

    def __init__(self, parts: Parts, readiness: Readiness) -> None:
        self.lock = threading.Lock()
        self._parts = parts
        self._readiness = readiness

    @contextmanager
    def change(self) -> Iterator[None]:
        """Admit a change of what a ready service maintains.

        Raises NotReady, PipelineFailed, and BrokerFault where the batch under way waits for one.
        """
        self._readiness.wait()
        with self.lock:
            with self._parts.applier.turn():
                pass  # the change itself takes it again
            yield

    @contextmanager
    def mending(self) -> Iterator[None]:
        """Admit a change that may mend a fault, also before the service is ready.

        Raises NotReady if another change, a step of the start or the batch under way takes too
        long, as one does that waits for a broker.
        """
        with self._held(self.lock):
            with self._held(self._parts.applier.lock):
                pass  # the change itself takes it again
            yield

    @contextmanager
    def _held(self, lock: threading.Lock) -> Iterator[None]:
        if not lock.acquire(timeout=self._parts.settings.ready_seconds):
            raise self._readiness.refusal()
        try:
            yield
        finally:
            lock.release()
