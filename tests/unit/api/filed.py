"""A pipeline over real file topics and the real delivery, that moves when it is told."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from api.runtime import Runtime
from api.settings import Settings
from connectors.declaration import OnError
from connectors.errors import Stalled
from connectors.files.reader import TopicReader, records
from connectors.files.writer import TopicWriter
from connectors.ingest.delivery import Delivery
from connectors.ingest.lag import Lag
from connectors.ingest.settings import PipelineSettings
from connectors.ingest.status import PipelineStatus, State
from connectors.offsets import Gap
from connectors.progress.batches import Receiver, RowOwners, TimedBatch
from connectors.progress.journal import Beginning, Journal
from connectors.quarantine.replay import Outcome
from connectors.quarantine.reread import Past
from connectors.quarantine.store import Place, Quarantine, Quarantined
from connectors.spark.bringing import Bringing
from connectors.spark.chunks import SCHEMA, Deal, encode
from connectors.tables.spec import TableSpec
from tests.unit.connectors.records import record

Ends = dict[tuple[str, int], int]
_NONE: Mapping[str, Beginning] = {}


class FilePipeline:
    """Reads what `step` asks for; what the journal holds beyond its start is replayed at once."""

    def __init__(
        self,
        settings: PipelineSettings,
        journal: Journal,
        quarantine: Quarantine,
        receiver: Receiver,
        expect_room: Callable[[], None] = lambda: None,
        owners: RowOwners | None = None,
    ) -> None:
        self._owners = owners
        self.state: State = "stopped"
        self.replayed = 0
        self._altered: dict[str, str] = {}
        self.gaps: dict[tuple[str, int], Gap] = {}
        self._topics = settings.topics
        self._journal = journal
        self._tables: dict[str, TableSpec] = {}
        self._quarantine = quarantine
        self._receiver = receiver
        self._delivery: Delivery | None = None

    @property
    def delivery(self) -> Delivery:
        assert self._delivery is not None
        return self._delivery

    def prepare(self) -> None:
        """There is nothing to make ready."""

    def session(self) -> None:
        """There is no Spark."""

    def start(self, tables: Sequence[TableSpec]) -> None:
        topics = {spec.name: spec.topic for spec in tables}
        for name, topic in self._journal.tables.items():
            if topics.get(name) != topic:
                self._journal.drop_table(name)
        self._delivery = Delivery(
            self._journal, self._quarantine, self._receiver, owners=self._owners
        )
        for spec in tables:
            self.add_table(spec)
        self.delivery.open()
        while self.delivery.pending:
            ends = {(r.table, r.partition): r.end for r in self.delivery.pending[0].ranges}
            self._deliver(ends)
            self.replayed += 1
        self.state = "running"

    def wait_replayed(self, timeout: float | None = None) -> bool:
        return True

    def preflight(self, spec: TableSpec) -> dict[str, Beginning]:
        """A topic of files begins where it begins."""
        return {}

    def held(
        self, spec: TableSpec, beginnings: dict[str, Beginning]
    ) -> dict[str, Mapping[int, int]]:
        return {spec.name: Lag(self._topics).ends(spec.topic)}

    def add_table(self, spec: TableSpec, beginnings: Mapping[str, Beginning] = _NONE) -> None:
        self._tables[spec.name] = spec
        self.delivery.add_table(self._key(spec.name), spec)

    def alter_table(self, name: str, apply: Callable[[TimedBatch], TableSpec | None]) -> bool:
        key = f"{self._key(name)}+"

        def altered(batch: TimedBatch) -> dict[str, TableSpec] | None:
            if (spec := apply(batch)) is None:
                return None
            self._tables[name] = spec
            return {key: spec}

        if not self.delivery.alter_table(name, altered):
            return False
        self._altered[name] = key
        return True

    def at_new_time(self, apply: Callable[[TimedBatch], object]) -> None:
        with self.delivery.at_new_time(apply):
            pass

    def remove_table(self, name: str) -> None:
        with self.delivery.between_batches():
            del self._tables[name]
            self.delivery.remove_table(name)

    def set_on_error(self, name: str, on_error: OnError) -> None:
        self.add_table(replace(self._tables[name], on_error=on_error))

    @property
    def stalled(self) -> dict[str, str]:
        stalls = self._delivery.stalls if self._delivery is not None else {}
        return {name: str(stall.error) for name, stall in stalls.items()}

    def retry(self, name: str) -> None:
        self.delivery.end_stalls([name])
        self.step()

    def skip(self, place: Place) -> None:
        self.delivery.skip(place)
        self.retry(place[0])

    def status(self) -> PipelineStatus:
        lag = Lag(self._topics).of(self._tables.values(), self._reached(), {})
        time = self._delivery.time if self._delivery is not None else 0
        return PipelineStatus(self.state, None, time, 0, 0.0, lag)

    def _reached(self) -> Ends:
        return self._delivery.reached() if self._delivery is not None else {}

    def correct(self, places: Sequence[Place], overwrite: bool = False) -> Outcome:
        past = Past(self._topics, {})
        overtaking = None if overwrite else self.delivery.overtaking(places, past)
        return self.delivery.correct(places, overtaking)

    def decoded(self, one: Quarantined) -> pa.Table:
        return self.delivery.decoded(one)

    def tick(self) -> None:
        self.delivery.tick()

    def step(self, limit: int = 1_000) -> None:
        """One batch of at most `limit` records of every table; none if there are none."""
        ends = {}
        for spec in self._tables.values():
            position = self.delivery.reached().get((spec.name, 0), 0)
            end = TopicReader(self._topics, spec.topic).ends().get(0, 0)
            if end > position:
                ends[spec.name, 0] = min(end, position + limit)
        if ends:
            self._deliver(ends)

    def halt(self) -> None:
        """There is no query that would go on."""

    def stop(self) -> None:
        self.state = "stopped"

    def _key(self, name: str) -> str:
        return self._altered.get(name, f"{name}@{self._journal.epoch(name)}")

    def _deliver(self, ends: Ends) -> None:
        self.delivery.begin_query()
        with closing(Bringing(self._owners.owners if self._owners else None)) as bringing:
            chunks = self._encoded(ends, bringing.deal)
            bringing.flush()
        with suppress(Stalled):
            self.delivery.deliver(pa.Table.from_batches(chunks, SCHEMA))

    def _encoded(self, ends: Ends, deal: Deal) -> list[pa.RecordBatch]:
        chunks = []
        for (name, partition), end in ends.items():
            spec = self._tables[name]
            reader = TopicReader(self._topics, spec.topic)
            reader.ends()
            position = self.delivery.reached().get((name, partition), 0)
            chunks += [
                encode(self._key(name), spec, records(span, partition), deal=deal)
                for span in reader.spans(partition, position, end)
            ]
        return chunks


# The runtimes of a test, also those that it left dead; `close_all` closes them after it.
_MADE: list[Runtime] = []


def make_runtime(data: Path, **settings: Any) -> Runtime:
    """A runtime on `data`, which takes a checkpoint only when it is told."""
    given = {"workers": 1, "checkpoint_seconds": 1e6, "on_error": "quarantine", **settings}
    runtime = Runtime(Settings(data=data, **given), cast(Any, FilePipeline))
    _MADE.append(runtime)
    return runtime


def close_all() -> None:
    """Close the files of the runtimes of a test, as far as they are open."""
    while _MADE:
        with suppress(Exception):  # of one that has died, or was stopped
            _MADE.pop().stop()


def runtime_on(data: Path, **settings: Any) -> Runtime:
    """The same, started."""
    runtime = make_runtime(data, **settings)
    runtime.start()
    return runtime


def pipeline_of(runtime: Runtime) -> FilePipeline:
    return cast(FilePipeline, cast(Any, runtime.pipeline))


def take_checkpoint(runtime: Runtime) -> bool:
    return runtime.checkpoints.take()


def write_rows(data: Path, topic: str, *changes: tuple[dict[str, Any], int]) -> None:
    """Append a record for every `(row, diff)`, the diff being 1 or -1."""
    writer = TopicWriter(data / "topics", topic)
    writer.append(
        [record("c", after=row) if diff > 0 else record("d", before=row) for row, diff in changes]
    )
    writer.close()
