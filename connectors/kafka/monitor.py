"""Monitors the clusters in use on a thread of its own, so that a status is there at once."""

import threading
from collections.abc import Callable, Collection, Mapping, Sequence

from connectors.errors import BrokerFault
from connectors.health import PartFault, part_fault
from connectors.kafka.clusters import Clusters, Faults
from connectors.kafka.gaps import Gaps, Positions
from connectors.kafka.groups import Groups
from connectors.kafka.topics import PartitionOffsets
from connectors.offsets import Gap
from connectors.progress.journal import Journal
from connectors.tables.spec import TableSpec

# How often clusters are asked, in seconds.
PERIOD = 2.0


class Monitor:
    """Asks for the ends of all topics every `PERIOD` seconds, on a thread of its own.

    `ends` are those of the last success, and `gaps` lie before them.
    """

    def __init__(
        self,
        clusters: Clusters,
        journal: Journal,
        discover: Callable[[], Faults],
        tables: Callable[[], Sequence[TableSpec]],
        positions: Callable[[], Positions],
        seen: Callable[[PartitionOffsets, Faults], None],
        groups: Groups,
    ) -> None:
        """`discover` lets new topics of patterns be read, and tells the faults of the looking.

        `tables`: those that read from Kafka now, as far as `positions`, by table and partition.

        `seen` is called each time with the ends, and with the faults of tables; `groups` are told
        the positions.
        """
        self.ends: PartitionOffsets = {}
        self._faults: Faults = {}
        self._clusters = clusters
        self._journal = journal
        self._discover = discover
        self._tables = tables
        self._positions = positions
        self._gaps = Gaps(clusters.last_record)
        self._seen = seen
        self._groups = groups
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="kafka-monitor", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    @property
    def gaps(self) -> Mapping[tuple[str, int], Gap]:
        """The offsets before the ends that have no record, by (topic, partition)."""
        return self._gaps.found

    def fault(self, known: Collection[str]) -> PartFault | None:
        """The fault that kept a table, but for the known ones, from an answer the last time."""
        for name, error in self._faults.items():
            if name not in known and isinstance(error, BrokerFault):
                return part_fault(error)
        return None

    def stop(self) -> None:
        """Ask no more; an answer may still be awaited for some seconds, by nobody."""
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.wait(PERIOD):
            unseen, tables = self._discover(), self._tables()
            ends, faults = self._clusters.ends(tables, self._journal.beginnings)
            self._faults = unseen | faults
            lost = {spec.topic for spec in tables if spec.name in faults}
            self.ends = {at: end for at, end in self.ends.items() if at[0] in lost} | ends
            self._seen(ends, faults)
            sound = [spec for spec in tables if spec.name not in faults]
            positions = self._positions()
            self._gaps.look(sound, self.ends, positions)
            self._groups.tell(sound, positions)
        self._groups.close()
