"""The change feed of a view, read from its durable delta topic.

A feed is a position in the topic, so it holds no queue: a reader that is slow reads later, and one
that comes back goes on after the time that it saw last. Only what the journal has committed is
read. Times rise along the topic, so the place of a time is found by bisection; of a time that is
not committed yet, as that of a snapshot may be, the lines that are still to come are passed over.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from connectors.files.reader import TopicReader

# Lines read at once, and deltas in one event at most.
LINES = 5_000


@dataclass(frozen=True, slots=True)
class Event:
    """Deltas of `time`, or a part of them; the last part has the offsets that the time reflects.

    That is `offsets` by topic and `sources` by source, unless the line is of before there were any.
    """

    time: int
    deltas: list[dict[str, Any]]
    reflected: dict[str, dict[str, dict[str, int]]] | None


class Feed:
    """Follows one delta topic; used by one caller at a time."""

    def __init__(self, root: Path, topic: str) -> None:
        self._reader = TopicReader(root, topic)
        self._position = self._after = 0
        self._open: list[dict[str, Any]] = []

    def seek(self, time: int, end: int) -> None:
        """Go on with the first line of a time beyond `time`; `end` is the committed end."""
        low, high = 0, end
        while low < high:
            middle = (low + high) // 2
            line = orjson.loads(self._reader.read(0, middle, 1)[0])
            if _time(line) <= time:
                low = middle + 1
            else:
                high = middle
        self._position, self._after = low, time
        self._open = []

    def events(self, end: int) -> Iterator[Event]:
        """The events before the committed end, from the position on."""
        while self._position < end:
            lines = self._reader.read(0, self._position, min(LINES, end - self._position))
            self._position += len(lines)
            for line in lines:
                yield from self._event(orjson.loads(line))

    def _event(self, line: dict[str, Any]) -> Iterator[Event]:
        """Collect a delta; an event ends at its frontier record, or when it is large."""
        if _time(line) <= self._after:
            return
        if "frontier" in line:
            time = line.pop("frontier")
            yield Event(time, self._open, line)
            self._open = []
            return
        time = line.pop("time")
        self._open.append(line)
        if len(self._open) == LINES:
            yield Event(time, self._open, None)
            self._open = []


def _time(line: dict[str, Any]) -> int:
    """The time of a delta or of a frontier record."""
    time: int = line["frontier"] if "frontier" in line else line["time"]
    return time
