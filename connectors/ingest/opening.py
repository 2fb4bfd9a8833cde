"""Opening: decides which topics a query is to read, and from where on.

A table that cannot be read stands still by itself, if it can; else all wait for it.
"""

from collections.abc import Mapping
from pathlib import Path

from connectors.errors import BrokerFault, InvalidTable, Unavailable, UnknownConnection
from connectors.ingest.delivery import Delivery
from connectors.ingest.keyed_tables import KeyedTables
from connectors.kafka.clusters import Clusters, Faults, Feed, is_of_topic
from connectors.progress.journal import Beginning, Journal
from connectors.spark.control import Control, Cut, Position
from connectors.tables.spec import TableSpec


class Opening:
    """The reading of the tables of a pipeline, from where its delivery is."""

    def __init__(
        self,
        topics: Path,
        control: Path,
        journal: Journal,
        clusters: Clusters,
        tables: KeyedTables,
        delivery: Delivery,
    ) -> None:
        """`topics` is the root of the file topics; the file `control` tells the planner of them."""
        self._topics = topics
        self._control = control
        self._journal = journal
        self._clusters = clusters
        self._tables = tables
        self._delivery = delivery

    def begin(self, stream: str, beginning: Beginning) -> None:
        """Tie a new stream, or the table of several, to its beginning, durably."""
        self._journal.start_table(stream, beginning)
        self._delivery.begin(stream, beginning.offsets)

    def begin_all(self, spec: TableSpec, beginnings: Mapping[str, Beginning]) -> None:
        """Tie a new table to the beginnings of its streams, durably."""
        for stream, beginning in beginnings.items():
            self.begin(stream, beginning)
        if spec.topic_pattern is not None:
            self.begin(spec.name, Beginning(spec.topic, "", {}))

    def reads_files(self) -> bool:
        """Whether a query reads file topics; one without any table does, and waits."""
        read = self._read()
        return not read or any(not spec.is_remote for spec in read.values())

    def feeds(self) -> list[Feed]:
        """The topics in Kafka to read; tables that cannot be read stand still.

        Raises the fault of one where all have to wait.
        """
        read = self._read()
        remote = {key: spec for key, spec in read.items() if spec.is_remote}
        faults = self._begin(remote)
        ready = {key: spec for key, spec in remote.items() if spec.name not in faults}
        beginnings, positions = self._journal.beginnings, self._delivery.positions()
        feeds, more = self._clusters.feeds(ready, beginnings, positions)
        faults |= more
        has_others = feeds or len(remote) < len(read)
        for error in faults.values():
            if isinstance(error, BrokerFault) and not is_of_topic(error) and not has_others:
                raise error
        for name, error in faults.items():
            if not self._delivery.stall(error, name):
                raise error
        return self.feeds() if faults else feeds  # others may stand still with these

    def save(self) -> None:
        """Save the tables and positions of file topics, for the planner and for later queries."""
        delivery, key = self._delivery, self._tables.key
        tables = {key: spec for key, spec in self._read().items() if not spec.is_remote}
        cuts = []
        for entry in delivery.pending:
            ranges = [r for r in entry.ranges if key(r.table) in tables]
            if ranges:
                ends = tuple((key(r.table), r.partition, r.end) for r in ranges)
                cuts.append(Cut(entry.time, sum(r.end - r.first for r in ranges), ends))
        reached: dict[str, dict[int, int]] = {}
        for (table, partition), end in delivery.reached().items():
            if key(table) in tables:
                reached.setdefault(key(table), {})[partition] = end
        Control(self._topics, tables, Position(0, reached), tuple(cuts)).save(self._control)

    def _read(self) -> dict[str, TableSpec]:
        """The tables to read: those that stand still are while journaled times wait for them."""
        stalls, isolates = self._delivery.stalls, self._delivery.isolates
        return {
            key: spec
            for key, spec in self._tables.by_key.items()
            if spec.name not in stalls or not isolates(spec.name)
        }

    def _begin(self, remote: dict[str, TableSpec]) -> Faults:
        """Begin tables that a crash kept from it, after they were declared; the faults of some."""
        faults: Faults = {}
        for spec in remote.values():
            if spec.name not in self._journal.beginnings:
                try:
                    self.begin_all(spec, self._clusters.preflight(spec))
                except (Unavailable, UnknownConnection, InvalidTable) as error:
                    faults[spec.name] = error
        return faults
