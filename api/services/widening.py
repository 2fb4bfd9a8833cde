"""Changes the columns of a source in place: adds, widens or drops them, and the views go on.

Between two batches, at a time of its own, the source's input is made anew with all its rows, and so
are the views over it. A view that selects `*` keeps its columns; one that reads a widened column
may have wider ones, and one that reads a column keeps it from being dropped.
"""

from collections.abc import Callable
from contextlib import ExitStack

import structlog

from api.errors import DifferentDefinition, RegistryNotWritten
from api.registry import Registry
from connectors.ingest.alter import Remade
from connectors.ingest.apply import Applier
from connectors.ingest.pipeline import Pipeline
from connectors.progress.batches import TimedBatch
from connectors.tables.spec import TableSpec
from connectors.tables.widen import since
from views.catalog import Catalog, Table, View
from views.compile import CompiledView
from views.errors import SqlError, StillUsed
from views.reads import columns_read

log = structlog.get_logger()


def widen(
    found: TableSpec,
    registry: Registry,
    applier: Applier,
    pipeline: Pipeline,
    compiled: Callable[[View, Catalog], CompiledView],
) -> None:
    """Let a source be as `found`; `compiled` compiles a view in a catalog.

    Without other columns, only what comes is read otherwise. Raises ReplayUnderWay, StillUsed,
    DifferentDefinition, RegistryNotWritten, and PipelineFailed: then a restart is needed.
    """
    known = registry.sources[found.name]
    _refuse_used(known, found, registry)
    catalog = Catalog(registry.catalog.tables, registry.catalog.views)
    catalog.alter(Table(found.name, found.schema, found.key))
    is_retyped = any(f not in known.schema for f in found.schema if f.name in known.schema.names)
    views = [
        _remade(view, registry, catalog, compiled, is_retyped=is_retyped)
        for view in catalog.readers(found.name)
    ]
    refused: list[RegistryNotWritten] = []

    def apply(batch: TimedBatch) -> TableSpec | None:
        spec = since(known, found, batch.offsets.of_table(found.name))
        with ExitStack() as stack:
            try:
                stack.enter_context(registry.altering_source(spec, catalog, batch.time))
            except RegistryNotWritten as error:  # nothing has changed yet
                refused.append(error)
                return None
            if known.schema != found.schema:
                applier.alter(batch, spec, views)
        return spec

    if not pipeline.alter_table(found.name, apply):
        raise refused[0]
    log.info("source altered", source=found.name, columns=found.schema.names)


def _refuse_used(known: TableSpec, found: TableSpec, registry: Registry) -> None:
    """See that no view reads a column that is no more (raises StillUsed)."""
    dropped = set(known.schema.names) - set(found.schema.names)
    catalog = registry.catalog
    readers = [catalog[name] for name in catalog.dependents(found.name)] if dropped else []
    uses = {
        view.name: sorted(dropped & columns_read(view, found.name, catalog.seen_by(view)))
        for view in readers
        if isinstance(view, View)
    }
    if told := [
        f"{name!r} reads {', '.join(columns)}" for name, columns in uses.items() if columns
    ]:
        raise StillUsed(
            f"columns of source {found.name!r} are dropped when no view reads them: view "
            f"{'; view '.join(told)}; drop those views first, or declare the columns still"
        )


def _remade(
    view: View,
    registry: Registry,
    catalog: Catalog,
    compiled: Callable[[View, Catalog], CompiledView],
    *,
    is_retyped: bool,
) -> Remade:
    """The view over the altered source, noted in `catalog` (raises DifferentDefinition)."""
    try:
        now = compiled(view, catalog)
    except SqlError as error:
        raise DifferentDefinition(
            f"view {view.name!r} does not go with these columns: {error}; drop it first"
        ) from error
    if is_retyped and not view.lookups:
        raise DifferentDefinition(
            f"view {view.name!r} was declared with lookups: false, so that the rows that wider "
            "columns change cannot be told; drop it first"
        )
    if now.schema != view.schema:
        if now.schema.names != view.schema.names:
            raise DifferentDefinition(f"view {view.name!r} would have other columns; drop it first")
        if view.name in registry.targets:
            raise DifferentDefinition(
                f"view {view.name!r} would have columns of wider types, which its topic "
                f"{registry.targets[view.name].topic!r} does not have; drop it first, or cast them"
            )
        catalog.retype(view.name, now.schema)
    key = view.key if view.lookups else None
    return Remade(view.name, now.node, key, compares=is_retyped)
