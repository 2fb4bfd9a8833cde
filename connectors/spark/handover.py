"""Applies one batch while Spark reads the next: a thread between `foreachBatch` and its function.

Order is kept, and at most one batch waits. Once the function has raised, it gets nothing more.
"""

import logging
import threading
from collections.abc import Callable
from queue import Queue

import pyarrow as pa

log = logging.getLogger(__name__)


class Handover:
    """Calls `deliver` with one batch after another on a thread of its own, until it raises."""

    def __init__(self, deliver: Callable[[pa.Table], None], on_error: Callable[[], None]) -> None:
        """`on_error` is called, on that thread, once `deliver` has raised."""
        self._deliver = deliver
        self._on_error = on_error
        self._waiting: Queue[pa.Table | None] = Queue(maxsize=1)
        self._thread = threading.Thread(target=self._run, name="pipeline-delivery", daemon=True)

    def start(self) -> None:
        """Begin; what was put before is passed on then."""
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
        while (batch := self._waiting.get()) is not None:
            if not is_open:
                continue
            try:
                self._deliver(batch)
            except Exception:
                log.exception("a batch could not be applied")
                is_open = False
                self._on_error()
