"""Adds columns to a source in place: its rows get NULL there, and the views that read it go on.

Between two batches, at a time of its own, the source's input is made anew with all its rows, and so
are the views over it, each as it was compiled before: a view that selects `*` keeps its columns.
"""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace

import structlog

from api.errors import RegistryNotWritten
from api.registry import Registry
from connectors.ingest.apply import Applier
from connectors.ingest.pipeline import Pipeline
from connectors.progress.batches import TimedBatch
from connectors.tables.spec import TableSpec
from ivm.dataflow.nodes import Node
from views.catalog import Catalog, Table, View

log = structlog.get_logger()


def widen(
    found: TableSpec,
    registry: Registry,
    applier: Applier,
    pipeline: Pipeline,
    node_of: Callable[[View, Catalog], Node],
) -> None:
    """Let a source be as `found`, which has more columns; `node_of` compiles a view in a catalog.

    Raises ReplayUnderWay, RegistryNotWritten, and PipelineFailed: then a restart is needed.
    """
    known = registry.sources[found.name]
    new = [name for name in found.schema.names if name not in known.schema.names]
    catalog = Catalog(registry.catalog.tables, registry.catalog.views)
    catalog.widen(Table(found.name, found.schema, found.key))
    views = [
        (view.name, node_of(view, catalog), view.key if view.lookups else None)
        for view in catalog.readers(found.name)
    ]
    refused: list[RegistryNotWritten] = []

    def apply(batch: TimedBatch) -> TableSpec | None:
        spec = replace(found, added={**found.added, **dict.fromkeys(new, batch.time)})
        with ExitStack() as stack:
            try:
                stack.enter_context(registry.widening_source(spec))
            except RegistryNotWritten as error:  # nothing has changed yet
                refused.append(error)
                return None
            applier.alter(batch, spec, views)
        return spec

    if not pipeline.alter_table(found.name, apply):
        raise refused[0]
    log.info("columns added", source=found.name, columns=new)
