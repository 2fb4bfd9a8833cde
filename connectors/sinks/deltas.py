"""Deltas of views as lines of file topics, one topic per view.

A line is `{"op":"+"|"-","diff":n,"time":t,"row":{...}}` (`"error":"..."` in place of `"row"` for a row
that could not be computed); `diff` is signed and `op` is its sign. After the deltas of a time comes
`{"frontier":t,"offsets":{topic:{partition:offset}}}`: every delta up to `t` has been written, and it
reflects the input records before these offsets.

Exactly once: a topic is cut to the end that the journal committed whenever it is opened.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from connectors.batches import Offsets


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
        raise NotImplementedError

    def topic(self, view: str) -> str:
        """The name of the topic of `view`."""
        raise NotImplementedError

    def open(self, view: str, end: int = 0) -> None:
        """Publish `view` from now on, after its first `end` lines: what stands beyond is cut off.

        `end` comes from `Journal.published` (0 for a new view). Raises TopicTruncated when
        the topic has fewer lines.
        """
        raise NotImplementedError

    def write(self, view: str, changes: Changes, frontier: int, offsets: Offsets) -> int:
        """Append the deltas of `view` and the frontier record; returns how many lines of deltas.

        Not durable before `flush`.
        """
        raise NotImplementedError

    def flush(self) -> Mapping[str, int]:
        """Make all that was written durable; the end of every view's topic, for `Journal.commit`."""
        raise NotImplementedError

    def drop(self, view: str) -> None:
        """Stop publishing `view` and delete its topic."""
        raise NotImplementedError

    def close(self) -> None:
        """Release the files."""
        raise NotImplementedError
