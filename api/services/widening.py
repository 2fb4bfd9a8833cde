"""Adds columns, or units, to a source in place: rows get NULL, and the views that read it go on.

Between two batches, at a time of its own, the source's input is made anew with all its rows, and so
are the views over it, each as it was compiled before: a view that selects `*` keeps its columns.
"""

from collections.abc import Callable
from contextlib import ExitStack

import structlog

from api.errors import RegistryNotWritten
from api.registry import Registry
from connectors.ingest.apply import Applier
from connectors.ingest.pipeline import Pipeline
from connectors.progress.batches import TimedBatch
from connectors.tables.spec import TableSpec
from connectors.tables.widen import since
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
    """Let a source be as `found`, which has more; `node_of` compiles a view in a catalog.

    Without new columns, only what comes is read otherwise. Raises ReplayUnderWay,
    RegistryNotWritten, and PipelineFailed: then a restart is needed.
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
        spec = since(known, found, batch.offsets.ends(found.name))
        with ExitStack() as stack:
            try:
                stack.enter_context(registry.widening_source(spec))
            except RegistryNotWritten as error:  # nothing has changed yet
                refused.append(error)
                return None
            if new:
                applier.alter(batch, spec, views)
        return spec

    if not pipeline.alter_table(found.name, apply):
        raise refused[0]
    log.info("source altered", source=found.name, columns=new)
