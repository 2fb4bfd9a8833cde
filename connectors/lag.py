"""How far behind the pipeline is: the records of each topic that it has yet to receive."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from connectors.errors import TopicTruncated
from connectors.files.reader import TopicReader
from connectors.tables import TableSpec


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
    ) -> dict[str, int]:
        """The records of each topic that the table most behind has yet to receive.

        `reached` is by (table, partition), `ends` of Kafka's topics by (topic, partition).
        """
        lag: dict[str, int] = {}
        for spec in tables:
            if spec.is_remote:
                bounds = {p: (0, end) for (topic, p), end in ends.items() if topic == spec.topic}
            else:
                bounds = self._bounds(spec.topic)
            behind = sum(
                max(0, end - reached.get((spec.name, partition), first))
                for partition, (first, end) in bounds.items()
            )
            lag[spec.topic] = max(behind, lag.get(spec.topic, 0))
        return lag

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
