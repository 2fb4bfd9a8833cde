"""The index of a partition's lines: from offsets to bytes, without reading a line twice.

Each segment remembers how far it was scanned and the byte of every `STRIDE`-th line, so following a
growing topic costs time in what is new, and finding any offset at most one stride of reading.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from connectors.errors import TopicTruncated
from connectors.files.layout import named_bases, segment_path
from connectors.files.listing import Listing

STRIDE = 4096
_BLOCK = 4 << 20
_NEWLINE = ord("\n")


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes `[start, stop)` of one segment: `count` whole lines, the first at offset `first`."""

    path: str
    start: int
    stop: int
    first: int
    count: int

    def lines(self) -> list[bytes]:
        """The records, without their newlines (raises TopicTruncated when they are gone)."""
        try:
            with Path(self.path).open("rb") as file:
                file.seek(self.start)
                lines = file.read(self.stop - self.start).split(b"\n")
        except FileNotFoundError:
            lines = []
        if len(lines) != self.count + 1 or lines.pop():
            raise self._gone()
        return lines

    def each(self) -> Iterator[bytes]:
        """The same, one after another as they are read."""
        try:
            with Path(self.path).open("rb") as file:
                file.seek(self.start)
                for _ in range(self.count):
                    line = file.readline()
                    if not line.endswith(b"\n"):
                        raise self._gone()
                    yield line[:-1]
        except FileNotFoundError as error:
            raise self._gone() from error

    def _gone(self) -> TopicTruncated:
        told = f"{self.path}: {self.count} lines from byte {self.start} are gone"
        return TopicTruncated(told)


class Segment:
    """One segment file as far as it was scanned: `lines` whole lines in `size` bytes."""

    def __init__(self, path: Path, base: int) -> None:
        self.path = path
        self.base = base
        self.lines = 0
        self.size = 0
        self._marks = [0]
        self._recent: dict[int, int] = {}

    def scan(self) -> None:
        """Take in the lines appended since the last scan (raises TopicTruncated when it shrank)."""
        if self.size and self.path.stat().st_size == self.size:
            return  # whole lines, all of which are known
        with self.path.open("rb", buffering=0) as file:
            if os.fstat(file.fileno()).st_size < self.size:
                raise TopicTruncated(f"{self.path}: shorter than the {self.size} bytes read before")
            self._recent = {self.lines: self.size}
            file.seek(self.size)
            position = self.size
            while block := file.read(_BLOCK):
                self._add(_newlines(block) + position + 1)
                position += len(block)

    def byte(self, line: int) -> int:
        """The byte at which line number `line <= lines` begins."""
        if line == self.lines:
            return self.size
        if (known := self._recent.get(line)) is not None:
            return known
        mark, rest = divmod(line, STRIDE)
        if rest == 0:
            return self._marks[mark]
        start = self._marks[mark]
        stop = self._marks[mark + 1] if mark + 1 < len(self._marks) else self.size
        with self.path.open("rb") as file:
            file.seek(start)
            newlines = _newlines(file.read(stop - start))
        found = start + int(newlines[rest - 1]) + 1
        self._recent[line] = found
        return found

    def _add(self, ends: NDArray[np.int64]) -> None:
        """Take in lines that end at these positions."""
        if not len(ends):
            return
        to_mark = STRIDE - self.lines % STRIDE
        self._marks.extend(ends[to_mark - 1 :: STRIDE].tolist())
        self.lines += len(ends)
        self.size = int(ends[-1])


class PartitionIndex:
    """The segments of one partition; not safe to share between threads."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._listing = Listing(directory)
        self._segments: dict[int, Segment] = {}

    @property
    def first(self) -> int:
        """The smallest offset held (0 for an empty partition), as of the last `refresh`."""
        return min(self._segments, default=0)

    def refresh(self) -> int:
        """Look for appended records; returns the end: the offset of the next record.

        Raises TopicTruncated when records that were seen before are gone from the end.
        """
        found = named_bases(self._listing.names())
        for gone in set(self._segments) - set(found):
            del self._segments[gone]
        for base in found:
            if base not in self._segments:
                self._segments[base] = Segment(segment_path(self._directory, base), base)
        if not found:
            return 0
        last = self._segments[found[-1]]
        last.scan()
        return last.base + last.lines

    def spans(self, first: int, end: int, step: int = STRIDE * 2) -> Iterator[Span]:
        """Cover the offsets `[first, end)` by spans of at most `step` lines, in order.

        Raises TopicTruncated when some of them are not held.
        """
        ordered = sorted(self._segments.values(), key=lambda segment: segment.base)
        for segment, following in zip(ordered, [*ordered[1:], None], strict=True):
            stop = min(end, following.base) if following else end
            start = max(first, segment.base)
            if start >= stop:
                continue
            if start > first:
                raise self._missing(first, start)
            if segment.lines < stop - segment.base:
                segment.scan()
            if segment.lines < stop - segment.base:
                raise self._missing(segment.base + segment.lines, stop)
            while first < stop:
                line = first - segment.base
                upto = min(stop, segment.base + (line // step + 1) * step)
                yield Span(
                    str(segment.path),
                    segment.byte(line),
                    segment.byte(upto - segment.base),
                    first,
                    upto - first,
                )
                first = upto
        if first < end:
            raise self._missing(first, end)

    def _missing(self, first: int, end: int) -> TopicTruncated:
        return TopicTruncated(f"{self._directory}: offsets {first} to {end - 1} are not there")


def _newlines(block: bytes) -> NDArray[np.int64]:
    return np.flatnonzero(np.frombuffer(block, np.uint8) == _NEWLINE)
