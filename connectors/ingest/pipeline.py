"""The pipeline: from file topics and Kafka through Spark to a receiver, time after time.

Each micro-batch becomes one logical time, journaled before the receiver sees it. Spark may
deliver records twice and may forget everything; what was applied, and when, is decided by the
journal alone.
"""

import threading
import time as clock
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TypeVar

import pyarrow as pa
from pyspark.sql import SparkSession

from connectors.declaration import OnError
from connectors.errors import (
    BrokerFault,
    DuplicateTable,
    NotStalled,
    PipelineFailed,
    RegistryUnavailable,
    ReplayUnderWay,
    Stalled,
    Unavailable,
    UnknownConnection,
)
from connectors.health import PartFault, part_fault
from connectors.ingest.delivery import Delivery
from connectors.ingest.discovery import later_topics
from connectors.ingest.early_replay import EarlyReplay, is_little
from connectors.ingest.keyed_tables import KeyedTables
from connectors.ingest.lag import Lag
from connectors.ingest.opening import Opening
from connectors.ingest.settings import PipelineSettings
from connectors.ingest.stalls import is_over
from connectors.ingest.status import PipelineStatus, State
from connectors.kafka.clusters import Clusters, Faults, is_of_topic, starts_of
from connectors.kafka.confirmation import Confirmation
from connectors.kafka.gaps import data_ends
from connectors.kafka.groups import Groups
from connectors.kafka.monitor import Monitor
from connectors.kafka.rereading import Rereader
from connectors.kafka.topics import PartitionOffsets
from connectors.offsets import Ends, Gap
from connectors.progress.batches import Receiver, RowOwners, TimedBatch
from connectors.progress.journal import Beginning, Journal
from connectors.progress.resolution import with_markers
from connectors.quarantine.replay import Outcome
from connectors.quarantine.reread import Past
from connectors.quarantine.store import Place, Quarantine, Quarantined
from connectors.spark.keeper import Keeper
from connectors.spark.query import Beside, MicroBatches, Query
from connectors.spark.realtime import RealTime
from connectors.spark.session import create_session, stop_session
from connectors.streams import table_of
from connectors.tables.spec import TableSpec

_NONE: Mapping[str, Beginning] = MappingProxyType({})

Answer = TypeVar("Answer")


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
        *,
        expect_room: Callable[[], None] = lambda: None,
        owners: RowOwners | None = None,
    ) -> None:
        """`spark`: a session to use; without one, `start` makes one and `stop` ends it.

        `expect_room` raises Unavailable while the receiver has no room for further records. Tasks
        bring rows to the `owners`, if there are some.
        """
        self._settings = settings
        self._journal = journal
        self._quarantine = quarantine
        self._receiver = receiver
        self._expect_room = expect_room
        self._owners = owners
        self._spark = spark
        self._starting: Future[SparkSession] | None = None
        self._control = settings.work / "control.json"
        rereaders = {name: Rereader(c).open for name, c in settings.connections.items()}
        self._past = Past(settings.topics, rereaders)
        self._delivery: Delivery | None = None
        self._opening: Opening | None = None
        self._clusters = Clusters(settings.connections)
        self._keeper = Keeper(self._open_query, self._set_aside, self._fail)
        self._tables = KeyedTables(journal)
        self._monitor = Monitor(
            self._clusters,
            journal,
            self._discover,
            lambda: list(self._tables.remote().values()),
            lambda: self._started.reached(),
            self._note_topics,
            Groups(settings.connections, settings.service),
        )
        self._lag = Lag(settings.topics)
        self._changed = threading.Condition()
        self._resuming: frozenset[str] = frozenset()  # tables that stand still until the next query
        self._state: State = "stopped"
        self._error: str | None = None
        self._stalled_at: Place | None = None
        self._confirmation = Confirmation(self._check)
        self._fixed: frozenset[tuple[str, int]] = frozenset()
        self._delivering = 0.0
        self._halted = False

    def prepare(self) -> None:
        """Start Spark on a thread of its own, so that `start` has less to wait for."""
        if self._spark is None:
            settings = self._settings
            create = partial(
                create_session,
                settings.master,
                settings.driver_memory,
                settings.work / "spark",
                settings.jars,
                host=settings.host,
                secret=settings.secret.get_secret_value() if settings.secret else None,
            )
            starter = ThreadPoolExecutor(1, "spark-starter")
            self._starting = starter.submit(create)
            starter.shutdown(wait=False)

    def session(self) -> SparkSession:
        """The session, once Spark has started (raises as `create_session`)."""
        if self._spark is None:
            if self._starting is None:
                self.prepare()
            assert self._starting is not None
            self._spark = self._starting.result()
        return self._spark

    def start(self, tables: Sequence[TableSpec]) -> None:
        """Start reading `tables`; journaled times are replayed first, in order.

        Tables that the journal knows and `tables` lacks, or has on another topic, are dropped from
        it. Returns when Spark runs (some seconds for the JVM). Raises JavaMissing, and InvalidTable
        for one of files in real-time mode.
        """
        assert self._delivery is None, "a pipeline starts once"
        topics = {spec.name: spec.topic for spec in with_markers(tables)}
        patterns = {spec.name for spec in tables if spec.topic_pattern is not None}
        known = self._journal.tables.items()
        streams = {name for name, _ in known if name not in patterns and table_of(name) in patterns}
        for name in {table_of(n) for n, t in known if n not in streams and topics.get(n) != t}:
            self._journal.drop_table(name)
        self._set("starting")
        settings, journal = self._settings, self._journal
        self._delivery = Delivery(
            journal,
            self._quarantine,
            self._receiver,
            settings.registry_of,
            settings.isolation,
            self._owners,
        )
        self._opening = Opening(
            settings.topics, self._control, journal, self._clusters, self._tables, self._delivery
        )
        for key, spec in self._tables.add(tables).items():
            settings.check_trigger(spec)
            self._delivery.add_table(key, spec)
        with suppress(Unavailable, Stalled, UnknownConnection):  # the first query tells
            self._replay_early(self._delivery)
        self.session()
        self._monitor.start()
        self._run()

    def _replay_early(self, delivery: Delivery) -> None:
        """Deliver the journaled times from this process, if they are few.

        Raises as `Delivery.open` and `_hand_on` do.
        """
        pending = delivery.pending
        if not pending or not is_little(pending):
            return
        delivery.open()
        topics, tables, feeds = self._settings.topics, self._tables.by_key, self._begun.feeds
        with closing(EarlyReplay(topics, tables, feeds, self._beside().owners)) as early:
            while pending := delivery.pending:
                chunks = early.chunks(pending)
                if chunks is None:
                    return
                self._hand_on(chunks)
                if delivery.pending[:1] == pending[:1]:
                    return

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

    def preflight(self, spec: TableSpec) -> Mapping[str, Beginning]:
        """The beginnings of a new Kafka table's streams, by name; none for a table of files.

        Raises UnknownConnection, InvalidTable, and a BrokerFault if a topic cannot be read.
        """
        if not spec.is_remote:
            self._settings.check_trigger(spec)
            return {}
        return self._clusters.preflight(spec)

    def held(self, spec: TableSpec, beginnings: Mapping[str, Beginning]) -> dict[str, Ends]:
        """The ends of the topics of a new table, as they are now, by stream and partition.

        Raises BrokerFault.
        """
        if spec.is_remote:
            return {
                name: self._clusters.held(spec.stream(beginning.topic), beginning)
                for name, beginning in beginnings.items()
            }
        with self._changed:
            return {spec.name: self._lag.ends(spec.topic)}

    def add_table(self, spec: TableSpec, beginnings: Mapping[str, Beginning] = _NONE) -> None:
        """Read one more table, within about a second; one of Kafka's from its `beginnings` on.

        Raises DuplicateTable.
        """
        with self._changed:
            if spec.name in self._tables.patterns or self._tables.streams(spec.name):
                raise DuplicateTable(f"table {spec.name!r} is read already")
            read_files = self._begun.reads_files()
            if beginnings or spec.topic_pattern is not None:
                self._begun.begin_all(spec, beginnings)
            for key, one in self._tables.add([spec]).items():
                self._started.add_table(key, one)
            self._begun.save()
            is_stale = spec.is_remote or read_files != self._begun.reads_files()
            companions = map(self._started.companions, self._tables.streams(spec.name))
        self._go_on(is_stale, frozenset().union(*companions))

    def _discover(self) -> Faults:
        """Read the topics that match patterns by now; the faults of those that cannot be told."""
        found, faults = later_topics(self._clusters, self._tables)
        for table, topics in found.items():
            with suppress(OSError):  # of the journal: they are seen again at the next look
                self._follow(table, topics)
        return faults

    def _follow(self, table: str, topics: Sequence[str]) -> None:
        """Read these topics into the table of a pattern, those that are not read yet.

        Each begins where it does: its first records may have come before it was seen.
        """
        with self._started.between_batches(), self._changed:
            if (spec := self._tables.patterns.get(table)) is None:
                return
            if table in self._journal.beginnings:
                spec = replace(spec, start="earliest")
            else:
                self._begun.begin_all(spec, {})
            for key, one in self._tables.follow(map(spec.stream, topics)).items():
                self._started.add_table(key, one)
        self._keeper.restart()

    def alter_table(self, name: str, apply: Callable[[TimedBatch], TableSpec | None]) -> bool:
        """Read a table as `apply` declares it, from a new time on; False if it does not.

        See `Delivery.alter_table`. Records that are on their way come again. Raises ReplayUnderWay
        unless the pipeline runs or has stalled; and PipelineFailed, having failed, when `apply`
        raises.
        """

        def altered(batch: TimedBatch) -> Mapping[str, TableSpec] | None:
            if (spec := apply(batch)) is None:
                return None
            with self._changed:
                return self._tables.alter(spec)

        if not self._changing(lambda: self._started.alter_table(name, altered)):
            return False
        with self._changed:
            self._begun.save()
        self._go_on(True, self._tables.streams(name))
        return True

    def at_new_time(self, apply: Callable[[TimedBatch], object]) -> None:
        """Let `apply` do what it does at a new time at which nothing else happens.

        Raises ReplayUnderWay unless the pipeline runs or has stalled; and PipelineFailed, having
        failed, when `apply` raises.
        """

        def change() -> None:
            with self._started.at_new_time(apply):
                pass

        self._changing(change)

    def _changing(self, change: Callable[[], Answer]) -> Answer:
        """The answer of a change at a time of its own (raises ReplayUnderWay, PipelineFailed)."""
        if self._state not in ("running", "stalled"):
            raise ReplayUnderWay(
                f"the pipeline is {self._state}; columns are added, and views replaced, while it "
                "runs"
            )
        try:
            return change()
        except ReplayUnderWay:
            raise
        except Exception as error:
            self._set("failed", f"{type(error).__name__}: {error}")
            self._started.close()
            raise PipelineFailed(str(error)) from error

    def remove_table(self, name: str) -> None:
        """Stop reading a table and forget its positions (raises UnknownTable).

        Waits for the batch under way: no later one holds the table. What it has stalled goes on.
        Where the journal cannot be written (OSError), nothing is changed.
        """
        with self._started.between_batches(), self._changed:
            removed = self._tables.get(name)
            stalls, own = self._started.stalls, set(self._tables.streams(name))
            stalled = {stream for one in own if one in stalls for stream in stalls[one].tables}
            for table in self._tables.without(name):
                self._started.remove_table(table)
                self._tables.remove(table)
            self._begun.save()
        self._go_on(removed.is_remote, stalled - own)

    def retry(self, name: str) -> None:
        """Try to read a table on that stands still, or all where it holds them up."""
        streams = self._tables.streams(name)
        if self._state == "stalled" or self._started.stalls.keys() & set(streams):
            self._go_on(False, streams)

    def _go_on(self, is_stale: bool, resuming: Collection[str] = ()) -> None:
        """Let a query read the tables of now, if there is none or it does not.

        Those of `resuming` that stand still are among them, and what stands still with them.
        """
        with self._changed:
            self._resuming |= self._started.stalls.keys() & set(resuming)
        if self._state == "stalled":
            self._keeper.join()
            self._run()
        elif is_stale or self._resuming or self._state == "replaying":
            self._keeper.restart()  # also for times that are empty now: they wait for no batch

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
        """Put a record before which its table, or all, have stalled into the quarantine; go on.

        Raises NotStalled for any other record.
        """
        with self._changed:
            waiting = [stall.place for stall in self._started.stalls.values()]
            if self._state == "stalled":
                waiting.append(self._stalled_at)
            if place not in waiting:
                told = ", ".join(str(other) for other in waiting if other is not None)
                at = f"; records that are waited before: {told}" if told else ""
                raise NotStalled(f"the pipeline does not wait before {place}{at}")
        self._started.skip(place)
        self._go_on(False, place[:1])

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

    def decoded(self, one: Quarantined) -> pa.Table:
        """The updates that a correction by this record would make.

        Raises StillRejected, RecordClosed, UnknownTable and RegistryUnavailable.
        """
        return self._started.decoded(one)

    def set_on_error(self, name: str, on_error: OnError) -> None:
        """Change the effect of a table's bad records from now on (raises UnknownTable).

        What one of these has stalled goes on.
        """
        with self._changed:
            spec = replace(self._tables.get(name), on_error=on_error)
            for key, stream in self._tables.replace(spec).items():
                self._started.add_table(key, stream)
        self.retry(name)

    @property
    def stalled(self) -> Mapping[str, str]:
        """Why each stream that stands still does, while others go on."""
        if self._delivery is None:
            return {}
        return {
            name: str(stall.error)
            for name, stall in self._delivery.stalls.items()
            if name not in self._resuming
        }

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
            lag = self._lag.of(self._tables.by_key.values(), reached, ends)
            ages = self._lag.ages
            topics = {spec.name: spec.topic for spec in self._tables.by_key.values()}
            state, error, faults = self._state, self._error, self._faults()
        if delivery is None:
            return PipelineStatus(state, error, 0, 0, 0.0, lag, faults)
        time, records, rate = delivery.time, delivery.records, delivery.rate()
        places = {
            (table_of(name), topics[name], p): at
            for (name, p), at in reached.items()
            if name in topics
        }
        return PipelineStatus(
            state,
            error,
            time,
            records,
            rate,
            lag,
            faults,
            delivering=self._delivering,
            ages=ages,
            positions=places,
            decoding=dict(delivery.decoding),
            waiting=self._keeper.waiting,
            queries=self._keeper.started,
        )

    def _faults(self) -> tuple[PartFault, ...]:
        """The faults outside that the pipeline, or all tables of a cluster, wait for."""
        if self._delivery is None or self._state not in ("replaying", "running"):
            return ()
        stalls = self._delivery.stalls
        waited = [stall.error for stall in stalls.values()]
        found = [part_fault(e) for e in waited if isinstance(e, BrokerFault) and not is_of_topic(e)]
        fault = self._keeper.fault or self._monitor.fault(stalls)
        return tuple(dict.fromkeys(found)) or ((fault,) if fault is not None else ())

    def halt(self) -> None:
        """Stop the query after the batch under way, for good; Spark stays until `stop`."""
        if self._halted:
            return
        self._halted = True
        if self._delivery is not None:
            self._delivery.close()
        self._set("stopped")
        self._monitor.stop()
        self._keeper.stop()
        self._confirmation.close()

    def stop(self) -> None:
        """Stop the query after the batch under way, and Spark if the pipeline started it."""
        self.halt()
        if self._starting is not None and self._starting.exception() is None:
            stop_session(self._starting.result())

    @property
    def _started(self) -> Delivery:
        assert self._delivery is not None, "the pipeline is started"
        return self._delivery

    @property
    def _begun(self) -> Opening:
        assert self._opening is not None, "the pipeline is started"
        return self._opening

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
        self._expect_room()
        if self._started.pending:
            self._started.open()
            self._note_replayed()
        with self._changed:
            resuming, self._resuming = self._resuming, frozenset()
            self._started.end_stalls(resuming)
        stalled = self._started.stalls.keys()
        feeds = self._begun.feeds()
        if self._started.stalls.keys() - stalled:
            self._keeper.progressed()  # what ended the query before is known, and waited for
        with self._changed:
            self._begun.save()
            reads_files = self._begun.reads_files()
        settings = self._settings
        known = frozenset(at for feed in feeds for at in starts_of(feed))
        beside = self._beside()
        self._started.begin_query()
        if settings.trigger == "real-time" and feeds:
            self._fixed = known
            how = self._deliver, self._keeper.hear, feeds, beside
            return RealTime(self._spark, settings.work, *how)
        given = settings.batch_records, self._deliver, feeds, reads_files, beside
        batches = MicroBatches(self._spark, self._control, *given)
        self._fixed = known if batches.follows else frozenset()
        return batches

    def _beside(self) -> Beside:
        """The surroundings of a query that begins now."""
        settings = self._settings
        owners = self._owners.owners if self._owners is not None else None
        return Beside(settings.host, settings.taken, settings.secret is not None, owners)

    def _deliver(self, batch: pa.Table) -> None:
        """Deliver, on the thread of the handover, and remember an error."""
        started = clock.monotonic()
        try:
            self._hand_on(batch)
        except Exception as error:
            if self._set_aside(error) or is_of_topic(error):
                self._keeper.follow()
            elif isinstance(error, Unavailable):
                self._keeper.wait_outside(error)
            else:
                self._keeper.end()
                self._fail(error)
            raise
        self._delivering += clock.monotonic() - started
        self._keeper.progressed()
        self._note_replayed()

    def _hand_on(self, batch: pa.Table) -> None:
        """Deliver a batch whose topics are those that its tables began with (raises as those)."""
        self._expect_room()
        # A topic that is the one it was after its records were read, was so before.
        if self._tables.remote():
            self._confirmation.confirm()
        self._started.deliver(batch)

    def _note_replayed(self) -> None:
        if self._state == "replaying" and not self._started.pending:
            self._set("running")

    def _note_topics(self, ends: PartitionOffsets, faults: Faults) -> None:
        """Let another query follow one that reads what cannot be read, or lacks what can.

        That is also one that reads the partitions it knew alone.
        """
        stalls, read = self._started.stalls, self._tables.remote().values()
        at_fault = {
            name
            for name, error in faults.items()
            if name not in stalls and (isinstance(error, Stalled) or self._can_wait(name, error))
        }
        over = {
            name
            for name, stall in stalls.items()
            if is_over(stall, faults, self._settings.registry_of(self._tables.named(name)))
        }
        topics = {spec.topic for spec in read if spec.name not in stalls}
        new = {at for at in ends if at[0] in topics} - self._fixed
        if at_fault or over or (self._fixed and new):
            with self._changed:
                self._resuming |= over
            self._keeper.restart()

    def _can_wait(self, name: str, error: Exception) -> bool:
        """Whether a table can wait by itself for its topic."""
        return is_of_topic(error) and self._started.isolates(name)

    def _set_aside(self, error: Exception) -> bool:
        """Let the table that an error is about stand still; False where all have to wait."""
        if not isinstance(error, Stalled | Unavailable) or error.table is None:
            return False
        return self._started.stall(error, error.table)

    def _check(self) -> None:
        """Raise TopicRecreated unless the topics are those that the tables began with."""
        stalls, remote = self._started.stalls, self._tables.remote().values()
        read = [spec for spec in remote if spec.name not in stalls]
        self._clusters.check(read, self._journal.beginnings)

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
