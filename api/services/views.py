"""Views: declares, restores and drops them, and finds those that can be read."""

from collections.abc import Sequence
from hashlib import blake2b

import orjson
import structlog

from api.errors import DifferentDefinition, NotReady, ViewFailed, unknown
from api.services.admission import Admission
from api.services.compiler import Compiler
from api.services.parts import Parts
from api.services.readiness import Readiness
from api.services.restoring import Restoration
from connectors.errors import BrokerFault, InvalidSink
from connectors.sinks.sink import Output
from connectors.sinks.target import KafkaTarget
from ivm.errors import NotIndexed
from ivm.results import Installed
from views.catalog import View
from views.compile import CompiledView

log = structlog.get_logger()


class Views:
    """The declared views, as the registry, the pool and the sinks hold them.

    `are_temporal` says whether one of them changes as time passes.
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

    def miscounted(self, name: str) -> int:
        """The number of keys whose rows do not add up, in the tables that a view reads."""
        miscounts = self._parts.applier.feeder.miscounts
        if not miscounts.faults:
            return 0
        return sum(map(miscounts.count, self._parts.registry.catalog.tables_under(name)))

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

    def put(
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
        with self._admission.change():
            known = self._parts.registry.view(name)
            if known is not None:
                self._refuse_other(known, (query, language, lookups), key, target)
                return None
            compiled = self._compiler.compile(query, language, key)
            for read in compiled.dependencies:
                self.refuse_failed(read)
            self._compiler.refuse_product(compiled)
            self._compiler.refuse_rounds(compiled)
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
            installed = self._install(view, compiled, target)
            log.info("view installed", view=name, created=installed.created)
            return installed

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
            output = _output(view, compiled, parts.registry.targets.get(name))
            if compiled.temporal:
                parts.pipeline.tick()
            installed = parts.applier.retry(output, compiled.node, lookups=view.lookups)
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
            self._parts.applier.drop(name)
            self._temporal.discard(name)
        self._restoration.wake()

    def restore(self) -> None:
        """Bring the views back over their tables, and forget those never acknowledged.

        Raises as `Restoration.restore`.
        """
        with self._admission.lock:
            views = tuple(self.all())
            for name in self._parts.sink.published.keys() - {view.name for view in views}:
                self._parts.applier.forget(name)
        self._restoration.restore(views, self._restore)

    def _restore(self, view: View) -> None:
        with self._admission.lock:
            registry = self._parts.registry
            if registry.view(view.name) is not view:
                return
            compiled = self._compiler.seen(view, registry.catalog)
            output = _output(view, compiled, registry.targets.get(view.name))
            applier = self._parts.applier
            for read in compiled.dependencies:
                if read in applier.failed:
                    applier.fail_reader(view.name, read)
            applier.restore(output, compiled.node, lookups=view.lookups)
            if compiled.temporal:
                self._temporal.add(view.name)

    def _install(self, view: View, compiled: CompiledView, target: KafkaTarget | None) -> Installed:
        """Install, publish and register a new view; nothing of it is there if that raises."""
        parts = self._parts
        output = _output(view, compiled, target)
        self._check_target(output)
        if compiled.temporal:
            parts.pipeline.tick()
        installed = parts.applier.install(output, compiled.node, lookups=view.lookups)
        try:
            parts.registry.add_view(view, target)
        except BaseException:
            parts.applier.drop(view.name)
            raise
        if compiled.temporal:
            self._temporal.add(view.name)
        return installed

    def _refuse_other(
        self,
        known: View,
        given: tuple[str, str, bool],
        key: Sequence[str] | None,
        target: KafkaTarget | None,
    ) -> None:
        """See that a view of a known name is the known one (raises DifferentDefinition)."""
        same = given == (known.query, known.language, known.lookups)
        same = same and self._parts.registry.targets.get(known.name) == target
        if not same or (key is not None and tuple(key) != known.key):
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
            if (spec.connection, spec.topic) == (output.target.connection, output.target.topic):
                raise InvalidSink(
                    f"topic {spec.topic!r} is read by source {spec.name!r}; choose another"
                )
        if faults := self._parts.kafka.faults():
            raise BrokerFault("; ".join(fault.detail for fault in faults))


def _output(view: View, compiled: CompiledView, target: KafkaTarget | None) -> Output:
    definition = [view.query, view.language, view.key, view.schema.to_string(), target]
    plan = blake2b(orjson.dumps(definition), digest_size=16).hexdigest()
    return Output(view.name, view.schema, view.key, compiled.is_unique, plan, target)
