"""Records that were read before, read again by their offsets."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from connectors.files.source import FileSource
from connectors.records import Records
from connectors.source import OpenTopic, batches
from connectors.tables.spec import TableSpec


class Past:
    """The topics of tables: directories, and those of clusters by the names of connections."""

    def __init__(self, topics: Path, clusters: Mapping[str, OpenTopic]) -> None:
        self._files: OpenTopic = partial(FileSource, topics)
        self._clusters = clusters

    def read(self, spec: TableSpec, partition: int, first: int, end: int) -> Iterator[Records]:
        """The records `[first, end)` of a partition of a table's topic, some at a time.

        Raises an IvmError where the topic does not hold them any more, or cannot be read.
        """
        opened = self._clusters[spec.connection or ""] if spec.is_remote else self._files
        return batches(opened, spec.topic, partition, first, end)
