"""The lag of the pipeline: the number of records that each source has yet to receive."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from connectors.errors import TopicTruncated
from connectors.files.reader import TopicReader
from connectors.offsets import Ends
from connectors.tables.spec import TableSpec

# Records by source, topic and partition.
Behind = Mapping[tuple[str, str, int], int]


class Lag:
    """Follows the ends of file topics; those of Kafka are told. Not to be shared by threads."""

    def __init__(self, root: Path) -> None:
        """`root` is that of the file topics."""
        self._root = root
        self._readers: dict[str, TopicReader] = {}

    def of(
        self,
        tables: Iterable[TableSpec],
        reached: Mapping[tuple[str, int], int],
        ends: Mapping[tuple[str, int], int],
    ) -> Behind:
        """The records of each partition that each table has yet to receive.

        `reached` is by (table, partition), `ends` of Kafka's topics by (topic, partition).
        """
        behind = {}
        for spec in tables:
            if spec.is_remote:
                bounds = {p: (0, end) for (topic, p), end in ends.items() if topic == spec.topic}
            else:
                bounds = self._bounds(spec.topic)
            for partition, (first, end) in bounds.items():
                position = reached.get((spec.name, partition), first)
                behind[spec.name, spec.topic, partition] = max(0, end - position)
        return behind

    def ends(self, topic: str) -> Ends:
        """The end of each partition of a file topic."""
        return {partition: end for partition, (_, end) in self._bounds(topic).items()}

    def _bounds(self, topic: str) -> dict[int, tuple[int, int]]:
        """The first offset and the end of each partition of a file topic."""
        reader = self._readers.get(topic)
        if reader is None:
            reader = self._readers[topic] = TopicReader(self._root, topic)
        try:
            ends = reader.ends()
        except TopicTruncated:
            del self._readers[topic]
            return {}
        return {partition: (reader.first(partition), end) for partition, end in ends.items()}
