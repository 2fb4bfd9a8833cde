"""Appends records to one partition of a file topic, segment after segment.

After a crash the torn tail, a line without its newline, is cut off before anything is written: no
reader has counted it.
"""

import os
import time as clock
from collections.abc import Sequence
from math import inf
from pathlib import Path

from connectors.errors import InvalidRecord, TopicTruncated
from connectors.files.durable import CLOSED, close, cut, sync_directory, write
from connectors.files.index import Segment
from connectors.files.layout import bases, partition_directory, segment_path

SEGMENT_BYTES = 64 << 20
# Bytes that are read at a time, from the end of a segment, to find its last line.
_TAIL = 64 << 10


class TopicWriter:
    """The only writer of its partition."""

    def __init__(
        self,
        root: Path,
        topic: str,
        partition: int = 0,
        segment_bytes: int = SEGMENT_BYTES,
        segment_seconds: float = inf,
    ) -> None:
        """Open the partition at its end, or make it.

        A segment ends at about `segment_bytes`, and `segment_seconds` after it was opened.
        """
        self._directory = partition_directory(root, topic, partition)
        self._directory.mkdir(parents=True, exist_ok=True)
        self._segment_bytes = segment_bytes
        self._segment_seconds = segment_seconds
        self._file = CLOSED
        self._reopen()

    @property
    def directory(self) -> Path:
        """The directory of the partition."""
        return self._directory

    @property
    def end(self) -> int:
        """The offset that the next record gets."""
        return self._end

    def append(self, records: Sequence[bytes]) -> int:
        """Append `records` (JSON texts without newlines) and return the offset of the first.

        Visible to readers on return, durable after `sync`. Raises InvalidRecord for a record with
        a newline; then nothing was written.
        """
        if not records:
            return self._end
        return self.append_blocks([b"\n".join(records) + b"\n"], len(records))

    def append_blocks(self, blocks: Sequence[bytes], count: int) -> int:
        """Append the `count` records of `blocks`, each with a newline behind it; else as `append`.

        Readers may see a block before the next.
        """
        first = self._end
        if sum(block.count(b"\n") for block in blocks) != count:
            raise InvalidRecord("a record holds a newline, so it would count as several")
        is_old = clock.monotonic() - self._opened >= self._segment_seconds
        if self._size >= self._segment_bytes or (self._size and is_old):
            self._roll()
        try:
            for block in blocks:
                write(self._file, block)
        except OSError:
            os.ftruncate(self._file, self._size)
            raise
        self._size += sum(map(len, blocks))
        self._end += count
        return first

    def last(self) -> bytes | None:
        """The last record, without its newline; None where there is none."""
        for base in reversed(bases(self._directory)):
            if (line := last_line(segment_path(self._directory, base))) is not None:
                return line
        return None

    def sync(self) -> None:
        """Make the appended records durable."""
        os.fdatasync(self._file)

    def truncate(self, end: int) -> None:
        """Cut off the records from offset `end` on (raises TopicTruncated if there are fewer)."""
        if end > self._end:
            raise TopicTruncated(
                f"{self._directory}: {end} records were published, only {self._end} are there"
            )
        if end == self._end:
            return
        self._file = close(self._file)
        found = bases(self._directory)
        keep = max((base for base in found if base <= end), default=0)
        for base in reversed(found):
            if base > keep:
                segment_path(self._directory, base).unlink()
        segment = Segment(segment_path(self._directory, keep), keep)
        segment.scan()
        _cut(segment.path, segment.byte(end - keep))
        self._reopen()

    def close(self) -> None:
        """Sync and release the file, unless that is done."""
        if self._file != CLOSED:
            self.sync()
            self._file = close(self._file)

    def _reopen(self) -> None:
        base = max(bases(self._directory), default=0)
        path = segment_path(self._directory, base)
        lines = size = 0
        if path.exists():
            segment = Segment(path, base)
            segment.scan()
            lines, size = segment.lines, segment.size
            if path.stat().st_size > size:
                _cut(path, size)
        self._open(base)
        self._size = size
        self._end = base + lines

    def _roll(self) -> None:
        self.close()
        self._open(self._end)
        self._size = 0

    def _open(self, base: int) -> None:
        path = segment_path(self._directory, base)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._opened = clock.monotonic()
        sync_directory(self._directory)


def last_line(path: Path) -> bytes | None:
    """The last line of a segment whose lines are whole, read from the end; None if it is empty."""
    with path.open("rb") as file:
        start = size = file.seek(0, os.SEEK_END)
        tail = b""
        while start > 0 and tail.count(b"\n", 0, -1) == 0:
            start = max(0, start - _TAIL)
            file.seek(start)
            tail = file.read(size - start)
    return tail.split(b"\n")[-2] if tail else None


def _cut(path: Path, size: int) -> None:
    file = os.open(path, os.O_WRONLY)
    try:
        cut(file, size)
    finally:
        os.close(file)
