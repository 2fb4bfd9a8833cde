"""Keeps a streaming query running: another follows when Spark has lost one, or a broker has.

Each query begins where the delivery is, so that starting one more is always safe.
"""

import threading
import time as clock
from collections.abc import Callable

from connectors.errors import PipelineFailed, Unavailable
from connectors.health import PartFault, part_fault
from connectors.spark.query import Query
from connectors.spark.session import STOP_SECONDS

# How often in a row, without a batch in between, a query that Spark lost is started again.
_MAX_RESTARTS = 3
# How long to wait before asking brokers again, in seconds: the first time, and at most.
_FIRST_PAUSE, _LAST_PAUSE = 0.5, 5.0
# After how many seconds a query without a batch, and without a word, proves that a fault is over.
_SETTLED = 10.0


class Keeper:
    """One query at a time, from `start` until `stop`, `end` or a failure that would come again.

    What lies outside, at a broker or a registry, is waited for without an end; so is room for the
    processes that Spark starts. `started` counts the queries.
    """

    def __init__(
        self,
        open_query: Callable[[], Query],
        set_aside: Callable[[Exception], bool],
        on_failure: Callable[[Exception], None],
    ) -> None:
        """`open_query` starts a query, and is asked again later if it raises Unavailable.

        `set_aside` lets what has ended a query keep from the next one what it is about, and says
        whether it could. `on_failure` is called with what has ended the keeper. Both run on its
        thread.
        """
        self._open_query = open_query
        self._set_aside = set_aside
        self._on_failure = on_failure
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._query: Query | None = None
        self._is_open = False
        self._wanted = 0
        self._restarts = 0
        self.started = 0
        self._pause = _FIRST_PAUSE
        self._fault: PartFault | None = None
        self._since = 0.0

    @property
    def waiting(self) -> int:
        """The batches of the present query that wait to be delivered."""
        query = self._query
        return query.waiting if query is not None else 0

    @property
    def fault(self) -> PartFault | None:
        """The fault outside that the query waits for; None if there is none."""
        query, since = self._query, self._since
        if query is not None and clock.monotonic() > since + _SETTLED:
            return None
        return self._fault

    def start(self) -> None:
        """Begin, or begin again after an end."""
        self.join()
        self._is_open = True
        self._restarts = 0
        self._thread = threading.Thread(target=self._run, name="pipeline-keeper", daemon=True)
        self._thread.start()

    def progressed(self) -> None:
        """A batch was delivered."""
        self._restarts = 0
        self._pause = _FIRST_PAUSE
        self._fault = None

    def restart(self) -> None:
        """Let another query take the place of this one, after the batch under way."""
        with self._changed:
            self._wanted += 1
            self._changed.notify_all()
            query = self._query
        if query is not None:
            query.stop()

    def follow(self) -> None:
        """The query is ending: another is to follow."""
        with self._changed:
            self._wanted += 1

    def wait_outside(self, error: Unavailable) -> None:
        """The query is ending because of this fault outside: another is to follow."""
        self.follow()
        self._fault = part_fault(error)

    def hear(self, error: Unavailable) -> None:
        """The query goes on, and waits for this; it is told again while it does."""
        self._fault, self._since = part_fault(error), clock.monotonic()

    def end(self) -> None:
        """Start no further query; the present one is ending."""
        with self._changed:
            self._is_open = False
            self._changed.notify_all()

    def stop(self) -> None:
        """End the query after the batch under way; a query that hangs is left to its JVM's end."""
        self.end()
        query = self._query
        if query is not None:
            query.stop()
        self.join(STOP_SECONDS)

    def join(self, seconds: float | None = None) -> None:
        """Wait until the end, or for so long at most."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _run(self) -> None:
        while self._is_open:
            try:
                self._keep()
            except Exception as error:
                if self._set_aside(error):
                    continue
                if isinstance(error, Unavailable):
                    self._outside(error)
                elif self._is_open:
                    self.end()
                    self._on_failure(error)

    def _keep(self) -> None:
        """Run one query to its end (raises errors that no other query mends, and Unavailable)."""
        wanted = self._wanted
        query = self._open_query()
        self.started += 1
        with self._changed:
            self._query, self._since = query, clock.monotonic()
            is_stale = wanted != self._wanted or not self._is_open
        if is_stale:
            query.stop()
        failure = query.wait()
        with self._changed:
            self._query = None
            if wanted != self._wanted or not self._is_open:
                return
        if failure is None:
            raise PipelineFailed("the streaming query was stopped")
        if failure.cause is not None:
            raise failure.cause
        if failure.is_final or self._restarts == _MAX_RESTARTS:
            raise PipelineFailed(failure.message)
        self._restarts += 1

    def _outside(self, error: Unavailable) -> None:
        """Remember a fault outside, and wait a while or until something changes."""
        self._fault = part_fault(error)
        with self._changed:
            wanted = self._wanted
            self._changed.wait_for(
                lambda: not self._is_open or wanted != self._wanted, timeout=self._pause
            )
        self._pause = min(2 * self._pause, _LAST_PAUSE)
