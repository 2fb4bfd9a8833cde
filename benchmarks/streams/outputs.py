"""The topic of a system's results, followed from its beginning and folded to rows.

A system writes what a user would have it write: deltas, rows that are only added, or the latest
rows of each key. Each is a `Fold`.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import orjson
from confluent_kafka import Consumer, TopicPartition

from benchmarks.errors import BenchmarkError
from benchmarks.streams.queries import Row
from tests.kafka.client import Kafka, Options

_AT_ONCE = 1_000
_WAIT_SECONDS = 0.05


class Fold(Protocol):
    """Rows as the messages so far leave them."""

    def take(self, key: bytes | None, value: bytes | None) -> bool:
        """Take a message, and say whether it may have changed the rows."""

    def rows(self) -> list[Row]:
        """The rows now, in any order."""


class Sums:
    """Messages with a `diff`, or without one for rows that are only added."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = columns
        self._counts: Counter[Row] = Counter()

    def take(self, key: bytes | None, value: bytes | None) -> bool:
        """Add a delta; a frontier changes nothing."""
        line = orjson.loads(value or b"{}")
        if "frontier" in line:
            return False
        row = row_of(line.get("row", line), self._columns)
        self._counts[row] += line.get("diff", 1)
        if not self._counts[row]:
            del self._counts[row]
        return True

    def rows(self) -> list[Row]:
        """Each row as often as it is there."""
        return [*self._counts.elements()]


class Latest:
    """Messages that say of a key the row that is there now, its `rows`, or by no value none."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = columns
        self._rows: dict[bytes | None, list[Row]] = {}

    def take(self, key: bytes | None, value: bytes | None) -> bool:
        """Replace the rows of a key."""
        if value is None:
            return self._rows.pop(key, None) is not None
        line = orjson.loads(value)
        self._rows[key] = [row_of(each, self._columns) for each in line.get("rows", [line])]
        return True

    def rows(self) -> list[Row]:
        """The rows of all keys."""
        return [row for rows in self._rows.values() for row in rows]


def row_of(members: dict[str, Any], columns: Sequence[str]) -> Row:
    """A row of JSON, whose averages are numbers or, exactly, texts."""
    return tuple(float(members[c]) if c == "average" else members[c] for c in columns)


class Results:
    """Follows all partitions of a topic of committed results, on a thread of its own."""

    def __init__(self, kafka: Kafka, topic: str, fold: Fold) -> None:
        self.messages = 0
        self.changed = 0.0  # the moment of the last message that changed the rows
        self._fold = fold
        self._lock = threading.Lock()
        self._failed: Exception | None = None
        options: Options = {
            "group.id": f"results.{topic}",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "fetch.wait.max.ms": 50,
        }
        self._consumer = Consumer(kafka.configured(options))
        self._consumer.assign([TopicPartition(topic, each, 0) for each in kafka.partitions(topic)])
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="results", daemon=True)
        self._thread.start()

    def rows(self) -> list[Row]:
        """The rows now (raises BenchmarkError if a message could not be read)."""
        with self._lock:
            if self._failed is not None:
                raise BenchmarkError(f"a result cannot be read: {self._failed!r}")
            return self._fold.rows()

    def close(self) -> None:
        """Read no more."""
        self._stopped.set()
        self._thread.join()
        self._consumer.close()

    def _run(self) -> None:
        try:
            while not self._stopped.is_set():
                found = self._consumer.consume(_AT_ONCE, _WAIT_SECONDS)
                now = time.monotonic()
                with self._lock:
                    for message in found:
                        if (error := message.error()) is not None:
                            raise BenchmarkError(str(error))
                        self.messages += 1
                        if self._fold.take(message.key(), message.value()):
                            self.changed = now
        except Exception as error:
            self._failed = error


@contextmanager
def followed(kafka: Kafka, topic: str, fold: Callable[[], Fold]) -> Iterator[Results]:
    """The results in a topic, until the end of the context."""
    results = Results(kafka, topic, fold())
    try:
        yield results
    finally:
        results.close()
