"""Change records of Debezium's kind, made once and stamped with the time when they are appended.

`source.lsn` is the record's offset in its topic, so that a judge of the topics can order and cut
them without knowing how the service counts.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import orjson


@dataclass(frozen=True, slots=True)
class Change:
    """One record of `topic`; `body` is its JSON text without the opening brace and `ts_ms`."""

    topic: str
    body: bytes

    def record(self, ts_ms: int) -> bytes:
        """The record as it is appended at `ts_ms` (milliseconds since the epoch)."""
        return b'{"ts_ms":%d,%b' % (ts_ms, self.body)


class Recorder:
    """Turns rows before and after into changes, counting the offsets of every topic."""

    def __init__(self) -> None:
        self._ends: Counter[str] = Counter()

    def insert(self, topic: str, after: dict[str, Any]) -> Change:
        """A row that is new."""
        return self._change(topic, "c", None, after)

    def update(self, topic: str, before: dict[str, Any], after: dict[str, Any]) -> Change:
        """A row that changed."""
        return self._change(topic, "u", before, after)

    def delete(self, topic: str, before: dict[str, Any]) -> Change:
        """A row that is gone."""
        return self._change(topic, "d", before, None)

    def _change(self, topic: str, op: str, before: object, after: object) -> Change:
        offset = self._ends[topic]
        self._ends[topic] = offset + 1
        source = {"db": "demo", "table": topic, "lsn": offset}
        value = {"op": op, "before": before, "after": after, "source": source}
        return Change(topic, orjson.dumps(value)[1:])
