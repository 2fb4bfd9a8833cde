"""Plans replacements: compiles what a view, and all that read it, will be, and refuses what breaks.

A view over one that is replaced goes on with its own definition, its columns and its key. So it is
compiled once more, over the replaced one; where that fails, or would change its columns, the
replacement is refused.
"""

from dataclasses import replace

import pyarrow as pa

from api.errors import ReplacementRefused
from api.registry import Pending
from api.services.compiler import Compiler
from api.services.definition import Definition
from api.services.outputs import output_of
from api.services.parts import Parts
from api.services.views import Views
from connectors.ingest.successors import Successor, name_of
from connectors.sinks.sink import Output
from connectors.sinks.target import KafkaTarget
from ivm.dataflow.nodes import Get, Negate, Node, Union
from ivm.dataflow.traversal import reads, renamed
from views.catalog import Catalog, View
from views.compile import CompiledView
from views.errors import SqlError, StillUsed
from views.lowering.temporal_filter import CLOCK


class Planner:
    """Compiles replacements over the catalog as it is at the call."""

    def __init__(self, parts: Parts, compiler: Compiler, views: Views) -> None:
        self._parts = parts
        self._compiler = compiler
        self._views = views

    def view(self, known: View, definition: Definition) -> tuple[View, CompiledView]:
        """A view with another definition (raises a kind of SqlError, ReplacementRefused)."""
        compiled = self._compiler.compile(definition.query, definition.language, definition.key)
        catalog = self._parts.registry.catalog
        own = {view.name for view in catalog.readers(known.name)}
        if circle := sorted(own.intersection(compiled.dependencies)):
            raise ReplacementRefused(
                f"view {known.name!r} would read {circle[0]!r}, and so itself; read what that reads"
            )
        view = View(
            known.name,
            definition.query,
            definition.language,
            compiled.schema,
            compiled.key,
            compiled.dependencies,
            known.lookups,
            compiled.is_unique,
        )
        return view, compiled

    def views(self, view: View, compiled: CompiledView) -> tuple[View, ...]:
        """The view, and those that read it, as they will be; each after those that it reads.

        Raises ReplacementRefused, ViewFailed, CartesianProduct, LimitTooHigh.
        """
        for read in compiled.dependencies:
            self._views.refuse_failed(read)
        self._compiler.refuse_product(compiled)
        self._compiler.refuse_rounds(compiled)
        known = self._parts.registry.catalog
        _, *readers = known.readers(view.name)  # the first is the view itself
        made = [view]
        for index, reader in enumerate(readers):
            catalog = Catalog(known.tables, known.views)
            catalog.redefine([*made, *readers[index:]])
            made.append(self._reader(view.name, reader, catalog))
        return tuple(made)

    def _reader(self, name: str, reader: View, catalog: Catalog) -> View:
        self._views.refuse_failed(reader.name)
        try:
            compiled = self._compiler.seen(reader, catalog)
        except SqlError as error:
            raise ReplacementRefused(
                f"view {reader.name!r} reads {name!r}, and could not any more: {error.message}. "
                f"Keep the columns that it reads, or drop {reader.name!r} first"
            ) from error
        if _columns(compiled.schema) != _columns(reader.schema):
            raise ReplacementRefused(
                f"view {reader.name!r} reads {name!r}, and would have other columns: "
                f"{_told(compiled.schema)} in the stead of {_told(reader.schema)}. Keep those that "
                f"it reads, let it name its columns, or drop {reader.name!r} first"
            )
        return replace(reader, schema=compiled.schema, is_unique=compiled.is_unique)

    def refuse_concerned(self, pending: Pending) -> None:
        """See that no other replacement concerns what this one does (raises StillUsed)."""
        for name, other in self._parts.registry.replacements.items():
            mine, others = pending.names | pending.reads, other.names | other.reads
            if name != pending.view.name and (other.names & mine or pending.names & others):
                raise StillUsed(
                    f"the replacement of view {name!r} concerns what this one does; approve or "
                    f"discard that first (POST /v1/views/{name}/approve, /v1/views/{name}/discard)"
                )

    def check(self, pending: Pending) -> None:
        """See that the views can go where they go (raises KeyNotUnique, ReplacementRefused)."""
        known = self._parts.registry.catalog
        for view in pending.views:
            target = self._parts.registry.targets.get(view.name)
            self._output(view, known).check()
            former = known[view.name]
            assert isinstance(former, View)
            if not view.lookups and not _keeps_form(former, view, target):
                raise ReplacementRefused(
                    f"view {view.name!r} keeps no rows (lookups: false), and those of other "
                    "columns could not be taken back; delete it and put it anew"
                )

    def successors(self, pending: Pending) -> tuple[Successor, ...]:
        """The dataflows that are to take the views' places (raises a kind of SqlError)."""
        known = self._parts.registry.catalog
        catalog = Catalog(known.tables, known.views)
        catalog.redefine(pending.views)
        return tuple(self._successor(view, pending, catalog) for view in pending.views)

    def _successor(self, view: View, pending: Pending, catalog: Catalog) -> Successor:
        known = self._parts.registry.catalog
        former = known[view.name]
        assert isinstance(former, View)
        target = self._parts.registry.targets.get(view.name)
        names = {name: name_of(name) for name in pending.names}
        node = renamed(self._compiler.seen(view, catalog).node, names)
        difference: Node | None = None
        if _keeps_form(former, view, target):
            later: Node = Get(name_of(view.name), view.schema) if view.lookups else node
            earlier: Node = Get(view.name, former.schema)
            if not view.lookups:
                earlier = self._compiler.seen(former, known).node
            difference = Union((later, Negate(earlier)))
        return Successor(self._output(view, catalog), node, view.lookups, difference)

    def _output(self, view: View, catalog: Catalog) -> Output:
        registry = self._parts.registry
        target, published = registry.targets.get(view.name), registry.published_as(view.name)
        return output_of(view, target, published, catalog)

    @staticmethod
    def is_temporal(successor: Successor) -> bool:
        """Whether it changes as time passes."""
        return CLOCK.name in reads(successor.node)


def _keeps_form(former: View, later: View, target: KafkaTarget | None) -> bool:
    """Whether rows of both definitions can be told in the same form, one taking back another."""
    if _columns(former.schema) != _columns(later.schema):
        return False
    if target is None:
        return True
    exact = not target.is_typed or former.schema.equals(later.schema)
    return exact and (former.key, former.is_unique) == (later.key, later.is_unique)


def _columns(schema: pa.Schema) -> list[tuple[str, pa.DataType]]:
    return [(field.name, field.type) for field in schema]


def _told(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} {field.type}" for field in schema)
