"""Checkpoints of the tables: a start begins from the newest one, and the service takes new ones."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext

import structlog

from api.services.admission import Admission
from api.services.parts import Parts
from api.streams import streams
from connectors.checkpoint.periodic import CheckpointCounts, Checkpoints
from connectors.checkpoint.restore import Restored, restore
from connectors.checkpoint.store import open_store
from connectors.checkpoint.writer import CheckpointWriter, Cut
from connectors.ingest.restore import Tables, cut
from connectors.offsets import offsets_of
from connectors.tables.table import Table

log = structlog.get_logger()


class TableCheckpoints:
    """The checkpoints of one data directory; `restore` comes before all else."""

    def __init__(self, parts: Parts, admission: Admission) -> None:
        self._parts = parts
        self._admission = admission
        self._periodic: Checkpoints | None = None

    @property
    def counts(self) -> CheckpointCounts:
        """Counts of the checkpoints that were written, and of those that failed."""
        return self._periodic.counts if self._periodic is not None else CheckpointCounts()

    def restore(self) -> None:
        """Declare the tables as the newest checkpoint that can be used has them.

        Raises CheckpointRefused, InvalidStore.
        """
        with self._admission.lock:
            parts, settings = self._parts, self._parts.settings
            sources = parts.registry.sources
            store = open_store(settings.checkpoints_place)
            tables = Tables(parts.pool, sources.values())
            restored = restore(store, parts.journal, sources, tables)
            for fault in restored.faults:
                log.error("a checkpoint was passed over", fault=fault)
            writer = CheckpointWriter(store, settings.checkpoints_kept, restored.kept)
            self._begin(restored, writer)
            self._periodic = Checkpoints(
                writer,
                parts.journal,
                self._cut,
                lambda: parts.meter.records,
                settings.checkpoint_seconds,
                settings.checkpoint_records,
                # With what a stalled source has in a checkpoint, a start needs none of its topic.
                lambda: frozenset(parts.pipeline.stalled) or None,
            )

    def start(self) -> None:
        """Take checkpoints from now on, each when it is due."""
        if self._periodic is not None:
            self._periodic.start()

    def stop(self) -> None:
        """Take no more; one under way is given up."""
        if self._periodic is not None:
            self._periodic.stop()

    def take(self) -> bool:
        """Write a checkpoint now, if there is anything to write; whether it was written."""
        return self._periodic is not None and self._periodic.take()

    def paused(self) -> AbstractContextManager[object]:
        """Write none, and remove none, for as long as the context lasts."""
        return self._periodic.paused() if self._periodic is not None else nullcontext()

    def _begin(self, restored: Restored, writer: CheckpointWriter) -> None:
        """Let the applier go on after what was restored, and the writer after its files."""
        parts = self._parts
        topics = streams(parts.registry.sources, parts.journal.tables)
        offsets = offsets_of(topics, self._positions(topics))
        if (manifest := restored.manifest) is None:
            parts.applier.begin(0, 0, offsets)
            return
        parts.applier.begin(manifest.time, manifest.moment, offsets)
        for table in restored.tables:
            spec = parts.registry.sources[table.name]
            if table.schema == spec.schema:
                writer.stands_for(table.files, parts.pool.batches(table.name))
            parts.applier.feeder.duplicates.restore(table.name, table.seen)
            known = Table.of(spec)
            parts.applier.feeder.miscounts.restore(known, table.miscounted)
        parts.applier.feeder.check()
        log.info("restored", time=manifest.time, rows=sum(f.rows for f in manifest.files()))

    def _positions(self, topics: Mapping[str, str]) -> dict[tuple[str, int], int]:
        """The positions at which the replay begins, of sources whose topics are the same now."""
        journal = self._parts.journal
        positions, known = journal.positions_at(journal.start), journal.tables
        return {at: end for at, end in positions.items() if known.get(at[0]) == topics.get(at[0])}

    def _cut(self) -> Cut | None:
        """The cut that the next checkpoint holds; None if the last one has it."""
        parts = self._parts
        with self._admission.lock, parts.applier.lock:
            known = max(parts.journal.start, self.counts.time)
            if parts.pipeline.status().state == "failed" or parts.pool.frontier - 1 <= known:
                return None
            return cut(parts.applier, parts.journal, parts.registry.sources)
