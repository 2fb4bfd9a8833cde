"""Sources: declares, changes and drops the tables whose changes stand in topics."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Literal

from api.errors import DifferentDefinition, unknown
from api.services.admission import Admission
from api.services.compiler import Compiler
from api.services.parts import Parts
from api.services.readiness import Readiness
from api.services.widening import widen
from api.streams import streams
from connectors.errors import InvalidTable
from connectors.ingest.feed import declare_input
from connectors.offsets import Offsets
from connectors.tables.spec import TableSpec
from connectors.tables.validate import reads
from connectors.tables.widen import altered, ordered
from ivm.errors import PoolFailed
from views.errors import NameTaken, StillUsed


class Sources:
    """The declared sources, as the registry, the pool, the journal and the pipeline hold them."""

    def __init__(
        self, parts: Parts, admission: Admission, readiness: Readiness, compiler: Compiler
    ) -> None:
        self._parts = parts
        self._admission = admission
        self._readiness = readiness
        self._compiler = compiler
        self._reads = False

    def start(self) -> None:
        """Let the pipeline read them."""
        with self._admission.lock:
            self._parts.pipeline.start(self.all())
            self._reads = True

    def all(self) -> Sequence[TableSpec]:
        """All sources, in the order they were declared."""
        return tuple(self._parts.registry.sources.values())

    def get(self, name: str) -> TableSpec:
        """The source of this name (raises UnknownName)."""
        spec = self._parts.registry.sources.get(name)
        if spec is None:
            raise unknown("source", name, self._parts.registry.sources)
        return spec

    def put(self, spec: TableSpec) -> bool:
        """Declare a source; False if it is there already.

        Raises DifferentDefinition, InvalidTable for a topic that is a view's, and what
        `Pipeline.preflight` raises.
        What a bad record does may change. Nullable columns may be added, others widened, and
        dropped where no view reads them. What the source has stalled is tried again.
        """
        if spec.name in self._parts.registry.sources:
            with self._admission.mending():
                if self._altered(spec) is None and self._is_put(spec):
                    return False
        with self._admission.change():
            if self._is_put(spec) or self._is_altered(spec):
                return False
            self._check(spec)
            self._declare(spec)
            return True

    def would_put(self, spec: TableSpec) -> Literal["create", "alter", "nothing"]:
        """The effect that `put` would have (raises as that, but for what its topic lets fail)."""
        with self._admission.change():
            known = self._parts.registry.sources.get(spec.name)
            if known is None:
                if spec.name in self._parts.registry.catalog:
                    raise NameTaken(f"a table or view {spec.name!r} exists already")
                self._check(spec)
                self._parts.pipeline.preflight(spec)
                return "create"
            if self._altered(spec) is not None:
                return "alter"
            return "nothing" if self._expect_same(known, spec) == known else "alter"

    def drop(self, name: str) -> None:
        """Forget a source (raises UnknownName, StillUsed, NotReady).

        Its topic stays, unless the service wrote it. A start that it has stalled goes on.
        """
        parts = self._parts
        with self._admission.mending():
            spec = self.get(name)
            self._refuse_other_readers(spec)
            with parts.registry.dropping_source(name):
                if self._reads:
                    parts.pipeline.remove_table(name)
            parts.meter.forget(name)
            with parts.applier.lock:
                parts.applier.feeder.forget(name)
                parts.applier.forget_source(name)
                if name in parts.pool.names:
                    with suppress(PoolFailed):  # then it serves readers alone, until the restart
                        parts.pool.drop_input(name)
            if spec.is_written:
                parts.writes.drop(spec)

    def _is_put(self, spec: TableSpec) -> bool:
        """Whether a source is there already, as it is to be (raises DifferentDefinition)."""
        known = self._parts.registry.sources.get(spec.name)
        if known is None or self._altered(spec) is not None:
            return False
        spec = self._expect_same(known, spec)
        if known != spec:
            self._set_on_error(spec)
        elif self._reads:
            self._parts.pipeline.retry(spec.name)
        return True

    def _expect_same(self, known: TableSpec, spec: TableSpec) -> TableSpec:
        """See that a declaration changes no more than `on_error` (raises DifferentDefinition).

        It has its columns in the order of the known one, where columns were added.
        """
        if known.formerly:
            spec = ordered(known, spec)
        if known != replace(spec, on_error=known.on_error):
            raise DifferentDefinition(
                f"source {spec.name!r} is declared otherwise; delete it first, or choose another "
                "name"
            )
        return spec

    def _altered(self, spec: TableSpec) -> TableSpec | None:
        """A source that is there, with the columns of `spec`, if others (raises InvalidTable)."""
        known = self._parts.registry.sources.get(spec.name)
        return altered(known, spec) if known is not None else None

    def _is_altered(self, spec: TableSpec) -> bool:
        """Whether `spec` changes the columns of a source that is there; now it has them.

        Raises as `widen`, StillUsed while a replacement waits that needs its views, and BrokerFault
        where the views could not be published.
        """
        found = self._altered(spec)
        if found is None:
            return False
        parts = self._parts
        readers = parts.registry.catalog.readers(found.name)
        parts.registry.refuse_needed([found.name, *(view.name for view in readers)])
        parts.applier.expect_answers()
        self._readiness.altering = frozenset(view.name for view in readers)
        try:
            widen(
                found,
                parts.registry,
                parts.applier,
                parts.pipeline,
                self._compiler.seen,
            )
        finally:
            self._readiness.altering = frozenset()
        return self._is_put(spec)

    def _set_on_error(self, spec: TableSpec) -> None:
        self._parts.registry.replace_source(spec)
        if self._reads:
            self._parts.pipeline.set_on_error(spec.name, spec.on_error)

    def _check(self, spec: TableSpec) -> None:
        """See that a new source can be read (raises InvalidTable)."""
        self._refuse_other_connection(spec)
        self._refuse_own(spec)
        self._parts.letters.check(spec)
        if not spec.is_remote and self._parts.sink.owns(spec.topic):
            raise InvalidTable(
                f"topic {spec.topic!r} is a view's: opening or dropping that view would empty "
                "it. Choose another topic"
            )

    def _refuse_other_readers(self, spec: TableSpec) -> None:
        """The topic of posted rows goes with its source (raises StillUsed)."""
        others = [o.name for o in self.all() if o.topic == spec.topic and o.name != spec.name]
        if spec.is_written and others:
            raise StillUsed(
                f"topic {spec.topic!r} goes with its source {spec.name!r}, and is read by "
                f"{', '.join(others)} too; drop that first"
            )

    def _refuse_other_connection(self, spec: TableSpec) -> None:
        """Offsets are told by topic too, so one name is one topic (raises InvalidTable)."""
        others = [other for other in self.all() if other.connection != spec.connection]
        for other in others:
            for topic in {spec.topic, other.topic} - {""}:
                if reads(spec, topic) and reads(other, topic):
                    raise InvalidTable(
                        f"table {spec.name!r}: connection: source {other.name!r} reads a topic "
                        f"{topic!r} on another connection; a topic's name can be read on one only"
                    )

    def _refuse_own(self, spec: TableSpec) -> None:
        """See that no pattern matches what the service writes itself (raises InvalidTable)."""
        parts = self._parts
        written = {
            target.topic: f"view {view!r} is published"
            for view, target in parts.registry.targets.items()
            if target.connection == spec.connection
        }
        for other in self.all():
            if other.dead_letter is not None and other.dead_letter.connection == spec.connection:
                written[other.dead_letter.topic] = f"bad records of source {other.name!r} go"
        for topic, told in written.items() if spec.topic_pattern is not None else ():
            if reads(spec, topic):
                raise InvalidTable(
                    f"table {spec.name!r}: topic_pattern: it matches {topic!r}, to which {told}; "
                    "let it match no topic that the service writes"
                )

    def _declare(self, spec: TableSpec) -> None:
        """Make it an input of the pool, an entry of registry and journal, and read its topic."""
        parts = self._parts
        beginnings = parts.pipeline.preflight(spec)
        if spec.is_written:
            parts.writes.create(spec)
        held = parts.pipeline.held(spec, beginnings)
        declare_input(parts.pool, spec)
        try:
            with parts.registry.adding_source(spec):
                for stream, ends in held.items():
                    parts.journal.declare_table(stream, ends)
                parts.pipeline.add_table(spec, beginnings)
        except BaseException:
            parts.pool.drop_input(spec.name)
            raise
        for stream, topic in streams({spec.name: spec}, parts.journal.tables).items():
            begun = beginnings[stream].offsets if stream in beginnings else {}
            parts.applier.declare(Offsets.of_source(stream, topic, begun))
