"""Applies one batch while Spark reads the next: a thread between `foreachBatch` and its function.

Order is kept. Once the function has raised, it gets nothing more.
"""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, Queue

import pyarrow as pa

# A delivery of few records costs some ten milliseconds, mostly for its transaction in Kafka: where
# batches may wait together, they are delivered no more often than this, in seconds.
_PERIOD = 0.02

log = logging.getLogger(__name__)


class Handover:
    """Calls `deliver` with one batch after another on a thread of its own, until it raises."""

    def __init__(
        self, deliver: Callable[[pa.Table], None], on_error: Callable[[], None], room: int = 1
    ) -> None:
        """`on_error` is called, on that thread, once `deliver` has raised.

        At most `room` batches wait; if that is more than one, those that do are passed on as one.
        """
        self._deliver = deliver
        self._on_error = on_error
        self._waiting: Queue[pa.Table | None] = Queue(maxsize=room)
        self._thread = threading.Thread(target=self._run, name="pipeline-delivery", daemon=True)

    @property
    def waiting(self) -> int:
        """The batches that wait."""
        return self._waiting.qsize()

    def start(self) -> None:
        """Begin; batches that were put before are passed on then."""
        self._thread.start()

    def put(self, batch: pa.Table) -> None:
        """Pass a batch on, once there is room for it."""
        self._waiting.put(batch)

    def join(self) -> None:
        """Wait until all that was put has been passed on; nothing may be put afterwards."""
        self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        is_open = True
        while batches := self._taken():
            if not is_open:
                continue
            started = time.monotonic()
            try:
                self._deliver(pa.concat_tables(batches))
            except Exception:
                log.exception("a batch could not be applied")
                is_open = False
                self._on_error()
            if self._waiting.maxsize > 1:
                time.sleep(max(0.0, started + _PERIOD - time.monotonic()))

    def _taken(self) -> list[pa.Table]:
        """The next batch, with those that wait behind it if there is room for several."""
        taken = [] if (first := self._waiting.get()) is None else [first]
        with suppress(Empty):
            while taken and len(taken) < self._waiting.maxsize:
                if (batch := self._waiting.get_nowait()) is None:
                    self._waiting.put(None)  # the end, to be met next time
                    break
                taken.append(batch)
        return taken
