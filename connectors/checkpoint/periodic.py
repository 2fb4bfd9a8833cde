"""Takes checkpoints while the service runs, on a thread of its own.

The cut is made between two batches and copies nothing; the rest runs beside them. A checkpoint that
fails, for want of space say, is counted and told; the service goes on, and the next one is tried
when it is due.
"""

import threading
import time as clock
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from connectors.checkpoint.writer import CheckpointWriter, Cut, Stopped
from connectors.progress.journal import Journal

# How often it is looked whether a checkpoint is due.
LOOK_SECONDS = 0.5

log = structlog.get_logger()


@dataclass(slots=True)
class CheckpointCounts:
    """Checkpoints since the start of this process: how many were written, and failed.

    Of the last one written its logical time (0: none was), the seconds and bytes that it took, and
    when it stood (seconds since the epoch); of the last failure, unless one succeeded since, why.
    """

    written: int = 0
    failures: int = 0
    time: int = 0
    seconds: float = 0.0
    bytes: int = 0
    stood: float = 0.0
    error: str | None = None


class Checkpoints:
    """Calls `cut` every `seconds`, and after `records` more records, and writes its result.

    So it does when `occasion` gives another value than before, which at first is None. `cut` gives
    None where there is nothing to write; `count` how many records there were so far.
    """

    def __init__(
        self,
        writer: CheckpointWriter,
        journal: Journal,
        cut: Callable[[], Cut | None],
        count: Callable[[], int],
        seconds: float,
        records: int,
        occasion: Callable[[], object] = lambda: None,
    ) -> None:
        self.counts = CheckpointCounts()
        self._writer = writer
        self._journal = journal
        self._cut = cut
        self._count = count
        self._seconds = seconds
        self._records = records
        self._occasion = occasion
        self._covered = 0
        self._stopped = threading.Event()
        self._taking = threading.Lock()  # one is written at a time, whoever asks for it
        self._thread = threading.Thread(target=self._run, name="checkpoints", daemon=True)

    def start(self) -> None:
        """Take checkpoints from now on; records replayed at this start count as new."""
        self._covered = self._count() - sum(
            r.end - r.first for entry in self._journal.entries() for r in entry.ranges
        )
        self._thread.start()

    def stop(self) -> None:
        """Take no more; one under way is given up."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def take(self) -> bool:
        """Write a checkpoint now, if there is anything to write; whether it was written."""
        with self._taking:
            return self._take()

    def paused(self) -> threading.Lock:
        """A context in which none is written."""
        return self._taking

    def _take(self) -> bool:
        started = clock.monotonic()
        try:
            cut = self._cut()
            if cut is None:
                return False
            written = self._writer.write(cut, self._stopped.is_set)
            self._journal.compact(written.spared)
        except Stopped:
            return False
        except Exception as error:
            self.counts.failures += 1
            self.counts.error = f"{type(error).__name__}: {error}"
            log.exception("a checkpoint failed; the one before stands")
            return False
        counts, seconds = self.counts, clock.monotonic() - started
        counts.written += 1
        counts.time, counts.seconds, counts.bytes = written.time, seconds, written.bytes
        counts.stood, counts.error = clock.time(), None
        log.info("checkpoint", time=written.time, bytes=written.bytes, seconds=round(seconds, 3))
        return True

    def _run(self) -> None:
        last, known = clock.monotonic(), None
        while not self._stopped.wait(min(LOOK_SECONDS, self._seconds)):
            occasion = self._occasion()
            is_due = occasion != known or clock.monotonic() - last >= self._seconds
            if is_due or self._count() - self._covered >= self._records:
                last, known, self._covered = clock.monotonic(), occasion, self._count()
                self.take()
