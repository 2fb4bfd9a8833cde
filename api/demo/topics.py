"""Appends changes to the input topics, at once or at a rate."""

import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from api.demo.changes import Change
from connectors.files.writer import TopicWriter

# Changes appended together at a rate: one tick of 20 ms at 10,000 a second.
TICK_SECONDS = 0.02


class Topics:
    """The writers of the input topics, each of one partition."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._writers: dict[str, TopicWriter] = {}

    @property
    def ends(self) -> Counter[str]:
        """The number of records in every topic."""
        return Counter({topic: writer.end for topic, writer in self._writers.items()})

    def append(self, changes: Sequence[Change]) -> None:
        """Append all of `changes`, stamped with the present time."""
        now = time.time_ns() // 1_000_000
        records: dict[str, list[bytes]] = {}
        for change in changes:
            records.setdefault(change.topic, []).append(change.record(now))
        for topic, lines in records.items():
            if topic not in self._writers:
                self._writers[topic] = TopicWriter(self._root, topic)
            self._writers[topic].append(lines)

    def append_at(self, changes: Sequence[Change], per_second: int) -> None:
        """Append `changes` at this rate, in ticks; a late tick is made up for by the next."""
        started = time.monotonic()
        done = 0
        while done < len(changes):
            due = min(len(changes), int((time.monotonic() - started) * per_second))
            self.append(changes[done:due])
            done = due
            time.sleep(TICK_SECONDS)

    def close(self) -> None:
        """Release the files."""
        for writer in self._writers.values():
            writer.close()
