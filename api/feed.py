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

# Deltas, or rows of a snapshot, in one event at most.
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
    """Follows one delta topic; used by one caller at a time.

    An event has at most `LINES` deltas, and no more once its lines have `event_bytes`; so much is
    read at once.
    """

    def __init__(self, root: Path, topic: str, event_bytes: int) -> None:
        self._reader = TopicReader(root, topic)
        self._event_bytes = event_bytes
        self._position = self._after = 0
        self._open: list[dict[str, Any]] = []
        self._size = 0

    def seek(self, time: int, end: int) -> None:
        """Go on with the first line of a time beyond `time`; `end` is the committed end."""
        low, high = self._bracket(time, end)
        while low < high:
            middle = (low + high) // 2
            if self._time_at(middle) <= time:
                low = middle + 1
            else:
                high = middle
        self._position, self._after = low, time
        self._begin()

    def _bracket(self, time: int, end: int) -> tuple[int, int]:
        """The offsets between which the first line beyond a time stands, which is near the end.

        They are looked for from there backwards: what is not read is not indexed either.
        """
        high, step = end, 1
        while high > 0 and self._time_at(low := max(high - step, 0)) > time:
            high, step = low, 2 * step
        return max(high - step, 0), high

    def _time_at(self, offset: int) -> int:
        return _time(orjson.loads(self._reader.read(0, offset, 1)[0]))

    def events(self, end: int) -> Iterator[Event]:
        """The events before the committed end, from the position on."""
        while self._position < end:
            limit = min(LINES, end - self._position)
            lines = self._reader.read(0, self._position, limit, self._event_bytes)
            self._position += len(lines)
            for line in lines:
                yield from self._event(line)

    def _event(self, record: bytes) -> Iterator[Event]:
        """Collect a delta; an event ends at its frontier record, or when it is large."""
        line = orjson.loads(record)
        if _time(line) <= self._after:
            return
        self._size += len(record)
        if "frontier" in line:
            time = line.pop("frontier")
            yield Event(time, self._open, line)
            self._begin()
            return
        time = line.pop("time")
        self._open.append(line)
        if len(self._open) == LINES or self._size >= self._event_bytes:
            yield Event(time, self._open, None)
            self._begin()

    def _begin(self) -> None:
        """Begin an event."""
        self._open, self._size = [], 0


def _time(line: dict[str, Any]) -> int:
    """The time of a delta or of a frontier record."""
    time: int = line["frontier"] if "frontier" in line else line["time"]
    return time
