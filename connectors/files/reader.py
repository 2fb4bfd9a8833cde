"""Reads records of a file topic by offset."""

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from connectors.errors import TopicTruncated
from connectors.files.index import PartitionIndex, Span
from connectors.files.layout import named_partitions, partition_directory
from connectors.files.listing import Listing
from connectors.records import Records


class TopicReader:
    """Follows all partitions of a topic, also later ones; not to be shared by threads."""

    def __init__(self, root: Path, topic: str) -> None:
        self._root = root
        self._topic = topic
        self._listing = Listing(root / topic)
        self._indexes: dict[int, PartitionIndex] = {}

    def ends(self) -> dict[int, int]:
        """The end of every partition: the offset of its next record (raises TopicTruncated)."""
        for partition in named_partitions(self._listing.names()):
            if partition not in self._indexes:
                directory = partition_directory(self._root, self._topic, partition)
                self._indexes[partition] = PartitionIndex(directory)
        return {partition: index.refresh() for partition, index in self._indexes.items()}

    def first(self, partition: int) -> int:
        """The smallest offset held by a partition that `ends` has named."""
        return self._indexes[partition].first

    def spans(self, partition: int, first: int, end: int) -> list[Span]:
        """The places of the records `[first, end)` of a partition (raises TopicTruncated)."""
        index = self._indexes.get(partition)
        if index is None:
            raise TopicTruncated(f"topic {self._topic!r} has no partition {partition}")
        return list(index.spans(first, end))

    def read(
        self, partition: int, first: int, limit: int, most_bytes: int | None = None
    ) -> list[bytes]:
        """At most `limit` records from offset `first` on, as of now; fewer at the end.

        No more are read once they have `most_bytes`.
        """
        end = min(self.ends().get(partition, 0), first + limit)
        if end <= first:
            return []
        lines = chain.from_iterable(span.each() for span in self.spans(partition, first, end))
        return list(lines if most_bytes is None else _first_bytes(lines, most_bytes))


def _first_bytes(lines: Iterable[bytes], most: int) -> Iterator[bytes]:
    """The first of these lines, up to the one with which they have `most` bytes."""
    size = 0
    for line in lines:
        yield line
        size += len(line)
        if size >= most:
            return


def records(span: Span, partition: int) -> Records:
    """The lines of a span of this partition as records."""
    return Records(span.lines(), range(span.first, span.first + span.count), partition)
