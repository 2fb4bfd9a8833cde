"""The pipeline: from file topics through Spark to a receiver, one logical time after another.

Each micro-batch becomes one logical time, journaled before the receiver sees it. Spark may
deliver records twice and may forget everything; what was applied, and when, is decided by the
journal alone.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import pyarrow as pa
from pyspark.sql import SparkSession

from connectors.batches import Receiver
from connectors.delivery import Delivery
from connectors.errors import DuplicateTable, PipelineFailed, Stalled, TopicTruncated, UnknownTable
from connectors.files.reader import TopicReader
from connectors.progress.journal import Journal
from connectors.quarantine import Quarantine
from connectors.spark.control import Control, Cut, Position
from connectors.spark.query import Failure, Query
from connectors.spark.session import create_session, stop_session
from connectors.tables import OnError, TableSpec

# How often in a row, without a batch in between, a query that Spark lost is started again.
_MAX_RESTARTS = 3

State = Literal["stopped", "starting", "replaying", "running", "stalled", "failed"]


@dataclass(frozen=True, slots=True)
class PipelineSettings:
    """Where the topics are and how Spark runs.

    `topics` is the root of the file topics; `work` a directory for disposable files.
    `batch_records` bounds the records of one micro-batch.
    """

    topics: Path
    work: Path
    master: str = "local[2]"
    driver_memory: str = "2g"
    batch_records: int = 400_000


@dataclass(frozen=True, slots=True)
class PipelineStatus:
    """The pipeline as `/readyz` and `/metrics` see it.

    `time` is the last one received (0: none); `records` counts records since the start, replayed
    ones included; `lag` is the number of records per topic not yet received; `error` says why
    the state is `stalled` or `failed`, naming topic, partition, offset and reason for a stall.
    """

    state: State
    error: str | None
    time: int
    records: int
    records_per_second: float
    lag: Mapping[str, int]


class Pipeline:
    """Runs one streaming query over the topics of all tables; safe to call from several threads.

    `receive` runs on a thread of the pipeline. `add_table` and `status` never wait for it;
    `remove_table`, `tick` and `stop` do, so do not call these while holding a lock that `receive`
    takes.
    """

    def __init__(
        self,
        settings: PipelineSettings,
        journal: Journal,
        quarantine: Quarantine,
        receiver: Receiver,
        spark: SparkSession | None = None,
    ) -> None:
        """`spark`: a session to use; without one, `start` makes one and `stop` ends it."""
        self._settings = settings
        self._journal = journal
        self._quarantine = quarantine
        self._receiver = receiver
        self._spark = spark
        self._owns_spark = spark is None
        self._control = settings.work / "control.json"
        self._delivery: Delivery | None = None
        self._query: Query | None = None
        self._watcher: threading.Thread | None = None
        self._changed = threading.Condition()
        self._tables: dict[str, TableSpec] = {}
        self._readers: dict[str, TopicReader] = {}
        self._restarts = 0
        self._state: State = "stopped"
        self._error: str | None = None

    def start(self, tables: Sequence[TableSpec]) -> None:
        """Start reading `tables`; journaled times are replayed first, in order.

        Tables that the journal knows and `tables` lacks, or has on another topic, are dropped from
        it. Returns when the query runs (some seconds for the JVM). Raises JavaMissing.
        """
        assert self._delivery is None, "a pipeline starts once"
        topics = {spec.name: spec.topic for spec in tables}
        for name, topic in self._journal.tables.items():
            if topics.get(name) != topic:
                self._journal.drop_table(name)
        self._set("starting")
        self._delivery = Delivery(self._journal, self._quarantine, self._receiver)
        for spec in tables:
            self._tables[self._key(spec.name)] = spec
            self._delivery.add_table(self._key(spec.name), spec)
        if self._spark is None:
            settings = self._settings
            scratch = settings.work / "spark"
            self._spark = create_session(settings.master, settings.driver_memory, scratch)
        self._run()

    def resume(self) -> None:
        """Go on after a stall; the record that caused it comes again, under the tables of now."""
        assert self._state == "stalled", self._state
        if self._watcher is not None:
            self._watcher.join()
        self._run()

    def wait_replayed(self, timeout: float | None = None) -> bool:
        """Wait until every time journaled before `start` has been received; False on timeout.

        Raises PipelineFailed when the pipeline stalls, fails or is stopped meanwhile.
        """
        with self._changed:
            self._changed.wait_for(
                lambda: self._state not in ("starting", "replaying"), timeout=timeout
            )
            if self._state in ("stalled", "failed", "stopped"):
                raise PipelineFailed(self._error or "the pipeline is stopped")
            return self._state == "running"

    def add_table(self, spec: TableSpec) -> None:
        """Read one more table from its topic's beginning, within about a second.

        Raises DuplicateTable.
        """
        with self._changed:
            if any(known.name == spec.name for known in self._tables.values()):
                raise DuplicateTable(f"table {spec.name!r} is read already")
            self._tables[self._key(spec.name)] = spec
            self._started.add_table(self._key(spec.name), spec)
            self._save()

    def remove_table(self, name: str) -> None:
        """Stop reading a table and forget its positions (raises UnknownTable).

        Waits for the batch under way: no later one holds the table.
        """
        with self._started.between_batches(), self._changed:
            key = self._key(name)
            if self._tables.pop(key, None) is None:
                raise UnknownTable(f"table {name!r} is not read")
            self._started.remove_table(key)
            self._save()

    def tick(self) -> None:
        """Hand the present moment over as a time of its own, while the pipeline runs.

        Raises what the receiver raises; the pipeline has failed then.
        """
        if self.status().state != "running":
            return
        try:
            self._started.tick()
        except Exception as error:
            self._set("failed", f"{type(error).__name__}: {error}")
            self._started.close()
            raise

    def set_on_error(self, name: str, on_error: OnError) -> None:
        """Change what a bad record of a table does from now on (raises UnknownTable)."""
        with self._changed:
            key = self._key(name)
            if key not in self._tables:
                raise UnknownTable(f"table {name!r} is not read")
            self._tables[key] = replace(self._tables[key], on_error=on_error)
            self._started.add_table(key, self._tables[key])

    def status(self) -> PipelineStatus:
        """The present state; cheap enough for every scrape."""
        delivery = self._delivery
        with self._changed:
            lag = self._lag()
            if delivery is None:
                return PipelineStatus(self._state, self._error, 0, 0, 0.0, lag)
            return PipelineStatus(
                self._state, self._error, delivery.time, delivery.records, delivery.rate(), lag
            )

    def stop(self) -> None:
        """Stop the query after the batch under way, and Spark if the pipeline started it."""
        if self._delivery is not None:
            self._delivery.close()
        self._set("stopped")
        if self._query is not None and self._watcher is not None:
            self._query.stop()
            self._watcher.join()
        if self._spark is not None and self._owns_spark:
            stop_session(self._spark)

    @property
    def _started(self) -> Delivery:
        assert self._delivery is not None, "the pipeline is started"
        return self._delivery

    def _key(self, name: str) -> str:
        return f"{name}@{self._journal.epoch(name)}"

    def _run(self) -> None:
        """Start a query where the delivery is."""
        assert self._spark is not None
        with self._changed:
            self._save()
        self._started.open()
        self._set("replaying" if self._started.pending else "running")
        self._query = self._new_query(self._spark)
        self._watcher = threading.Thread(
            target=self._watch, args=(self._spark,), name="pipeline-watcher", daemon=True
        )
        self._watcher.start()

    def _new_query(self, spark: SparkSession) -> Query:
        return Query(spark, self._control, self._settings.batch_records, self._deliver)

    def _save(self) -> None:
        """Tell the planner what to read, and a query to come where to begin."""
        delivery = self._started
        cuts = [
            Cut(
                entry.time,
                sum(r.end - r.first for r in entry.ranges),
                tuple((self._key(r.table), r.partition, r.end) for r in entry.ranges),
            )
            for entry in delivery.pending
        ]
        ends: dict[str, dict[int, int]] = {}
        for (table, partition), end in delivery.reached().items():
            ends.setdefault(self._key(table), {})[partition] = end
        start = Position(0, ends)
        Control(self._settings.topics, self._tables, start, tuple(cuts)).save(self._control)

    def _deliver(self, batch: pa.Table) -> None:
        """On the thread of the handover: deliver, and remember what went wrong."""
        try:
            self._started.deliver(batch)
            self._restarts = 0
        except Stalled as error:
            self._set("stalled", str(error))
            raise
        except Exception as error:
            self._set("failed", f"{type(error).__name__}: {error}")
            raise
        if self._state == "replaying" and not self._started.pending:
            self._set("running")

    def _watch(self, spark: SparkSession) -> None:
        """Until the query ends as it should, or for good; if Spark failed, start another."""
        while self._query is not None:
            failure = self._query.wait() or Failure("the streaming query was stopped", True)
            with self._changed:
                if self._state not in ("replaying", "running"):
                    return
                if failure.is_final or self._restarts == _MAX_RESTARTS:
                    self._set("failed", failure.message)
                    return
                self._restarts += 1
                self._save()
                self._query = self._new_query(spark)

    def _set(self, state: State, error: str | None = None) -> None:
        with self._changed:
            self._state, self._error = state, error
            self._changed.notify_all()

    def _lag(self) -> dict[str, int]:
        """How many records of each topic the table that is most behind has yet to receive."""
        reached = self._delivery.reached() if self._delivery is not None else {}
        lag: dict[str, int] = {}
        for spec in self._tables.values():
            reader = self._readers.get(spec.topic)
            if reader is None:
                reader = self._readers[spec.topic] = TopicReader(self._settings.topics, spec.topic)
            try:
                ends = reader.ends()
            except TopicTruncated:
                del self._readers[spec.topic]
                continue
            behind = sum(
                end - reached.get((spec.name, partition), reader.first(partition))
                for partition, end in ends.items()
            )
            lag[spec.topic] = max(behind, lag.get(spec.topic, 0))
        return lag
