"""The composition root: one running service, its parts and the services over them.

Start: restore the tables from the newest checkpoint, declare the registered views, which hydrate
from them, then let the pipeline replay what the journal holds beyond; the service is ready when all
that was journaled has been applied again. Look-ups and new sources and views wait for that. What
mends a start that does not get on is possible before: dropping a view or a source, and letting a
bad record pass.
"""

import threading
import time as clock
from collections.abc import Callable

import structlog

from api.errors import NotReady
from api.services.admission import Admission
from api.services.backups import Backups
from api.services.checkpoints import TableCheckpoints
from api.services.cleaning import Cleaning
from api.services.compiler import Compiler
from api.services.inference import Inference
from api.services.parts import Parts
from api.services.planned import Planner
from api.services.queries import Queries
from api.services.readiness import Readiness
from api.services.repairs import Repairs
from api.services.replacements import Replacements
from api.services.restoring import Restoration
from api.services.sources import Sources
from api.services.views import Views
from api.settings import Settings
from api.watch import Watch
from connectors.errors import SparkUnavailable
from connectors.health import PartFault
from connectors.ingest.pipeline import Pipeline
from connectors.offsets import Offsets
from ivm.errors import PoolFailed

# `start` notices an interrupt within this time.
INTERRUPT_SECONDS = 0.5
# Seconds between two lines of the log that tell how far a replay is.
TELL_SECONDS = 5.0

log = structlog.get_logger()


class Runtime(Parts):
    """One running service on one data directory; safe to call from several threads."""

    def __init__(
        self, settings: Settings, make_pipeline: Callable[..., Pipeline] = Pipeline
    ) -> None:
        """Open or create the data directory (raises as `Parts`)."""
        super().__init__(settings, make_pipeline)
        self._restoration = Restoration()
        self.readiness = Readiness(self, self._restoration)
        admission = Admission(self, self.readiness)
        self.compiler = Compiler(self)
        self.checkpoints = TableCheckpoints(self, admission)
        self.backups = Backups(self, admission, self.checkpoints)
        self.sources = Sources(self, admission, self.readiness, self.compiler)
        self.inference = Inference(self)
        self.views = Views(self, self.readiness, admission, self.compiler, self._restoration)
        planner = Planner(self, self.compiler, self.views)
        self.replacements = Replacements(self, admission, planner, self.views)
        self.queries = Queries(self, self.readiness, self.compiler, self.views)
        self.repairs = Repairs(self, self.readiness, admission)
        self.cleaning = Cleaning(self, self.repairs)
        self._interrupted = threading.Event()
        self._stopped = threading.Event()
        self._ticker = threading.Thread(target=self._tick, name="clock", daemon=True)
        self._watch = Watch(self._faults)

    def start(self) -> None:
        """Start the pipeline and return once the journal has been replayed.

        A failure is told by `readiness`, not raised: the service stays up to tell it.
        """
        self._watch.start()
        try:
            self.pipeline.prepare()
            if self.cluster is not None:
                self.cluster.start(self.pipeline.session())
            self.restore()
            self.sources.start()
            self._await_replay()
            self.applier.complete_replay()
        except Exception as error:
            log.exception("the pipeline did not start")
            self.readiness.fail(f"{type(error).__name__}: {error}")
            if self.cluster is not None and isinstance(error, (PoolFailed, SparkUnavailable)):
                self.cluster.give_up(str(error))
        else:
            log.info("ready", time=self.pool.frontier - 1)
            self._ticker.start()
            self.checkpoints.start()
            self.cleaning.start()
            self.readiness.begin()
            self.replacements.resume()
        self.letters.start()

    def restore(self) -> None:
        """Bring tables and views back (raises as `TableCheckpoints` and `Views` do)."""
        self.checkpoints.restore()
        self.replacements.settle()
        self.views.restore()
        self.replacements.restore()

    def interrupt(self) -> None:
        """Let `start` return soon, even amid a replay."""
        self._interrupted.set()
        self._restoration.interrupt()
        self.kafka.interrupt()

    def stop(self, *, checkpoints: bool = False) -> None:
        """Finish the batch under way, and release everything.

        If it `checkpoints`, and runs, all that was applied so far is in a checkpoint then.
        """
        if checkpoints and self._ticker.is_alive() and not self.is_lost:
            self.checkpoints.take()
        self._stopped.set()
        self.kafka.interrupt()
        self._watch.stop()
        if self._ticker.is_alive():
            self._ticker.join()
        self.checkpoints.stop()
        self.cleaning.stop()
        self.replacements.stop()
        self.close()

    def reflects(self, wanted: Offsets) -> bool:
        """Tells whether all records before these positions are reflected at the published time.

        What lies behind the last record, as a marker of a transaction, waits for nothing.
        """
        offsets = self.applier.offsets()
        return offsets.covers(wanted) or offsets.beyond(self.pipeline.gaps).covers(wanted)

    def _faults(self) -> list[PartFault]:
        """The faults to log: not that the service starts, or why it did not, which is logged."""
        faults = [*self.readiness.faults(), *self.readiness.stalled().values()]
        return [fault for fault in faults if fault.part != "service"]

    def _await_replay(self) -> None:
        """Wait for the journal's end, also where the replay stalls: that may be mended."""
        told = clock.monotonic()
        while not self.pipeline.wait_replayed(INTERRUPT_SECONDS):
            if clock.monotonic() - told >= TELL_SECONDS:
                told = clock.monotonic()
                log.info("replaying", time=self.pipeline.status().time, of=self.journal.last_time)
            if self._interrupted.is_set():
                raise NotReady("stopped amid the replay of the journal")

    def _tick(self) -> None:
        """Let time pass for the views that filter by it, and for the sinks that wait."""
        while not self._stopped.wait(self.settings.clock_seconds):
            try:
                self.applier.tend()
                if self.views.are_temporal:
                    self.pipeline.tick()
            except Exception:
                log.exception("the clock stopped")  # the pipeline has failed, and tells why
                return
