"""Applies one batch while Spark reads the next: a thread between the tasks and a function.

Order is kept. Once the function has raised, it gets nothing more.
"""

import logging
import threading
import time
from collections.abc import Callable
from math import inf

import pyarrow as pa

# Of deliveries of fewer bytes, the thread spends at most that share of its time at work, so that
# what comes is passed on in fewer pieces where each costs more.
_SMALL, _SHARE = 64 << 10, 0.5

log = logging.getLogger(__name__)


class Handover:
    """Calls `deliver` with one batch after another on a thread of its own, until it raises."""

    def __init__(
        self,
        deliver: Callable[[pa.Table], None],
        on_error: Callable[[], None],
        room: int = 1,
        room_bytes: float = inf,
    ) -> None:
        """`on_error` is called, on that thread, once `deliver` has raised.

        At most `room` batches wait, and none behind so many bytes; those that do are passed on as
        one.
        """
        self._deliver = deliver
        self._on_error = on_error
        self._room, self._room_bytes = room, room_bytes
        self._changed = threading.Condition()
        self._waiting: list[pa.Table] = []
        self._is_open = True
        self._seconds = 0.0
        self._thread = threading.Thread(target=self._run, name="pipeline-delivery", daemon=True)

    @property
    def waiting(self) -> int:
        """The batches that wait."""
        return len(self._waiting)

    @property
    def seconds(self) -> float:
        """The seconds that the last delivery took."""
        return self._seconds

    def start(self) -> None:
        """Begin; batches that were put before are passed on then."""
        self._thread.start()

    def put(self, batch: pa.Table) -> None:
        """Pass a batch on, once there is room for it (raises RuntimeError after the end)."""
        with self._changed:
            self._changed.wait_for(lambda: self._has_room() or not self._is_open)
            if not self._is_open:
                raise RuntimeError("the query has ended")
            self._waiting.append(batch)
            self._changed.notify_all()

    def _has_room(self) -> bool:
        is_small = sum(batch.nbytes for batch in self._waiting) < self._room_bytes
        return len(self._waiting) < self._room and is_small

    def join(self) -> None:
        """Wait until all that was put has been passed on; nothing is taken afterwards."""
        with self._changed:
            self._is_open = False
            self._changed.notify_all()
        self._thread.join()

    def _run(self) -> None:
        has_failed = False
        while batches := self._taken():
            if has_failed:
                continue
            batch = pa.concat_tables(batches)
            began, busy = time.monotonic(), time.thread_time()
            try:
                self._deliver(batch)
            except Exception:
                log.exception("a batch could not be applied")
                has_failed = True
                self._on_error()
            self._seconds = time.monotonic() - began
            if batch.nbytes < _SMALL:
                time.sleep(max(0.0, (time.thread_time() - busy) / _SHARE - self._seconds))

    def _taken(self) -> list[pa.Table]:
        """All that waits, once there is any; nothing at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or not self._is_open)
            taken, self._waiting = self._waiting, []
            self._changed.notify_all()
            return taken
