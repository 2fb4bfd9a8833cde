"""Monitors the clusters in use on a thread of its own, so that a status is there at once."""

import threading
from collections.abc import Callable, Mapping, Sequence

from connectors.errors import BrokerFault, Stalled
from connectors.health import PartFault
from connectors.kafka.clusters import Clusters
from connectors.kafka.gaps import Gaps, Positions
from connectors.kafka.topics import PartitionOffsets
from connectors.offsets import Gap
from connectors.progress.journal import Journal
from connectors.tables.spec import TableSpec

# How often clusters are asked, in seconds.
PERIOD = 2.0


class Monitor:
    """Asks for the ends of all topics every `PERIOD` seconds, on a thread of its own.

    `fault` says why the last time failed, None if it did not; `ends` are those of the last success,
    and `gaps` lie before them.
    """

    def __init__(
        self,
        clusters: Clusters,
        journal: Journal,
        tables: Callable[[], Sequence[TableSpec]],
        positions: Callable[[], Positions],
        halt: Callable[[], None],
        seen: Callable[[PartitionOffsets], None],
    ) -> None:
        """`tables`: those that read from Kafka now, as far as `positions`, by table and partition.

        `halt` is called if one must not go on, and `seen` with the ends each time.
        """
        self.ends: PartitionOffsets = {}
        self.fault: PartFault | None = None
        self._clusters = clusters
        self._journal = journal
        self._tables = tables
        self._positions = positions
        self._gaps = Gaps(clusters.last_record)
        self._halt = halt
        self._seen = seen
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="kafka-monitor", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    @property
    def gaps(self) -> Mapping[tuple[str, int], Gap]:
        """The offsets before the ends that have no record, by (topic, partition)."""
        return self._gaps.found

    def stop(self) -> None:
        """Ask no more; an answer may still be awaited for some seconds, by nobody."""
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.wait(PERIOD):
            try:
                self.ends = self._clusters.ends(self._tables(), self._journal.beginnings)
            except Stalled:
                self._halt()
            except BrokerFault as error:
                self.fault = PartFault(error.part, error.setting, str(error))
            else:
                self.fault = None
                self._seen(self.ends)
                self._gaps.look(self._tables(), self.ends, self._positions())
