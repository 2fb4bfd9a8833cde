"""Views: declares, restores and drops them, and finds those that can be read."""

from collections.abc import Callable, Sequence

import structlog

from api.errors import DifferentDefinition, NotReady, ViewFailed, unknown
from api.services.admission import Admission
from api.services.bounding import hydration_budget
from api.services.compiler import Compiler
from api.services.definition import Definition
from api.services.outputs import output_of
from api.services.parts import Parts
from api.services.readiness import Readiness
from api.services.restoring import Restoration
from connectors.errors import BrokerFault, InvalidSink
from connectors.sinks.sink import Output
from connectors.sinks.target import KafkaTarget
from connectors.tables.validate import reads
from ivm.errors import NotIndexed
from ivm.results import Installed
from views.catalog import View
from views.compile import CompiledView
from views.errors import NameTaken

log = structlog.get_logger()


class Views:
    """The declared views, as the registry, the pool and the sinks hold them.

    `are_temporal` says whether one of them changes as time passes. `coming` has the view that is
    being made, by its name; there is one at most.
    """

    def __init__(
        self,
        parts: Parts,
        readiness: Readiness,
        admission: Admission,
        compiler: Compiler,
        restoration: Restoration,
    ) -> None:
        self._parts = parts
        self._readiness = readiness
        self._admission = admission
        self._compiler = compiler
        self._restoration = restoration
        self._temporal: set[str] = set()
        self._on_drop: list[Callable[[str], None]] = []
        self.coming: dict[str, View] = {}

    def on_drop(self, listener: Callable[[str], None]) -> None:
        """Call `listener` with the name of each view that is dropped, while the pool has it."""
        self._on_drop.append(listener)

    def note_temporal(self, name: str, *, is_temporal: bool) -> None:
        """Say whether a view, or what is about to take its place, changes as time passes."""
        if is_temporal:
            self._temporal.add(name)
        else:
            self._temporal.discard(name)

    @property
    def are_temporal(self) -> bool:
        """Whether a view filters by the present moment."""
        return bool(self._temporal)

    def all(self) -> Sequence[View]:
        """All views, each after those it reads."""
        return self._parts.registry.catalog.views

    def get(self, name: str) -> View:
        """The view of this name (raises UnknownName)."""
        view = self._parts.registry.view(name)
        if view is None:
            raise unknown("view", name, [v.name for v in self.all()])
        return view

    def all_known(self) -> Sequence[View]:
        """All views, and after them one that is being made."""
        known = self.all()
        return [*known, *(view for view in self.coming.copy().values() if view not in known)]

    def known(self, name: str) -> View:
        """The view of this name, also one that is being made (raises UnknownName)."""
        return self.coming.get(name) or self.get(name)

    def miscounted(self, name: str) -> int:
        """The number of keys whose rows do not add up, in the tables that a view reads."""
        miscounts = self._parts.applier.feeder.miscounts
        if not miscounts.faults:
            return 0
        return sum(map(miscounts.count, self._tables_under(name)))

    def stalled(self, *names: str) -> str | None:
        """Why sources stand still that these views read, or are; None if none does."""
        stalled = self._readiness.stalled()
        if not stalled:
            return None
        read = frozenset().union(*map(self._tables_under, names))
        whys = dict.fromkeys(fault.detail for name, fault in stalled.items() if name in read)
        return "; ".join(whys) or None

    def _tables_under(self, name: str) -> frozenset[str]:
        """The tables that a view reads, itself or through others; also of one that is coming."""
        catalog = self._parts.registry.catalog
        if (view := self.coming.get(name)) is None:
            return catalog.tables_under(name)
        return frozenset().union(*map(catalog.tables_under, view.dependencies))

    def readable(self, name: str) -> View:
        """The view of this name, if it can be followed now (also raises NotReady, ViewFailed)."""
        view = self.get(name)
        if not self._readiness.is_replayed:
            raise self._readiness.refusal()
        if name in self._readiness.altering:
            raise NotReady(f"a source of view {name!r} is getting columns; try again in a moment")
        self.refuse_failed(name)
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

    def put(self, definition: Definition) -> Installed | None:
        """Maintain a view; None if the same is there already.

        Raises DifferentDefinition, a kind of SqlError, ViewFailed if it reads such a view, what
        `Pool.install` and `KafkaSink.open` raise, and KeyNotUnique.
        """
        with self._admission.change():
            known = self._parts.registry.view(definition.name)
            if known is not None:
                self._refuse_other(known, definition)
                return None
            view, compiled = self.planned(definition)
            self.coming[view.name] = view
            try:
                installed = self._install(view, compiled, definition.target)
            finally:
                del self.coming[view.name]
            log.info("view installed", view=view.name, created=installed.created)
            return installed

    def planned(self, definition: Definition) -> tuple[View, CompiledView]:
        """A new view, compiled and not installed.

        Raises a kind of SqlError, ViewFailed if it reads such a view, CartesianProduct and
        LimitTooHigh.
        """
        compiled = self._compiler.compile(definition.query, definition.language, definition.key)
        for read in compiled.dependencies:
            self.refuse_failed(read)
        self._compiler.refuse_product(compiled)
        self._compiler.refuse_rounds(compiled)
        view = View(
            definition.name,
            definition.query,
            definition.language,
            compiled.schema,
            compiled.key,
            compiled.dependencies,
            definition.keeps_rows,
            compiled.is_unique,
        )
        return view, compiled

    def would_put(self, definition: Definition) -> bool:
        """Whether `put` would make a view; False if the same is there already (raises as `put`).

        What only a broker or the hydration finds out is not raised.
        """
        registry, name = self._parts.registry, definition.name
        with self._admission.change():
            known = registry.view(name)
            if known is not None:
                self._refuse_other(known, definition)
                return False
            if name in registry.catalog:
                raise NameTaken(f"a table or view {name!r} exists already")
            view, _ = self.planned(definition)
            fresh = registry.fresh(name)
            self._check_target(output_of(view, definition.target, fresh, registry.catalog))
            return True

    def retry(self, name: str) -> Installed | None:
        """Maintain a view that failed again; None if it has not.

        Raises UnknownName, ViewFailed if it reads one that failed, and as `put`; then it stays as
        it was.
        """
        parts = self._parts
        with self._admission.change():
            view = self.get(name)
            if name not in parts.applier.failed:
                return None
            compiled = self._compiler.seen(view, parts.registry.catalog)
            for read in compiled.dependencies:
                self.refuse_failed(read)
            output = output_of(
                view,
                parts.registry.targets.get(name),
                parts.registry.published_as(name),
                parts.registry.catalog,
            )
            if compiled.temporal:
                self._tick()
            with hydration_budget(parts.settings) as budget:
                installed = parts.applier.retry(
                    output, compiled.node, lookups=view.lookups, budget=budget
                )
            if compiled.temporal:
                self._temporal.add(name)
            log.info("view retried", view=name)
            return installed

    def drop(self, name: str) -> None:
        """Stop a view and delete its delta topic (raises UnknownName, StillUsed, NotReady).

        A start that waits for it goes on.
        """
        with self._admission.mending():
            self.get(name)
            self._parts.registry.drop_view(name)
            for listener in self._on_drop:
                listener(name)
            self._parts.applier.drop(name)
            self._temporal.discard(name)
        self._restoration.wake()

    def rename(self, name: str, to: str) -> None:
        """Let a view have another name; its topics, in files and in Kafka, keep theirs.

        Raises UnknownName, NameTaken, and StillUsed while another view, or a replacement, reads it
        by its name; RegistryNotWritten.
        """
        parts = self._parts
        with self._admission.change():
            self.get(name)
            parts.registry.expect_renamed(name, to)
            parts.applier.rename(name, to)
            try:
                parts.registry.rename_view(name, to)
            except BaseException:
                parts.applier.rename(to, name)
                raise
            self.note_temporal(to, is_temporal=name in self._temporal)
            self.note_temporal(name, is_temporal=False)
            log.info("view renamed", view=name, to=to)

    def restore(self) -> None:
        """Bring the views back over their tables, and forget those never acknowledged.

        Raises as `Restoration.restore`.
        """
        with self._admission.lock:
            views = tuple(self.all())
            known = {self._parts.registry.published_as(view.name) for view in views}
            for published in self._parts.sink.published.keys() - known:
                self._parts.applier.forget(published)
        self._restoration.restore(views, self._restore)

    def _restore(self, view: View) -> None:
        with self._admission.lock:
            registry = self._parts.registry
            if registry.view(view.name) is not view:
                return
            compiled = self._compiler.seen(view, registry.catalog)
            output = output_of(
                view,
                registry.targets.get(view.name),
                registry.published_as(view.name),
                registry.catalog,
                self._later(view.name),
            )
            applier = self._parts.applier
            for read in compiled.dependencies:
                if read in applier.failed:
                    applier.fail_reader(view.name, read)
            applier.restore(output, compiled.node, lookups=view.lookups)
            if compiled.temporal:
                self._temporal.add(view.name)

    def _later(self, name: str) -> View | None:
        """The definition of a view to be, if a switch to it has begun before the start."""
        for pending in self._parts.registry.replacements.values():
            for view in pending.views if pending.at is not None else ():
                if view.name == name:
                    return view
        return None

    def _install(self, view: View, compiled: CompiledView, target: KafkaTarget | None) -> Installed:
        """Install, publish and register a new view; nothing of it is there if that raises."""
        parts = self._parts
        output = output_of(view, target, parts.registry.fresh(view.name), parts.registry.catalog)
        self._check_target(output)
        if compiled.temporal:
            self._tick()
        with hydration_budget(parts.settings) as budget:
            installed = parts.applier.install(
                output, compiled.node, lookups=view.lookups, budget=budget
            )
        try:
            parts.registry.add_view(view, target, output.published)
        except BaseException:
            parts.applier.drop(view.name)
            raise
        if compiled.temporal:
            self._temporal.add(view.name)
        return installed

    def _tick(self) -> None:
        """Let a time be now, if it can be published to all views that there are (BrokerFault)."""
        self._parts.applier.expect_answers()
        self._parts.pipeline.tick()

    def _refuse_other(self, known: View, given: Definition) -> None:
        """See that a view of a known name is the known one (raises DifferentDefinition)."""
        same = (
            (given.query, given.language) == (known.query, known.language)
            and given.keeps_rows == known.lookups
            and given.target == self._parts.registry.targets.get(known.name)
            and (given.key is None or tuple(given.key) == known.key)
        )
        if not same:
            raise DifferentDefinition(
                f"view {known.name!r} is defined otherwise; delete it first, or choose another name"
            )

    def refuse_failed(self, name: str) -> None:
        """See that a view has not failed (raises ViewFailed)."""
        failed = self._parts.applier.failed
        if name in failed:
            raise ViewFailed(
                f"view {name!r} has failed: {failed[name]}. Its definition is kept: "
                f"POST /v1/views/{name}/retry maintains it again, DELETE /v1/views/{name} drops it"
            )

    def _check_target(self, output: Output) -> None:
        """See that a view can go where it shall (raises InvalidSink, KeyNotUnique, BrokerFault)."""
        if output.target is None:
            return
        output.check()
        for spec in self._parts.registry.sources.values():
            target = output.target
            if spec.connection == target.connection and reads(spec, target.topic):
                raise InvalidSink(
                    f"topic {target.topic!r} is read by source {spec.name!r}; choose another"
                )
        if faults := self._parts.kafka.faults():
            raise BrokerFault("; ".join(fault.detail for fault in faults))
