"""The change feed of a view, read from its durable delta topic.

A feed is a position in the topic, so it holds no queue: a reader that is slow reads later, and one
that comes back goes on after the time that it saw last. Only what the journal has committed is
read. Times rise along the topic, so the place of a time is found by bisection; of a time that is
not committed yet, as that of a snapshot may be, the lines that are still to come are passed over.

Retention takes lines away from the topic's beginning, or lets a snapshot take their place. Whoever
has seen the time of the first line that is there lacks none of them; the others are told.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from api.errors import ChangesGone
from connectors.errors import TopicTruncated
from connectors.files.reader import TopicReader
from connectors.sinks.sink import Reached

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
        self._position = self._after = self._seen = self._first = 0
        self._open: list[dict[str, Any]] = []
        self._size = 0

    def seek(self, time: int, end: int) -> None:
        """Go on with the first line of a time beyond `time`; `end` is the committed end.

        Raises ChangesGone.
        """
        self.expect_held(time)
        low, high = self._bracket(time, end)
        while low < high:
            middle = (low + high) // 2
            if self._time_at(middle) <= time:
                low = middle + 1
            else:
                high = middle
        self._position, self._after, self._seen = low, time, time
        self._begin()

    def expect_held(self, time: int) -> None:
        """See that no change after `time` was removed (raises ChangesGone)."""
        self._first = self._reader.first(0) if 0 in self._reader.ends() else 0
        if self._first > 0 and time < (first := self._time_at(self._first)):
            raise ChangesGone(
                f"the changes after time {time} are not kept any more: they begin after time "
                f"{first}; begin anew with a snapshot"
            )

    def _bracket(self, time: int, end: int) -> tuple[int, int]:
        """The offsets between which the first line beyond a time stands, which is near the end.

        They are looked for from there backwards: what is not read is not indexed either.
        """
        high, step = end, 1
        first = self._first
        while high > first and self._time_at(low := max(high - step, first)) > time:
            high, step = low, 2 * step
        return max(high - step, first), high

    def _time_at(self, offset: int) -> int:
        return _time(orjson.loads(self._reader.read(0, offset, 1)[0]))

    def events(self, end: int) -> Iterator[Event]:
        """The events before the committed end, from the position on.

        Raises ChangesGone once retention has taken what is to come.
        """
        while self._position < end:
            limit = min(LINES, end - self._position)
            lines = self._read(limit)
            self._position += len(lines)
            for line in lines:
                yield from self._event(line)

    def progress(self, complete: Reached | None) -> Iterator[Event]:
        """An event of a complete time that is beyond all lines, which have been read up to it.

        The topic of a view that does not change has few frontiers; who follows it waits for times.
        """
        if complete is not None and complete.time > max(self._seen, self._after):
            self._seen = complete.time
            yield Event(complete.time, [], complete.offsets.told())

    def _read(self, limit: int) -> list[bytes]:
        """At most so many lines from the position on."""
        try:
            lines = self._reader.read(0, self._position, limit, self._event_bytes)
        except TopicTruncated:
            self.expect_held(self._seen)
            raise
        if self._reader.first(0) != self._first:
            self.expect_held(self._seen)
        return lines

    def _event(self, record: bytes) -> Iterator[Event]:
        """Collect a delta; an event ends at its frontier record, or when it is large."""
        line = orjson.loads(record)
        if _time(line) <= self._after:
            return
        self._size += len(record)
        if "frontier" in line:
            time = line.pop("frontier")
            if time > self._seen or self._open:
                self._seen = time
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
