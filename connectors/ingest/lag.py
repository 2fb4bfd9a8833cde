"""The lag of the pipeline: the number of records that each source has yet to receive."""

import time as clock
from collections.abc import Iterable, Mapping
from pathlib import Path

from connectors.errors import TopicTruncated
from connectors.files.reader import TopicReader
from connectors.ingest.freshness import Freshness
from connectors.offsets import Ends, grouped
from connectors.streams import table_of
from connectors.tables.spec import TableSpec

# Records by source, topic and partition.
Behind = Mapping[tuple[str, str, int], int]
# Seconds by the same.
Ages = Mapping[tuple[str, str, int], float]


class Lag:
    """Follows the ends of file topics; those of Kafka are told. Not to be shared by threads.

    `ages` tells, as of the last count, for how long the oldest record of each partition has been
    there that its source has yet to receive (0.0: there is none).
    """

    def __init__(self, root: Path) -> None:
        """`root` is that of the file topics."""
        self._root = root
        self._readers: dict[str, TopicReader] = {}
        self._freshness = Freshness()
        self.ages: Ages = {}

    def of(
        self,
        streams: Iterable[TableSpec],
        reached: Mapping[tuple[str, int], int],
        ends: Mapping[tuple[str, int], int],
    ) -> Behind:
        """The records of each partition that the table of each stream has yet to receive.

        `reached` is by (stream, partition), `ends` of Kafka's topics by (topic, partition).
        """
        behind = {}
        ages = {}
        now = clock.monotonic()
        of_topics = grouped(ends)
        for spec in streams:
            if spec.is_remote:
                bounds = {p: (0, end) for p, end in of_topics.get(spec.topic, {}).items()}
            else:
                bounds = self._bounds(spec.topic)
            for partition, (first, end) in bounds.items():
                position = reached.get((spec.name, partition), first)
                place = table_of(spec.name), spec.topic, partition
                behind[place] = max(0, end - position)
                ages[place] = self._freshness.note(place, end, position, now)
        self._freshness.keep(ages.keys())
        self.ages = ages
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
