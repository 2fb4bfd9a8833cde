"""The composition root: one running service, its parts and the services over them.

Start: restore the tables from the newest checkpoint, declare the registered views, which hydrate
from them, then let the pipeline replay what the journal holds beyond; the service is ready when all
that was journaled has been applied again. Look-ups and new sources and views wait for that. What
mends a start that does not get on is possible before: dropping a view or a source, and letting a
bad record pass.
"""

import threading
from collections.abc import Callable

import structlog

<<<<<<< HEAD
from api.errors import NotReady
from api.services.admission import Admission
from api.services.checkpoints import TableCheckpoints
from api.services.compiler import Compiler
from api.services.parts import Parts
from api.services.readiness import Readiness
from api.services.repairs import Repairs
from api.services.restoring import Restoration
from api.services.sources import Sources
from api.services.views import Views
from api.settings import Settings
from api.watch import Watch
from connectors.ingest.pipeline import Pipeline
from connectors.offsets import Offsets
=======
from api.catching_up import catching_up
from api.clock import PoolClock
from api.errors import (
    CartesianProduct,
    DifferentDefinition,
    LimitTooHigh,
    NotReady,
    ViewFailed,
)
from api.registry import Registry
from api.restoring import Views
from api.settings import Settings
from api.watch import Watch
from connectors.checkpoint.periodic import CheckpointCounts, Checkpoints
from connectors.checkpoint.restore import restore
from connectors.checkpoint.store import open_store
from connectors.checkpoint.writer import CheckpointWriter, Cut
from connectors.errors import (
    BrokerFault,
    InvalidSink,
    InvalidTable,
    PipelineFailed,
)
from connectors.health import PartFault
from connectors.ingest.apply import Applier
from connectors.ingest.feed import declare_input
from connectors.ingest.meter import Meter
from connectors.ingest.pipeline import Pipeline, PipelineSettings
from connectors.ingest.restore import Tables, cut
from connectors.offsets import Offsets, offsets_of
from connectors.progress.journal import Journal
from connectors.quarantine.dead_letters import DeadLetters
from connectors.quarantine.replay import Outcome
from connectors.quarantine.store import Place, Quarantine, Quarantined, Repair
from connectors.sinks.deltas import DeltaSink
from connectors.sinks.kafka.publisher import Service
from connectors.sinks.kafka.sink import KafkaSink
from connectors.sinks.sink import Output
from connectors.sinks.target import KafkaTarget
from connectors.tables.spec import TableSpec
from ivm.dataflow.nodes import Iterate
from ivm.dataflow.traversal import walk
from ivm.errors import NotIndexed, PoolFailed
from ivm.pool import Pool
from ivm.results import Forecast, Installed
from views.catalog import View
from views.compile import CompiledView, compile_view
from views.errors import UnknownName, suggestion
from views.explain import explain
from views.plan.bound import Stage
>>>>>>> 8e3c923a (Views that failed: keep their definition, and retry them by a call)

# How long `start` may take to notice an interrupt.
INTERRUPT_SECONDS = 0.5

log = structlog.get_logger()


class Runtime(Parts):
    """One running service on one data directory; safe to call from several threads."""

    def __init__(
        self, settings: Settings, make_pipeline: Callable[..., Pipeline] = Pipeline
    ) -> None:
        """Open or create the data directory (raises JournalCorrupt, RegistryCorrupt)."""
<<<<<<< HEAD
        super().__init__(settings, make_pipeline)
        self._restoration = Restoration()
        self.readiness = Readiness(self, self._restoration)
        admission = Admission(self, self.readiness)
        self.compiler = Compiler(self)
        self.checkpoints = TableCheckpoints(self, admission)
        self.sources = Sources(self, admission)
        self.views = Views(self, self.readiness, admission, self.compiler, self._restoration)
        self.repairs = Repairs(self, self.readiness, admission)
=======
        self.settings = settings
        data, topics = settings.data.resolve(), settings.topics_directory.resolve()
        for directory in (data, data / "work", topics):
            directory.mkdir(parents=True, exist_ok=True)
        self.registry = Registry(data / "registry.json")
        self.quarantine = Quarantine(data / "quarantine.sqlite")
        self.pool = Pool(
            settings.workers,
            settings.max_rounds,
            settings.max_updates,
            max_recursion_bytes=settings.max_recursion_bytes,
            max_process_bytes=settings.max_process_bytes,
            max_recursion_seconds=settings.max_recursion_seconds,
        )
        self._limits = settings.query_limits
        self.meter = Meter()
        self.topics = topics
        self._journal = Journal(data / "journal")
        self.sink = DeltaSink(topics, self._journal)
        service = Service(settings.service, settings.transaction_seconds)
        self.kafka = KafkaSink(settings.connections, service, self._journal)
        sinks = (self.sink, self.kafka)
        self.applier = Applier(
            self.pool, PoolClock(self.pool), self._journal, sinks, self.meter, self.quarantine
        )
        self.pipeline = make_pipeline(
            PipelineSettings(
                topics,
                data / "work",
                settings.spark_master,
                settings.spark_memory,
                settings.batch_records,
                settings.connections,
                settings.spark_jars.resolve(),
                settings.trigger,
            ),
            self._journal,
            self.quarantine,
            self.applier,
        )
        self._changing = threading.Lock()
        self._repairing = threading.Lock()
        self._ready = threading.Event()
>>>>>>> 8e3c923a (Views that failed: keep their definition, and retry them by a call)
        self._interrupted = threading.Event()
        self._stopped = threading.Event()
        self._ticker = threading.Thread(target=self._tick, name="clock", daemon=True)
        # That the service as a whole is starting is no fault, and why it did not start is logged.
        self._watch = Watch(lambda: [f for f in self.readiness.faults() if f.part != "service"])

    def start(self) -> None:
        """Start the pipeline and return once the journal has been replayed.

        A failure is told by `readiness`, not raised: the service stays up to tell it.
        """
        self._watch.start()
        try:
            self.pipeline.prepare()
            self.restore()
            self.sources.start()
            self._await_replay()
            self.applier.complete_replay()
        except Exception as error:
            log.exception("the pipeline did not start")
            self.readiness.fail(f"{type(error).__name__}: {error}")
        else:
            log.info("ready", time=self.pool.frontier - 1)
            self._ticker.start()
            self.checkpoints.start()
            self.readiness.begin()
        self.letters.start()

    def restore(self) -> None:
        """Bring tables and views back (raises as `TableCheckpoints` and `Views` do)."""
        self.checkpoints.restore()
        self.views.restore()

    def interrupt(self) -> None:
        """Let `start` return soon, even amid a replay."""
        self._interrupted.set()
        self._restoration.interrupt()
        self.kafka.interrupt()

    def stop(self) -> None:
        """Finish the batch under way, and release everything."""
        self._stopped.set()
        self.kafka.interrupt()
        self._watch.stop()
        if self._ticker.is_alive():
            self._ticker.join()
        self.checkpoints.stop()
        self.close()

    def reflects(self, wanted: Offsets) -> bool:
        """Tells whether all records before these positions are reflected at the published time.

        What lies behind the last record, as a marker of a transaction, waits for nothing.
        """
        offsets = self.applier.offsets()
        return offsets.covers(wanted) or offsets.beyond(self.pipeline.gaps).covers(wanted)

    def _await_replay(self) -> None:
        """Wait for the journal's end, also where the replay stalls: that may be mended."""
        while not self.pipeline.wait_replayed(INTERRUPT_SECONDS):
            if self._interrupted.is_set():
                raise NotReady("stopped amid the replay of the journal")

    def _tick(self) -> None:
        """Let time pass for the views that filter by it, and for the sinks that wait."""
        while not self._stopped.wait(self.settings.clock_seconds):
            try:
                self.applier.tend()
                if self.views.are_temporal:
                    self.pipeline.tick()
            except Exception:
                log.exception("the clock stopped")  # the pipeline has failed, and tells why
                return
<<<<<<< HEAD
=======

    def _restore(self) -> None:
        """Bring tables and views back, and forget views that were never acknowledged.

        Raises CheckpointRefused, InvalidStore, and as `Views.restore`.
        """
        with self._changing:
            self._restore_tables()
            views = tuple(self.registry.catalog.views)
            for name in self.sink.published.keys() - {view.name for view in views}:
                self.applier.forget(name)
        self._views.restore(views)

    def _is_declared(self, view: View) -> bool:
        return self.registry.view(view.name) is view

    def _restore_view(self, view: View) -> None:
        compiled = self._compiled(view.query, view.language, view.key)
        output = _output(view, compiled, self.registry.targets.get(view.name))
        self.applier.restore(output, compiled.node, lookups=view.lookups)
        if compiled.temporal:
            self._temporal.add(view.name)

    def _restore_tables(self) -> None:
        """Declare the tables as the newest checkpoint that can be used has them."""
        settings, sources = self.settings, self.registry.sources
        store = open_store(settings.checkpoints_place)
        restored = restore(store, self._journal, sources, Tables(self.pool, sources.values()))
        for fault in restored.faults:
            log.error("a checkpoint was passed over", fault=fault)
        writer = CheckpointWriter(store, settings.checkpoints_kept, restored.kept)
        topics = {spec.name: spec.topic for spec in sources.values()}
        offsets = offsets_of(topics, self._positions(topics))
        if (manifest := restored.manifest) is None:
            self.applier.begin(0, 0, offsets)
        else:
            self.applier.begin(manifest.time, manifest.moment, offsets)
            for table in restored.tables:
                writer.stands_for(table.files, self.pool.batches(table.name))
                self.applier.feeder.duplicates.restore(table.name, table.seen)
            log.info("restored", time=manifest.time, rows=sum(f.rows for f in manifest.files()))
        self.checkpoints = Checkpoints(
            writer,
            self._journal,
            self._cut,
            lambda: self.meter.records,
            settings.checkpoint_seconds,
            settings.checkpoint_records,
        )

    def _positions(self, topics: Mapping[str, str]) -> dict[tuple[str, int], int]:
        """The positions at which the replay begins, of sources whose topics are the same now."""
        journal = self._journal
        positions, known = journal.positions_at(journal.start), journal.tables
        return {at: end for at, end in positions.items() if known.get(at[0]) == topics.get(at[0])}

    def _cut(self) -> Cut | None:
        """The cut that the next checkpoint holds; None if the last one has it."""
        with self._changing, self.applier.lock:
            known = max(self._journal.start, self.checkpoint_counts.time)
            if self.pipeline.status().state == "failed" or self.pool.frontier - 1 <= known:
                return None
            return cut(self.applier, self._journal, self.registry.sources)

    @property
    def checkpoint_counts(self) -> CheckpointCounts:
        """Counts of the checkpoints that were written, and of those that failed."""
        return self.checkpoints.counts if self.checkpoints is not None else CheckpointCounts()

    @property
    def is_replayed(self) -> bool:
        """Whether all that was journaled before the start has been applied."""
        return self._ready.is_set() and self._fault is None

    def faults(self) -> list[PartFault]:
        """The faults that keep the service from being ready; none if it is."""
        if self._fault is not None:
            told = (
                f"{self._fault}; mend that, or delete the view or source at fault, and start again"
            )
            return [PartFault("service", None, told)]
        if self._views.fault is not None:
            return [self._views.fault]
        status = self.pipeline.status()
        faults = [*status.faults, *self.kafka.faults(), *self._letters.faults()]
        is_started = self._ready.is_set()
        if status.state in ("stalled", "failed") or (is_started and status.state == "stopped"):
            when = "" if is_started else " amid the replay of the journal"
            detail = f"the pipeline is {status.state}{when}: {status.error}"
            faults.append(PartFault("pipeline", None, detail))
        elif not is_started:
            detail = f"the service is starting ({status.state})"
            faults.append(PartFault("service", None, detail))
        return faults

    def fault(self) -> str | None:
        """Why the service is not ready, in words; None if it is."""
        waits = (*self.faults(), *self.catching_up().values())
        return "; ".join(fault.detail for fault in waits) or None

    def catching_up(self) -> dict[str, PartFault]:
        """The sources that have yet to read the records from before their declaration."""
        sources = list(self.registry.sources.values())
        return catching_up(sources, self._journal.held, self.offsets())

    def wait_ready(self) -> None:
        """Wait, within bounds, until changes are possible (raises NotReady, PipelineFailed).

        A start that does not get on by itself is not waited for.
        """
        deadline = clock.monotonic() + self.settings.ready_seconds
        while not self._ready.wait(min(LOOK_SECONDS, self.settings.ready_seconds)):
            if self._is_held_up():
                raise NotReady(self._refusal())
            if clock.monotonic() >= deadline:
                raise NotReady(self._refusal())
        if self._fault is not None:
            raise PipelineFailed(self._fault)

    def _is_held_up(self) -> bool:
        """Whether the start goes on only once something is mended."""
        is_stalled = self.pipeline.status().state == "stalled"
        return self._views.fault is not None or (is_stalled and not self.pipeline.wait_replayed(0))

    def _refusal(self) -> str:
        """The reason why nothing can be looked up or declared, and the remedy."""
        again = "once that is mended" if self._is_held_up() else "in a few seconds"
        return f"{self.fault()}; try again {again}"

    @contextmanager
    def _mending(self) -> Iterator[None]:
        """Let a change be made that may mend a fault, also before the service is ready.

        Raises NotReady if another change, a step of the start or the batch under way takes too
        long, as one does that waits for a broker.
        """
        with self._held(self._changing):
            with self._held(self.applier.lock):
                pass  # the change itself takes it again
            yield

    @contextmanager
    def _held(self, lock: threading.Lock) -> Iterator[None]:
        if not lock.acquire(timeout=self.settings.ready_seconds):
            raise NotReady(self._refusal())
        try:
            yield
        finally:
            lock.release()

    # --- sources ---

    def put_source(self, spec: TableSpec) -> bool:
        """Declare a source; False if it is there already.

        Raises DifferentDefinition, InvalidTable for a topic that is a view's, and what
        `Pipeline.preflight` raises.
        What a bad record does may change: a pipeline that one has stalled goes on.
        """
        with self._mending():
            if self._is_put(spec):
                return False
        self.wait_ready()
        with self._changing:
            if self._is_put(spec):
                return False
            self._refuse_other_connection(spec)
            self._letters.check(spec)
            if not spec.is_remote and self.sink.owns(spec.topic):
                raise InvalidTable(
                    f"topic {spec.topic!r} is a view's: opening or dropping that view would empty "
                    "it. Choose another topic"
                )
            beginning = self.pipeline.preflight(spec)
            held = self.pipeline.held(spec, beginning)
            declare_input(self.pool, spec)
            try:
                with self.registry.adding_source(spec):
                    self._journal.declare_table(spec.name, held)
                    self.pipeline.add_table(spec, beginning)
            except BaseException:
                self.pool.drop_input(spec.name)
                raise
            begun = beginning.offsets if beginning is not None else {}
            self.applier.declare(Offsets.of_source(spec.name, spec.topic, begun))
            return True

    def _is_put(self, spec: TableSpec) -> bool:
        """Whether a source is there already, as it is to be (raises DifferentDefinition)."""
        known = self.registry.sources.get(spec.name)
        if known is None:
            return False
        if known != replace(spec, on_error=known.on_error):
            raise DifferentDefinition(
                f"source {spec.name!r} is declared otherwise; delete it first, or choose another "
                "name"
            )
        if known != spec:
            self._set_on_error(spec)
        return True

    def _refuse_other_connection(self, spec: TableSpec) -> None:
        """Offsets are told by topic too, so one name is one topic (raises InvalidTable)."""
        for other in self.registry.sources.values():
            if other.topic == spec.topic and other.connection != spec.connection:
                raise InvalidTable(
                    f"table {spec.name!r}: connection: source {other.name!r} reads a topic "
                    f"{spec.topic!r} on another connection; a topic's name can be read on one only"
                )

    def _set_on_error(self, spec: TableSpec) -> None:
        self.registry.replace_source(spec)
        if not self._reads:
            return
        self.pipeline.set_on_error(spec.name, spec.on_error)
        if self.pipeline.status().state == "stalled":
            self.pipeline.resume()

    def source(self, name: str) -> TableSpec:
        """The source of this name (raises UnknownName)."""
        spec = self.registry.sources.get(name)
        if spec is None:
            raise _unknown("source", name, self.registry.sources)
        return spec

    def drop_source(self, name: str) -> None:
        """Forget a source, not its topic (raises UnknownName, StillUsed, NotReady).

        A start that it has stalled goes on.
        """
        with self._mending():
            self.source(name)
            with self.registry.dropping_source(name):
                if self._reads:
                    self.pipeline.remove_table(name)
            self.meter.forget(name)
            with self.applier.lock:
                self.applier.feeder.forget(name)
                self.applier.forget_source(name)
                if name in self.pool.names:
                    with suppress(PoolFailed):  # then it serves readers alone, until the restart
                        self.pool.drop_input(name)

    # --- quarantine ---

    def fix(self, place: Place, repair: Repair | None) -> Quarantined:
        """Set the bytes that a replay decodes in a record's stead.

        Raises UnknownRecord, RecordClosed.
        """
        self.wait_ready()
        with self._repairing:
            return self.quarantine.fix(place, repair)

    def discard(self, place: Place) -> Quarantined:
        """Close a record without a replay (raises UnknownRecord, RecordClosed)."""
        self.wait_ready()
        with self._repairing:
            return self.quarantine.discard(place)

    def replay(self, places: Sequence[Place], overwrite: bool) -> Outcome:
        """Apply quarantined records as corrections (raises as `Pipeline.correct`)."""
        self.wait_ready()
        with self._repairing:
            return self.pipeline.correct(places, overwrite)

    def skip(self, place: Place) -> None:
        """Let a stalled pipeline go on after this record (raises NotStalled, NotReady)."""
        with self._mending():
            self.pipeline.skip(place)

    # --- views ---

    def put_view(
        self,
        name: str,
        query: str,
        language: str,
        key: Sequence[str] | None,
        target: KafkaTarget | None = None,
        *,
        lookups: bool = True,
    ) -> Installed | None:
        """Maintain a view, and publish it to `target` too; None if the same is there already.

        Without `lookups` its changes alone are kept.

        Raises DifferentDefinition, a kind of SqlError, ViewFailed if it reads such a view, what
        `Pool.install` and `KafkaSink.open` raise, and KeyNotUnique.
        """
        self.wait_ready()
        with self._changing:
            known = self.registry.view(name)
            if known is not None:
                declared = known.query, known.language, known.lookups
                same = declared == (query, language, lookups)
                same = same and self.registry.targets.get(name) == target
                if not same or (key is not None and tuple(key) != known.key):
                    raise DifferentDefinition(
                        f"view {name!r} is defined otherwise; delete it first, or choose another "
                        "name"
                    )
                return None
            compiled = self._compiled(query, language, key)
            for read in compiled.dependencies:
                self._refuse_failed(read)
            self._refuse_product(compiled)
            self._refuse_rounds(compiled)
            view = View(
                name,
                query,
                language,
                compiled.schema,
                compiled.key,
                compiled.dependencies,
                lookups,
                compiled.is_unique,
            )
            output = _output(view, compiled, target)
            self._check_target(output)
            if compiled.temporal:
                self.pipeline.tick()
            installed = self.applier.install(output, compiled.node, lookups=lookups)
            try:
                self.registry.add_view(view, target)
            except BaseException:
                self.applier.drop(name)
                raise
            if compiled.temporal:
                self._temporal.add(name)
            log.info("view installed", view=name, created=installed.created)
            return installed

    def _check_target(self, output: Output) -> None:
        """See that a view can go where it shall (raises InvalidSink, KeyNotUnique, BrokerFault)."""
        if output.target is None:
            return
        output.check()
        for spec in self.registry.sources.values():
            if (spec.connection, spec.topic) == (output.target.connection, output.target.topic):
                raise InvalidSink(
                    f"topic {spec.topic!r} is read by source {spec.name!r}; choose another"
                )
        if faults := self.kafka.faults():
            raise BrokerFault("; ".join(fault.detail for fault in faults))

    def _refuse_product(self, compiled: CompiledView) -> None:
        pairs = self.pool.explain(compiled.node, compiled.key).pairs
        if pairs > self.settings.max_pairs:
            raise CartesianProduct(
                f"a join without an equality would make about {pairs:,} pairs of rows, more than "
                f"max_pairs, which is {self.settings.max_pairs:,}; join by an equality, filter "
                "before the join, or let the operator raise max_pairs"
            )

    def _refuse_rounds(self, compiled: CompiledView) -> None:
        most = self.settings.max_rounds
        for node in walk(compiled.node):
            if isinstance(node, Iterate) and (node.max_rounds or 0) > most:
                raise LimitTooHigh(
                    f"a recursion limit of {node.max_rounds:,} rounds is more than max_rounds, "
                    f"which is {most:,}; lower the limit, or let the operator raise max_rounds"
                )

    def view(self, name: str) -> View:
        """The view of this name (raises UnknownName)."""
        view = self.registry.view(name)
        if view is None:
            names = [v.name for v in self.registry.catalog.views]
            raise _unknown("view", name, names)
        return view

    def looked_up(self, name: str) -> View:
        """The view of this name, if it can be looked up now (raises as `readable`; NotIndexed)."""
        view = self.readable(name)
        if not view.lookups:
            raise NotIndexed(
                f"view {name!r} was declared with lookups: false, so that its rows are not kept; "
                "follow its changes, or delete it and declare it with lookups"
            )
        return view

    def readable(self, name: str) -> View:
        """The view of this name, if it can be followed now (also raises NotReady, ViewFailed)."""
        view = self.view(name)
        if not self.is_replayed:
            raise NotReady(self._refusal())
        self._refuse_failed(name)
        return view

    def _refuse_failed(self, name: str) -> None:
        if name in self.applier.failed:
            raise ViewFailed(
                f"view {name!r} has failed: {self.applier.failed[name]}. Its definition is kept: "
                f"POST /v1/views/{name}/retry maintains it again, DELETE /v1/views/{name} drops it"
            )

    def retry_view(self, name: str) -> Installed | None:
        """Maintain a view that failed again; None if it has not.

        Raises UnknownName, ViewFailed if it reads one that failed, and as `put_view`; then it stays
        as it was.
        """
        self.wait_ready()
        with self._changing:
            view = self.view(name)
            if name not in self.applier.failed:
                return None
            compiled = self._compiled(view.query, view.language, view.key)
            for read in compiled.dependencies:
                self._refuse_failed(read)
            output = _output(view, compiled, self.registry.targets.get(name))
            if compiled.temporal:
                self.pipeline.tick()
            installed = self.applier.retry(output, compiled.node, lookups=view.lookups)
            if compiled.temporal:
                self._temporal.add(name)
            log.info("view retried", view=name)
            return installed

    def drop_view(self, name: str) -> None:
        """Stop a view and delete its delta topic (raises UnknownName, StillUsed, NotReady).

        A start that waits for it goes on.
        """
        with self._mending():
            self.view(name)
            self.registry.drop_view(name)
            self.applier.drop(name)
            self._temporal.discard(name)
        self._views.wake()

    def explain(
        self, query: str, language: str, key: Sequence[str] | None, *, lookups: bool = True
    ) -> tuple[CompiledView, Forecast, tuple[Stage, ...]]:
        """A view over `query`: its dataflow, the arrangements it would share or make, its stages.

        Without `lookups` none is made of its own rows. Raises a kind of SqlError.
        """
        compiled = self._compiled(query, language, key)
        stages = explain(query, self.registry.catalog, self._arranged(), language, self._limits)
        made = (compiled.node, compiled.key if lookups else None)
        physical = Stage("physical", self.pool.plan_text(*made))
        return compiled, self.pool.explain(*made), (*stages, physical)

    def _compiled(self, query: str, language: str, key: Sequence[str] | None) -> CompiledView:
        catalog, arranged = self.registry.catalog, self._arranged()
        return compile_view(query, catalog, key, arranged, language, self._limits)

    def _arranged(self) -> set[str]:
        return {info.name for info in self.pool.arrangements()}

    def offsets(self, time: int | None = None) -> Offsets:
        """The offsets of sources that are reflected at a recent time, by default the last one."""
        return self.applier.offsets(time)


def _output(view: View, compiled: CompiledView, target: KafkaTarget | None) -> Output:
    definition = [view.query, view.language, view.key, view.schema.to_string(), target]
    plan = blake2b(orjson.dumps(definition), digest_size=16).hexdigest()
    return Output(view.name, view.schema, view.key, compiled.is_unique, plan, target)


def _unknown(kind: str, name: str, known: Iterable[str]) -> UnknownName:
    return UnknownName(f"there is no {kind} {name!r}{suggestion(name, known)}")
>>>>>>> 8e3c923a (Views that failed: keep their definition, and retry them by a call)
