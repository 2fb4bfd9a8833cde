"""Passes what a process writes to its stderr to the log, each event of it as one of the log.

Spark's own log, what Java says of itself, and the tracebacks of Spark's Python come that way. An
event is its first line and those that go on with it: the frames of a trace, in Java's form or in
Python's, and what a message of Spark's says in further lines.
"""

import logging
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from select import select

# As Spark's log begins an event: `26/11/29 06:01:02 ERROR Executor: Exception in task 0.0`.
_BEGINNING = re.compile(
    r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d (?P<level>[A-Z]+) (?P<logger>[^\s:]+): (?P<text>.*)"
)
# As a line goes on with a trace, whoever has begun it.
_FRAME = re.compile(r"\s+\S|Caused by: |During handling of |The above exception ")
_UNCAUGHT = "Exception in thread "
_TRACEBACK = "Traceback (most recent call last):"
_LEVELS = {"FATAL": logging.CRITICAL, "ERROR": logging.ERROR, "INFO": logging.INFO}
# What Spark says of a batch that ends amid its tasks, as each query may; why one failed, the query
# tells.
_OF_ENDS = re.compile(
    r"(Utils|DataWritingSparkTask|WriteToDataSourceV2Exec): "
    r"(Aborting task|Abort(ing|ed) commit|Data source write support .* abort(ing|ed))"
)
# An event is over when nothing was written for so long (seconds), or it has so many lines.
_QUIET = 1.0
_MOST_LINES = 1_000

log = logging.getLogger("spark")


@dataclass(slots=True)
class Event:
    """Lines that belong together; `is_of_spark` if they begin as those of Spark's log do."""

    level: int
    logger: str
    text: str
    is_of_spark: bool = False
    more: list[str] = field(default_factory=list)

    def takes(self, line: str) -> bool:
        """Whether a line goes on with this event."""
        if len(self.more) >= _MOST_LINES or _BEGINNING.match(line) or line.startswith(_UNCAUGHT):
            return False
        if self.is_of_spark or _FRAME.match(line) or not line:
            return True
        traced = [self.text, *self.more]
        # Behind the frames of a traceback of Python's stands what was raised.
        return _TRACEBACK in traced and traced[-1].startswith((" ", _TRACEBACK))

    def told(self) -> None:
        """Log the event, unless it says only that a query ended amid a batch.

        One that is a traceback of Python's is told by what was raised.
        """
        if _OF_ENDS.match(f"{self.logger.rpartition('.')[2]}: {self.text}"):
            return
        trace = "\n".join(self.more).rstrip()
        text = self.text
        if text == _TRACEBACK and trace:
            text, trace = trace.rpartition("\n")[2], f"{text}\n{trace}"
        extra = {"exception": trace} if trace else {}
        logging.getLogger(self.logger).log(self.level, "%s", text, extra=extra)


def event_of(line: str) -> Event:
    """The event that a line begins.

    >>> event_of("26/11/29 06:01:02 ERROR Executor: no task").logger
    'spark.Executor'
    """
    if (found := _BEGINNING.match(line)) is None:
        return Event(logging.WARNING, log.name, line)
    level = _LEVELS.get(found["level"], logging.WARNING)
    return Event(level, f"{log.name}.{found['logger']}", found["text"], is_of_spark=True)


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
    """Log events until no process can write any."""
    event: Event | None = None
    for line in _lines(reading):
        if line is not None and event is not None and event.takes(line):
            event.more.append(line)
            continue
        if event is not None:
            event.told()
        event = event_of(line) if line else None
    os.close(reading)


def _lines(reading: int) -> Iterator[str | None]:
    """The lines, and None where nothing follows a line for a while, and at the end."""
    rest = b""
    while True:
        if not rest and not select([reading], [], [], _QUIET)[0]:
            yield None
            select([reading], [], [])
        read = os.read(reading, 1 << 16)
        *whole, rest = (rest + read).split(b"\n")
        if not read and rest:
            whole = [rest]
        for line in whole:
            yield line.decode(errors="replace").rstrip()
        if not read:
            yield None
            return
