"""Deltas of views as lines of file topics, one topic per view.

A line is `{"op":"+"|"-","diff":n,"time":t,"row":{...}}` (`"error":"..."` in place of `"row"` for
a row that could not be computed); `diff` is signed and `op` is its sign. After the deltas of a
time comes `{"frontier":t,"offsets":{topic:{partition:offset}}}`: every delta up to `t` has been
written, and it reflects the input records before these offsets.

Exactly once: a topic is cut to the end that the journal committed whenever it is opened.
"""

import shutil
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray

from connectors.batches import Offsets
from connectors.files.writer import TopicWriter
from connectors.formats.rows import json_rows


class Changes(Protocol):
    """Deltas of one view as the pool drains them (`ivm.pool.Deltas`)."""

    @property
    def rows(self) -> pa.RecordBatch: ...
    @property
    def times(self) -> NDArray[np.uint64]: ...
    @property
    def diffs(self) -> NDArray[np.int64]: ...
    @property
    def errors(self) -> pa.RecordBatch: ...
    @property
    def error_times(self) -> NDArray[np.uint64]: ...
    @property
    def error_diffs(self) -> NDArray[np.int64]: ...


class DeltaSink:
    """Writes the delta topics of views; safe to call from several threads."""

    def __init__(self, root: Path, prefix: str = "deltas.") -> None:
        """`root` holds the topics; view `v` is published on topic `prefix + v`."""
        self._root = root
        self._prefix = prefix
        self._lock = threading.Lock()
        self._writers: dict[str, TopicWriter] = {}
        self._written: set[str] = set()

    def topic(self, view: str) -> str:
        """The name of the topic of `view`."""
        return self._prefix + view

    def owns(self, topic: str) -> bool:
        """Whether `topic` is, or may become, the topic of a view."""
        return topic.startswith(self._prefix)

    def open(self, view: str, end: int = 0) -> None:
        """Publish `view` from now on, after its first `end` lines: what stands beyond is cut off.

        `end` comes from `Journal.published` (0 for a new view). Raises TopicTruncated when
        the topic has fewer lines.
        """
        writer = TopicWriter(self._root, self.topic(view))
        writer.truncate(end)
        with self._lock:
            self._writers[view] = writer

    def write(self, view: str, changes: Changes, frontier: int, offsets: Offsets) -> int:
        """Append the deltas of `view` and the frontier record; returns how many lines of deltas.

        Not durable before `flush`.
        """
        lines = _lines("row", json_rows(changes.rows), changes.diffs, changes.times)
        errors = changes.errors.column(0).to_pylist()
        lines += _lines("error", errors, changes.error_diffs, changes.error_times)
        count = len(lines)
        lines.append(_frontier(frontier, offsets))
        with self._lock:
            self._writers[view].append(lines)
            self._written.add(view)
        return count

    def flush(self) -> Mapping[str, int]:
        """Make what was written durable; returns the new ends of these topics, for the journal."""
        with self._lock:
            for view in self._written:
                self._writers[view].sync()
            ends = {view: self._writers[view].end for view in self._written}
            self._written.clear()
        return ends

    def drop(self, view: str) -> None:
        """Stop publishing `view`, if it is, and delete its topic, or what a crash left of it."""
        with self._lock:
            writer = self._writers.pop(view, None)
            if writer is not None:
                writer.close()
            self._written.discard(view)
        topic = self._root / self.topic(view)
        if topic.exists():
            shutil.rmtree(topic)

    def close(self) -> None:
        """Sync and release the files."""
        with self._lock:
            for writer in self._writers.values():
                writer.close()
            self._writers.clear()


def _lines(
    label: str, values: list[Any], diffs: NDArray[np.int64], times: NDArray[np.uint64]
) -> list[bytes]:
    return [
        orjson.dumps({"op": "+" if diff > 0 else "-", "diff": diff, "time": time, label: value})
        for value, diff, time in zip(values, diffs.tolist(), times.tolist(), strict=True)
    ]


def _frontier(time: int, offsets: Offsets) -> bytes:
    return orjson.dumps({"frontier": time, "offsets": offsets}, option=orjson.OPT_NON_STR_KEYS)
