"""Gaps at the ends of topics: offsets of transactions' markers and aborted records.

A partition's last stable offset lies behind them, so that a source which has read every record
stands before it. Where a source and the end stay as they are, what lies between is looked at once.
"""

from collections.abc import Callable, Iterable, Mapping

from connectors.errors import BrokerFault, Stalled
from connectors.kafka.topics import PartitionOffsets
from connectors.offsets import Gap, grouped
from connectors.tables.spec import TableSpec

# So many partitions are looked at in a round.
_AT_ONCE = 16

# The offset after the last record in [first, end) of a partition of a table's topic, or `first`.
LastRecord = Callable[[TableSpec, int, int, int], int]
Positions = Mapping[tuple[str, int], int]


class Gaps:
    """Finds the gaps before the ends of partitions; for one thread, but for `found`.

    `found` maps (topic, partition) to `(first, end)`: no record that can be read is there.
    """

    def __init__(self, last_record: LastRecord) -> None:
        """`last_record` may raise BrokerFault and kinds of Stalled: then it is asked again."""
        self.found: dict[tuple[str, int], Gap] = {}
        self._last_record = last_record
        self._seen: dict[tuple[str, int], tuple[int, int]] = {}
        self._looked: dict[tuple[str, int], tuple[int, int]] = {}

    def look(
        self, specs: Iterable[TableSpec], ends: PartitionOffsets, positions: Positions
    ) -> None:
        """Look behind the sources that stand where they stood at the last call, as the ends do."""
        self.found = {at: gap for at, gap in self.found.items() if ends.get(at, 0) >= gap[1]}
        seen, rest = {}, _AT_ONCE
        of_topics = grouped(ends)
        for spec in specs:
            topic = spec.topic
            for partition, end in of_topics.get(topic, {}).items():
                source = spec.name, partition
                position = positions.get(source)
                if position is None or position >= end:
                    continue
                stand = seen[source] = position, end
                is_new = self._seen.get(source) == stand != self._looked.get(source)
                if is_new and rest and not self._is_known(topic, partition, position, end):
                    rest -= 1
                    self._find(spec, partition, position, end)
        self._seen = seen

    def _is_known(self, topic: str, partition: int, position: int, end: int) -> bool:
        first, known = self.found.get((topic, partition), (0, 0))
        return known == end and position >= first

    def _find(self, spec: TableSpec, partition: int, position: int, end: int) -> None:
        try:
            first = self._last_record(spec, partition, position, end)
        except (BrokerFault, Stalled):
            return
        self._looked[spec.name, partition] = position, end
        if first < end:
            self.found[spec.topic, partition] = first, end


def data_ends(ends: PartitionOffsets, gaps: Mapping[tuple[str, int], Gap]) -> PartitionOffsets:
    """The ends of partitions without the gaps before them.

    >>> data_ends({("t", 0): 7, ("t", 1): 9}, {("t", 0): (5, 7), ("t", 1): (5, 7)})
    {('t', 0): 5, ('t', 1): 9}
    """
    firsts = {at: first for at, (first, end) in gaps.items() if ends.get(at) == end}
    return {**ends, **firsts}
