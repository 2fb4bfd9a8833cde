"""The pipeline: from file topics and Kafka through Spark to a receiver, time after time.

Each micro-batch becomes one logical time, journaled before the receiver sees it. Spark may
deliver records twice and may forget everything; what was applied, and when, is decided by the
journal alone.
"""

import threading
import time as clock
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import pyarrow as pa
from pyspark.sql import SparkSession

from connectors.connections import Connection
from connectors.declaration import OnError
from connectors.errors import (
    DuplicateTable,
    InvalidTable,
    JarsMissing,
    NotStalled,
    PipelineFailed,
    RegistryUnavailable,
    ReplayUnderWay,
    Stalled,
    Unavailable,
    UnknownConnection,
    UnknownTable,
)
from connectors.formats.schema_registry import Registry, config_of, registry
from connectors.health import PartFault
from connectors.ingest.delivery import Delivery
from connectors.ingest.lag import Behind, Lag
from connectors.kafka.clusters import Clusters
from connectors.kafka.confirmation import Confirmation
from connectors.kafka.gaps import data_ends
from connectors.kafka.monitor import Monitor
from connectors.kafka.rereading import Rereader
from connectors.offsets import Ends, Gap
from connectors.progress.batches import Receiver, TimedBatch
from connectors.progress.journal import Beginning, Journal
from connectors.progress.resolution import are_markers, with_markers
from connectors.quarantine.replay import Outcome
from connectors.quarantine.reread import Past
from connectors.quarantine.store import Place, Quarantine
from connectors.spark.control import Control, Cut, Position
from connectors.spark.keeper import Keeper
from connectors.spark.query import MicroBatches, Query
from connectors.spark.realtime import RealTime
from connectors.spark.session import create_session, stop_session
from connectors.tables.spec import TableSpec

State = Literal["stopped", "starting", "replaying", "running", "stalled", "failed"]
Trigger = Literal["micro-batch", "real-time"]


@dataclass(frozen=True, slots=True)
class PipelineSettings:
    """Settings of a pipeline: its topics, its directories, and the limits of Spark.

    `topics` is the root of the file topics; `work` a directory for disposable files.
    `batch_records` bounds the records of one micro-batch, from the file topics and from each of
    `connections`. `jars` is where those of Spark's Kafka source are. `trigger` chooses between
    micro-batches and records as they come.
    """

    topics: Path
    work: Path
    master: str = "local[2]"
    driver_memory: str = "2g"
    batch_records: int = 400_000
    connections: Mapping[str, Connection] = field(default_factory=dict)
    jars: Path | None = None
    trigger: Trigger = "micro-batch"


@dataclass(frozen=True, slots=True)
class PipelineStatus:
    """The pipeline as `/readyz` and `/metrics` see it.

    `time` is the last one received (0: none); `records` counts records since the start, replayed
    ones included; `lag` is the number of records not yet received, by source, topic and partition;
    `error` says why the state is `stalled` or `failed`, naming topic, partition, offset and reason
    for a stall.
    `faults` keep parts from their work while the state is what it is. `delivering` is how many
    seconds were spent on delivering batches, what the receiver did included.
    """

    state: State
    error: str | None
    time: int
    records: int
    records_per_second: float
    lag: Behind
    faults: tuple[PartFault, ...] = ()
    delivering: float = 0.0


class Pipeline:
    """Runs one streaming query over the topics of all tables; safe to call from several threads.

    `receive` runs on a thread of the pipeline. `status` never waits for it; `add_table`,
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
        self._starting: Future[SparkSession] | None = None
        self._control = settings.work / "control.json"
        rereaders = {name: Rereader(c).open for name, c in settings.connections.items()}
        self._past = Past(settings.topics, rereaders)
        self._delivery: Delivery | None = None
        self._clusters = Clusters(settings.connections)
        self._keeper = Keeper(self._open_query, self._fail)
        self._monitor = Monitor(
            self._clusters,
            journal,
            lambda: list(self._kafka().values()),
            lambda: self._started.reached(),
            self._keeper.restart,
            self._note_partitions,
        )
        self._lag = Lag(settings.topics)
        self._changed = threading.Condition()
        self._tables: dict[str, TableSpec] = {}
        self._altered: dict[str, str] = {}  # keys of tables that got columns, by name
        self._state: State = "stopped"
        self._error: str | None = None
        self._stalled_at: Place | None = None
        self._confirmation = Confirmation(self._check)
        self._fixed: frozenset[tuple[str, int]] = frozenset()
        self._delivering = 0.0

    def prepare(self) -> None:
        """Start Spark on a thread of its own, so that `start` has less to wait for."""
        if self._spark is None:
            settings = self._settings
            scratch = settings.work / "spark"
            starter = ThreadPoolExecutor(1, "spark-starter")
            self._starting = starter.submit(
                create_session, settings.master, settings.driver_memory, scratch, settings.jars
            )
            starter.shutdown(wait=False)

    def start(self, tables: Sequence[TableSpec]) -> None:
        """Start reading `tables`; journaled times are replayed first, in order.

        Tables that the journal knows and `tables` lacks, or has on another topic, are dropped from
        it. Returns when Spark runs (some seconds for the JVM). Raises JavaMissing, JarsMissing, and
        InvalidTable for one of files in real-time mode.
        """
        assert self._delivery is None, "a pipeline starts once"
        tables = with_markers(tables)
        topics = {spec.name: spec.topic for spec in tables}
        for name, topic in self._journal.tables.items():
            if topics.get(name) != topic:
                self._journal.drop_table(name)
        self._set("starting")
        self._delivery = Delivery(self._journal, self._quarantine, self._receiver, self._schemas)
        for spec in tables:
            self._check_trigger(spec)
            self._tables[self._key(spec.name)] = spec
            self._delivery.add_table(self._key(spec.name), spec)
        if self._kafka():
            self._check_jars()
        if self._starting is None:
            self.prepare()
        if self._starting is not None:
            self._spark = self._starting.result()
        self._monitor.start()
        self._run()

    def resume(self) -> None:
        """Go on after a stall; the record that caused it comes again, under the tables of now."""
        assert self._state == "stalled", self._state
        self._keeper.join()
        self._run()

    def wait_replayed(self, timeout: float | None = None) -> bool:
        """Wait until every time journaled before `start` has been received; False on timeout.

        A stall amid the replay may be mended, so it is waited out too. Raises PipelineFailed when
        the pipeline fails or is stopped meanwhile.
        """
        with self._changed:
            self._changed.wait_for(
                lambda: self._has_ended() or self._is_replayed(), timeout=timeout
            )
            if self._has_ended():
                raise PipelineFailed(self._error or "the pipeline is stopped")
            return self._is_replayed()

    def _has_ended(self) -> bool:
        return self._state in ("failed", "stopped")

    def _is_replayed(self) -> bool:
        return self._state in ("running", "stalled") and not self._started.pending

    def preflight(self, spec: TableSpec) -> Beginning | None:
        """The beginning of a new Kafka table's reading; None for a table of files.

        Raises UnknownConnection, InvalidTable, JarsMissing, and a BrokerFault if its topic cannot
        be read.
        """
        if not spec.is_remote:
            self._check_trigger(spec)
            return None
        self._check_jars()
        return self._clusters.preflight(spec)

    def held(self, spec: TableSpec, beginning: Beginning | None) -> Ends:
        """The end of each partition of a new table's topic, as it is now (raises BrokerFault)."""
        if beginning is not None:
            return self._clusters.held(spec, beginning)
        with self._changed:
            return self._lag.ends(spec.topic)

    def add_table(self, spec: TableSpec, beginning: Beginning | None = None) -> None:
        """Read one more table, within about a second; one of Kafka's from `beginning` on.

        Raises DuplicateTable.
        """
        with self._changed:
            if any(known.name == spec.name for known in self._tables.values()):
                raise DuplicateTable(f"table {spec.name!r} is read already")
            read_files = self._reads_files()
            if beginning is not None:
                self._begin(spec, beginning)
            known = {one.name for one in self._tables.values()}
            for one in with_markers([spec]):
                if one.name not in known:
                    self._tables[self._key(one.name)] = one
                    self._started.add_table(self._key(one.name), one)
            self._save()
            is_stale = spec.is_remote or read_files != self._reads_files()
        self._go_on(is_stale)

    def alter_table(self, name: str, apply: Callable[[TimedBatch], TableSpec | None]) -> bool:
        """Read a table as `apply` declares it, from a new time on; False if it does not.

        See `Delivery.alter_table`. Records that are on their way come again. Raises ReplayUnderWay
        unless the pipeline runs or has stalled; and PipelineFailed, having failed, when `apply`
        raises.
        """
        if self._state not in ("running", "stalled"):
            raise ReplayUnderWay(f"the pipeline is {self._state}; columns are added while it runs")
        old = self._key(name)
        new = f"{old}+"
        try:
            spec = self._started.alter_table(old, new, apply)
        except ReplayUnderWay:
            raise
        except Exception as error:
            self._set("failed", f"{type(error).__name__}: {error}")
            self._started.close()
            raise PipelineFailed(str(error)) from error
        if spec is None:
            return False
        with self._changed:
            del self._tables[old]
            self._tables[new] = spec
            self._altered[name] = new
            self._save()
        self._go_on(is_stale=True)
        return True

    def remove_table(self, name: str) -> None:
        """Stop reading a table and forget its positions (raises UnknownTable).

        Waits for the batch under way: no later one holds the table. A pipeline that the table has
        stalled goes on. Where the journal cannot be written (OSError), nothing is changed.
        """
        with self._started.between_batches(), self._changed:
            removed = self._tables.get(self._key(name))
            if removed is None:
                raise UnknownTable(f"table {name!r} is not read")
            rest = [s for s in self._tables.values() if s.name != name and not are_markers(s)]
            kept = {spec.name for spec in with_markers(rest)}
            for key, spec in list(self._tables.items()):
                if spec.name not in kept:
                    self._started.remove_table(key)
                    del self._tables[key]
            self._save()
        self._go_on(removed.is_remote)

    def _go_on(self, is_stale: bool) -> None:
        """Let a query read the tables of now, if there is none or it does not."""
        if self._state == "stalled":
            self.resume()
        elif is_stale or self._state == "replaying":  # times that are empty now wait for no batch
            self._keeper.restart()

    def tick(self) -> None:
        """Hand the present moment over as a time of its own, while the pipeline runs.

        Raises what the receiver raises; the pipeline has failed then.
        """
        if self._state != "running":
            return
        try:
            self._started.tick()
        except Exception as error:
            self._set("failed", f"{type(error).__name__}: {error}")
            self._started.close()
            raise

    def skip(self, place: Place) -> None:
        """Put the record before which the pipeline has stalled into the quarantine, and go on.

        Raises NotStalled for any other record.
        """
        with self._changed:
            if self._state != "stalled" or place != self._stalled_at:
                at = f"; it waits before {self._stalled_at}" if self._state == "stalled" else ""
                raise NotStalled(f"the pipeline does not wait before {place}{at}")
        self._started.skip(place)
        self.resume()

    def correct(self, places: Sequence[Place], overwrite: bool = False) -> Outcome:
        """Apply the open ones of these quarantined records as corrections, at one new time.

        In keyed tables those that later records have overtaken are refused, unless `overwrite`.
        Raises UnknownRecord; ReplayUnderWay unless the pipeline runs or has stalled; and
        PipelineFailed, having failed, when the receiver raises.
        """
        if self._state not in ("running", "stalled"):
            raise ReplayUnderWay(f"the pipeline is {self._state}; corrections need it to run")
        try:
            overtaking = None if overwrite else self._started.overtaking(places, self._past)
            return self._started.correct(places, overtaking)
        except PipelineFailed as error:
            self._set("failed", str(error))
            self._started.close()
            raise

    def set_on_error(self, name: str, on_error: OnError) -> None:
        """Change the effect of a table's bad records from now on (raises UnknownTable)."""
        with self._changed:
            key = self._key(name)
            if key not in self._tables:
                raise UnknownTable(f"table {name!r} is not read")
            self._tables[key] = replace(self._tables[key], on_error=on_error)
            self._started.add_table(key, self._tables[key])

    @property
    def gaps(self) -> Mapping[tuple[str, int], Gap]:
        """Offsets at the ends of topics, by (topic, partition), that have no record to be read.

        They are of transactions' markers and aborted records.
        """
        return self._monitor.gaps

    def status(self) -> PipelineStatus:
        """The present state; cheap enough for every scrape."""
        delivery = self._delivery
        with self._changed:
            reached = delivery.reached() if delivery is not None else {}
            ends = data_ends(self._monitor.ends, self._monitor.gaps)
            lag = self._lag.of(self._tables.values(), reached, ends)
            state, error, faults = self._state, self._error, self._faults()
        if delivery is None:
            return PipelineStatus(state, error, 0, 0, 0.0, lag, faults)
        time, records, rate = delivery.time, delivery.records, delivery.rate()
        spent = self._delivering
        return PipelineStatus(state, error, time, records, rate, lag, faults, spent)

    def _faults(self) -> tuple[PartFault, ...]:
        """The faults outside that the pipeline waits for."""
        fault = self._keeper.fault or self._monitor.fault
        if fault is None or self._state not in ("replaying", "running"):
            return ()
        return (fault,)

    def stop(self) -> None:
        """Stop the query after the batch under way, and Spark if the pipeline started it."""
        if self._delivery is not None:
            self._delivery.close()
        self._set("stopped")
        self._monitor.stop()
        self._keeper.stop()
        self._confirmation.close()
        if self._starting is not None and self._starting.exception() is None:
            stop_session(self._starting.result())

    @property
    def _started(self) -> Delivery:
        assert self._delivery is not None, "the pipeline is started"
        return self._delivery

    def _key(self, name: str) -> str:
        key = f"{name}@{self._journal.epoch(name)}"
        altered = self._altered.get(name, key)
        return altered if altered.rstrip("+") == key else key

    def _schemas(self, spec: TableSpec) -> Registry | None:
        """The registry beside the cluster of a table, if there is one."""
        connection = self._settings.connections.get(spec.connection or "")
        config = config_of(connection) if connection is not None else None
        return registry(config) if config is not None else None

    def _kafka(self) -> dict[str, TableSpec]:
        """The tables that are read from Kafka, by their keys."""
        return {k: spec for k, spec in self._tables.items() if spec.is_remote}

    def _reads_files(self) -> bool:
        """Whether a query reads file topics; one without any table does, and waits."""
        return not self._tables or len(self._kafka()) < len(self._tables)

    def _check_trigger(self, spec: TableSpec) -> None:
        if self._settings.trigger == "real-time" and not spec.is_remote:
            raise InvalidTable(
                f"table {spec.name!r}: connector: real-time mode reads Kafka alone; set "
                "the setting trigger to micro-batch to read file topics"
            )

    def _check_jars(self) -> None:
        jars = self._settings.jars
        if jars is None or not any(jars.glob("*.jar")):
            raise JarsMissing(
                f"spark_jars: there are no jars of Spark's Kafka source in {jars}; `make jars` "
                "fetches them, then start again"
            )

    def _begin(self, spec: TableSpec, beginning: Beginning) -> None:
        """Tie a new table to its beginning, durably."""
        self._journal.start_table(spec.name, beginning)
        self._started.begin(spec.name, beginning.offsets)

    def _run(self) -> None:
        """Let queries go on where the delivery is."""
        try:
            with suppress(RegistryUnavailable):  # the keeper asks again, and tells
                self._started.open()
        except Stalled as error:
            self._fail(error)
            return
        self._set("replaying" if self._started.pending else "running")
        self._keeper.start()

    def _open_query(self) -> Query:
        """Start a query over the tables of now (raises Unavailable, and kinds of Stalled)."""
        assert self._spark is not None
        if self._started.pending:
            self._started.open()
            self._note_replayed()
        kafka, reads_files = self._kafka(), self._reads_files()
        for spec in kafka.values():  # a crash may have come between declaring and beginning
            if spec.name not in self._journal.beginnings:
                self._begin(spec, self._clusters.preflight(spec))
        positions = self._started.positions()
        feeds = self._clusters.feeds(kafka, self._journal.beginnings, positions)
        with self._changed:
            self._save()
        settings = self._settings
        if settings.trigger == "real-time" and feeds:
            self._fixed = frozenset((t, p) for f in feeds for t in f.starts for p in f.starts[t])
            return RealTime(self._spark, settings.work, self._deliver, self._keeper.hear, feeds)
        limit = settings.batch_records
        return MicroBatches(self._spark, self._control, limit, self._deliver, feeds, reads_files)

    def _save(self) -> None:
        """Save the tables and positions of file topics, for the planner and for later queries."""
        delivery, kafka = self._started, self._kafka()
        tables = {key: spec for key, spec in self._tables.items() if key not in kafka}
        cuts = []
        for entry in delivery.pending:
            ranges = [r for r in entry.ranges if self._key(r.table) in tables]
            if ranges:
                ends = tuple((self._key(r.table), r.partition, r.end) for r in ranges)
                cuts.append(Cut(entry.time, sum(r.end - r.first for r in ranges), ends))
        reached: dict[str, dict[int, int]] = {}
        for (table, partition), end in delivery.reached().items():
            if self._key(table) in tables:
                reached.setdefault(self._key(table), {})[partition] = end
        start = Position(0, reached)
        Control(self._settings.topics, tables, start, tuple(cuts)).save(self._control)

    def _deliver(self, batch: pa.Table) -> None:
        """Deliver, on the thread of the handover, and remember an error."""
        started = clock.monotonic()
        try:
            # A topic that is the one it was after its records were read, was so before.
            if self._kafka():
                self._confirmation.confirm()
            self._started.deliver(batch)
        except Unavailable as error:
            self._keeper.wait_outside(error)
            raise
        except Exception as error:
            self._keeper.end()
            self._fail(error)
            raise
        self._delivering += clock.monotonic() - started
        self._keeper.progressed()
        self._note_replayed()

    def _note_replayed(self) -> None:
        if self._state == "replaying" and not self._started.pending:
            self._set("running")

    def _note_partitions(self, ends: Mapping[tuple[str, int], int]) -> None:
        """Let another query follow one in real-time mode, which reads the partitions it knew."""
        if self._fixed and not ends.keys() <= self._fixed:
            self._keeper.restart()

    def _check(self) -> None:
        """Raise TopicRecreated unless the topics are those that the tables began with."""
        self._clusters.check(list(self._kafka().values()), self._journal.beginnings)

    def _fail(self, error: Exception) -> None:
        """Stall or fail because of `error`."""
        if isinstance(error, Stalled):
            self._stalled_at = error.place
            self._set("stalled", str(error))
        elif isinstance(error, UnknownConnection):
            self._stalled_at = None
            self._set("stalled", f"{error}; or delete the source")
        elif isinstance(error, PipelineFailed):
            self._set("failed", str(error))
        else:
            self._set("failed", f"{type(error).__name__}: {error}")

    def _set(self, state: State, error: str | None = None) -> None:
        with self._changed:
            self._state, self._error = state, error
            self._changed.notify_all()
