"""Feeds: follow a view, one logical time after another, each whole and once.

A time is given to the caller when all of it has come. Where a connection breaks, the feed goes on
after the last time that it gave, so that nothing is missed and nothing comes twice.
"""

import asyncio
import io
import time
from collections.abc import AsyncIterator, Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

import httpx
import pyarrow as pa
import pyarrow.compute as pc

from ivm_client.errors import FeedEnded, Unreachable
from ivm_client.service import ServiceClient, path

ARROW = "application/vnd.apache.arrow.stream"
TIME, DIFF, PROGRESSED = "ivm_time", "ivm_diff", "ivm_progressed"
NAME = b"ivm_view"  # metadata: the view's name from now on
# Seconds before a connection that broke is made anew, doubled up to the second one.
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 10.0


@dataclass(frozen=True, slots=True)
class Batch:
    """The changes of a view up to `time`: `diffs[i]` copies of row `i` came (or went, if negative).

    `is_snapshot`: the rows are those that there were when the feed began.
    """

    time: int
    rows: pa.Table
    diffs: pa.ChunkedArray
    is_snapshot: bool

    def __iter__(self) -> Iterator[tuple[dict[str, Any], int]]:
        """Each row with its diff."""
        return zip(self.rows.to_pylist(), self.counts(), strict=True)

    def counts(self) -> list[int]:
        """The diffs as numbers."""
        return cast(list[int], self.diffs.to_pylist())

    def __len__(self) -> int:
        return int(self.rows.num_rows)


class Feed:
    """The changes of one view: an iterator, plain or `async`, of batches.

    `time` is that of the last batch, to begin another feed after it (`since`). A view that gets
    another name is followed on; `view` is its name by then.
    """

    def __init__(
        self,
        service: ServiceClient,
        view: str,
        since: int | None,
        snapshot: bool,
        values: Mapping[str, Any],
        patience: float,
        part: tuple[int, int] | None = None,
    ) -> None:
        """Follow the rows with these values; a service may be away for `patience` seconds."""
        self.time = since
        self._service = service
        self.view = view
        self._snapshot = snapshot
        self._values = {f"filter[{name}]": value for name, value in values.items()}
        if part is not None:
            number, parts = part
            self._values["part"] = f"{number}/{parts}"
        self._patience = patience
        self._batches = self._all()

    def __iter__(self) -> Iterator[Batch]:
        return self

    def __next__(self) -> Batch:
        return next(self._batches)

    def __aiter__(self) -> AsyncIterator[Batch]:
        return self

    async def __anext__(self) -> Batch:
        batch = await asyncio.to_thread(next, self._batches, None)
        if batch is None:
            raise StopAsyncIteration
        return batch

    def close(self) -> None:
        """Follow no more; not while another thread waits for a batch."""
        self._batches.close()

    def _all(self) -> Generator[Batch, None, None]:
        """Batches, from one connection after another (raises FeedEnded, Problem, Unreachable)."""
        pause, away = FIRST_PAUSE, time.monotonic()
        while True:
            try:
                for batch in self._connected():
                    pause, away = FIRST_PAUSE, time.monotonic()
                    self.time = batch.time
                    yield batch
                    away = time.monotonic()
                raise FeedEnded(
                    f"the feed of {self.view!r} has ended: the view was dropped, failed, or has "
                    "other columns"
                )
            except (Unreachable, pa.ArrowInvalid, OSError):  # it broke amid a message
                if time.monotonic() - away > self._patience:
                    raise
                time.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)

    def _connected(self) -> Iterator[Batch]:
        """Batches of one connection."""
        parameters = dict(self._values)
        if self.time is not None:
            parameters["since"] = str(self.time)
        else:
            parameters["snapshot"] = str(self._snapshot).lower()
        is_snapshot = self.time is None and self._snapshot
        with self._service.stream(path("views", self.view, "changes"), parameters, ARROW) as found:
            parts = list[pa.RecordBatch]()
            stream = pa.ipc.open_stream(cast(Any, _Bytes(found)))
            for part, metadata in stream.iter_batches_with_custom_metadata():
                if name := dict(metadata or ()).get(NAME):
                    self.view = name.decode()
                parts.append(part)
                if part.num_rows and part.column(PROGRESSED)[-1].as_py():
                    yield _batch(parts, is_snapshot)
                    parts, is_snapshot = [], False


def _batch(parts: list[pa.RecordBatch], is_snapshot: bool) -> Batch:
    """The rows of a time that is complete, as the last row says."""
    whole = pa.Table.from_batches(parts)
    at = whole.column(TIME)[-1].as_py()
    changes = whole.filter(pc.invert(whole.column(PROGRESSED)))
    rows = changes.drop_columns([TIME, DIFF, PROGRESSED])
    return Batch(at, rows, changes.column(DIFF), is_snapshot)


class _Bytes(io.RawIOBase):
    """The body of an answer as a file that is read once."""

    def __init__(self, response: httpx.Response) -> None:
        self._chunks = response.iter_bytes()
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = chunk
        many = min(len(buffer), len(self._rest))
        buffer[:many] = self._rest[:many]
        self._rest = self._rest[many:]
        return many

    def read(self, size: int = -1) -> bytes:
        """All of `size` bytes, fewer at the end: a message of Arrow's is read whole."""
        found = bytearray()
        while size < 0 or len(found) < size:
            chunk = self._rest or next(self._chunks, b"")
            if not chunk:
                break
            many = len(chunk) if size < 0 else size - len(found)
            found += chunk[:many]
            self._rest = chunk[many:]
        return bytes(found)
