"""Puts together what the tasks of a micro-batch hand over, each by itself."""

import threading
from collections.abc import Callable, Sequence

import pyarrow as pa

from connectors.spark.chunks import SCHEMA
from connectors.spark.endpoint import Part


class Gathering:
    """Passes on each batch of a source once all of its tasks have given their part.

    The tasks of a partition hand over in any order, and its records have to come in that of their
    offsets. A source begins a batch once the one before is whole. A part that comes again is left
    out. A batch of nothing is passed on as well: it says that the query runs.
    """

    def __init__(self, put: Callable[[pa.Table], None]) -> None:
        """`put` may block: then the last of the tasks does, and so the query."""
        self._put = put
        self._lock = threading.Lock()
        self._parts: dict[tuple[str, int], dict[int, Sequence[pa.RecordBatch]]] = {}
        self._whole: dict[str, int] = {}

    def take(self, part: Part, chunks: Sequence[pa.RecordBatch]) -> None:
        """Take the chunks of one task."""
        gathered = [chunks] if part.of == 1 else self._gathered(part, chunks)
        if gathered is not None:
            batches = [chunk for each in gathered for chunk in each]
            self._put(pa.Table.from_batches(batches, SCHEMA))

    def _gathered(
        self, part: Part, chunks: Sequence[pa.RecordBatch]
    ) -> list[Sequence[pa.RecordBatch]] | None:
        """The chunks of all tasks of a batch, by task, once they are there."""
        with self._lock:
            if part.number <= self._whole.get(part.source, -1):
                return None
            parts = self._parts.setdefault((part.source, part.number), {})
            parts[part.task] = chunks
            if len(parts) < part.of:
                return None
            self._whole[part.source] = part.number
            for known in [at for at in self._parts if at[0] == part.source]:
                del self._parts[known]
            return [parts[task] for task in sorted(parts)]
