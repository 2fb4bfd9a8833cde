"""Passes lines that a process writes to its stderr to the log, each as an event of its own.

Spark's own log, what Java says of itself, and the tracebacks of Spark's Python come that way.
"""

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

log = logging.getLogger("spark")


@contextmanager
def logged() -> Iterator[int]:
    """A file for the stderr of a process that is started in the context."""
    reading, writing = os.pipe()
    threading.Thread(target=_log_lines, args=(reading,), name="spark-log", daemon=True).start()
    try:
        yield writing
    finally:
        os.close(writing)  # that process, and those that it starts, have theirs


def _log_lines(reading: int) -> None:
    """Log lines until no process can write any."""
    with open(reading, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if text := line.rstrip():
                log.warning("%s", text)
