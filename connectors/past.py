"""Records that were read before, read again by their offsets."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from connectors.files.reader import TopicReader, records
from connectors.records import Records
from connectors.tables import TableSpec

# How many records are held at a time.
BLOCK = 8_192

# (topic, partition, first, end) -> the records that there are
ReadTopic = Callable[[str, int, int, int], Iterator[Records]]


class Past:
    """The topics of tables: directories, and those of clusters by the names of connections."""

    def __init__(self, topics: Path, clusters: Mapping[str, ReadTopic]) -> None:
        self._topics = topics
        self._clusters = clusters

    def read(self, spec: TableSpec, partition: int, first: int, end: int) -> Iterator[Records]:
        """The records `[first, end)` of a partition of a table's topic, some at a time.

        Raises an IvmError where the topic does not hold them any more, or cannot be read.
        """
        if spec.connector == "kafka":
            assert spec.connection is not None
            yield from self._clusters[spec.connection](spec.topic, partition, first, end)
            return
        reader = TopicReader(self._topics, spec.topic)
        reader.ends()
        for span in reader.spans(partition, first, end):
            whole = records(span, partition)
            for start in range(0, len(whole), BLOCK):
                yield whole.slice(start, start + BLOCK)
