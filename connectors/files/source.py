"""A partition of a file topic as a source."""

from collections.abc import Generator
from pathlib import Path

from connectors.files.reader import TopicReader, records
from connectors.records import Records
from connectors.source import BLOCK


class FileSource:
    """The records `[first, end)` of a partition; see `connectors.source.Source`."""

    def __init__(self, root: Path, topic: str, partition: int, first: int, end: int) -> None:
        """Nothing is read yet."""
        self.position = first
        self._batches = _batches(root, topic, partition, first, end)

    def next_batch(self) -> Records | None:
        """The next records; None after the last ones (raises TopicTruncated)."""
        found = next(self._batches, None)
        if found is not None:
            self.position = found.offsets[-1] + 1
        return found

    def close(self) -> None:
        """Read no more."""
        self._batches.close()


def _batches(
    root: Path, topic: str, partition: int, first: int, end: int
) -> Generator[Records, None, None]:
    reader = TopicReader(root, topic)
    reader.ends()
    for span in reader.spans(partition, first, end):
        whole = records(span, partition)
        for start in range(0, len(whole), BLOCK):
            yield whole.slice(start, start + BLOCK)
