"""A pipeline without Spark that reads file topics when a test says so, by the real protocol."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from connectors.declaration import OnError
from connectors.errors import NotStalled, Stalled
from connectors.files.reader import TopicReader, records
from connectors.files.writer import TopicWriter
from connectors.ingest.delivery import Delivery
from connectors.ingest.settings import PipelineSettings
from connectors.ingest.status import PipelineStatus, State
from connectors.offsets import Ends
from connectors.progress.batches import Receiver, RowOwners
from connectors.progress.journal import Beginning, Journal
from connectors.quarantine.replay import Outcome
from connectors.quarantine.reread import Past
from connectors.quarantine.store import Place, Quarantine
from connectors.spark.bringing import Bringing
from connectors.spark.chunks import SCHEMA, encode
from connectors.tables.spec import TableSpec

_NONE: Mapping[str, Beginning] = {}


class DecodingPipeline:
    """Reads all partitions of a table on the caller's thread."""

    def __init__(
        self,
        settings: PipelineSettings,
        journal: Journal,
        quarantine: Quarantine,
        receiver: Receiver,
        expect_room: Callable[[], None] = lambda: None,
        owners: RowOwners | None = None,
    ) -> None:
        self.topics: Path = settings.topics
        self.state: State = "stopped"
        self._owners = owners
        self._delivery = Delivery(journal, quarantine, receiver, owners=owners)
        self._journal = journal
        self._tables: dict[str, TableSpec] = {}

    def prepare(self) -> None:
        """There is nothing to make ready."""

    def session(self) -> None:
        """There is no Spark."""

    def start(self, tables: Sequence[TableSpec]) -> None:
        for spec in tables:
            self.add_table(spec)
        self._delivery.open()
        for spec in tables:
            self.read(spec.name)
        self.state = "running"

    def wait_replayed(self, timeout: float | None = None) -> bool:
        return True

    def preflight(self, spec: TableSpec) -> dict[str, Beginning]:
        """A topic of files begins where it begins."""
        return {}

    def held(self, spec: TableSpec, beginnings: dict[str, Beginning]) -> dict[str, Ends]:
        """Nothing is waited for."""
        return {}

    def add_table(self, spec: TableSpec, beginnings: Mapping[str, Beginning] = _NONE) -> None:
        self._tables[spec.name] = spec
        self._delivery.add_table(self._key(spec.name), spec)

    def remove_table(self, name: str) -> None:
        with self._delivery.between_batches():
            self._delivery.remove_table(name)

    def set_on_error(self, name: str, on_error: OnError) -> None:
        self.add_table(replace(self._tables[name], on_error=on_error))
        self.retry(name)

    def write(self, table: str, *values: bytes, partition: int = 0) -> None:
        """Append records to a table's topic, and read them."""
        writer = TopicWriter(self.topics, self._tables[table].topic, partition)
        writer.append(values)
        writer.close()
        self.read(table)

    def read(self, table: str) -> None:
        """Deliver what a table's topic has beyond what was read."""
        spec = self._tables[table]
        reader = TopicReader(self.topics, spec.topic)
        self._delivery.begin_query()
        with closing(Bringing(self._owners.owners if self._owners else None)) as bringing:
            chunks = [
                encode(self._key(table), spec, records(span, partition), deal=bringing.deal)
                for partition, end in reader.ends().items()
                for span in reader.spans(
                    partition, self._delivery.reached().get((table, partition), 0), end
                )
            ]
            bringing.flush()
        with suppress(Stalled):
            if chunks:
                self._delivery.deliver(pa.Table.from_batches(chunks, SCHEMA))

    @property
    def stalled(self) -> dict[str, str]:
        return {name: str(stall.error) for name, stall in self._delivery.stalls.items()}

    def skip(self, place: Place) -> None:
        if place not in [stall.place for stall in self._delivery.stalls.values()]:
            raise NotStalled("elsewhere")
        self._delivery.skip(place)
        self.retry(place[0])

    def correct(self, places: Sequence[Place], overwrite: bool = False) -> Outcome:
        past = Past(self.topics, {})
        overtaking = None if overwrite else self._delivery.overtaking(places, past)
        return self._delivery.correct(places, overtaking)

    def tick(self) -> None:
        self._delivery.tick()

    def retry(self, name: str) -> None:
        if name in self._delivery.stalls:
            self._delivery.end_stalls([name])
            self.read(name)

    def status(self) -> PipelineStatus:
        return PipelineStatus(self.state, None, self._delivery.time, 0, 0.0, {})

    def halt(self) -> None:
        """There is no query that would go on."""

    def stop(self) -> None:
        self._delivery.close()

    def _key(self, name: str) -> str:
        return f"{name}@{self._journal.epoch(name)}"
