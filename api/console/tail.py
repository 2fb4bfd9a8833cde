"""The newest changes of a view, from the end of its delta topic, as far as it is committed.

Where more come between two looks than are kept, the rest is passed over: a view with 20,000 changes
a second costs as much as one with a hundred.
"""

from collections import deque
from typing import Any

import orjson

from api.runtime import Runtime
from connectors.files.reader import TopicReader

MOST_KEPT = 100


class Tail:
    """The newest changes of one view, newest first, each with its `time`, `diff` and `row`."""

    def __init__(self, runtime: Runtime, name: str) -> None:
        self._runtime = runtime
        self._name = name
        self._reader: TopicReader | None = None
        self._topic = ""
        self._position = self._end()
        self.newest: deque[dict[str, Any]] = deque(maxlen=MOST_KEPT)
        self.passed_over = 0

    def advance(self) -> bool:
        """Read what was committed since; False if that is nothing."""
        end = self._end()
        if end == self._position:
            return False
        if end < self._position:  # the topic began anew
            self._position, self._reader = 0, None
        topic = self._runtime.sink.topic(self._published_as())
        if self._reader is None or topic != self._topic:
            self._reader, self._topic = TopicReader(self._runtime.topics, topic), topic
        self._reader.ends()
        begin = max(self._position, end - MOST_KEPT, self._reader.first(0))
        self.passed_over += begin - self._position
        for record in self._reader.read(0, begin, end - begin):
            line = orjson.loads(record)
            if "row" in line:
                self.newest.appendleft(line)
        self._position = end
        return True

    def _published_as(self) -> str:
        return self._runtime.registry.published_as(self._name)

    def _end(self) -> int:
        """The committed end of the topic; of a view that is no more, where it is read up to."""
        if self._runtime.registry.view(self._name) is None:
            return self._position
        return self._runtime.sink.published.get(self._published_as(), 0)
