"""The pool as checkpoints see it: `Tables` are restored into it, and `cut` takes them out of it."""

from collections.abc import Iterable, Mapping

from connectors.checkpoint.files import Rows
from connectors.checkpoint.writer import Cut, TableCut
from connectors.ingest.apply import Applier
from connectors.ingest.feed import declare_input
from connectors.progress.journal import Journal
from connectors.streams import table_of
from connectors.tables.spec import TableSpec
from ivm.cluster.pool import AnyPool


class Tables:
    """The tables of a pool at its beginning, into which a checkpoint is restored."""

    def __init__(self, pool: AnyPool, specs: Iterable[TableSpec]) -> None:
        self._pool = pool
        self._specs = {spec.name: spec for spec in specs}
        self._begun = False

    def begin(self) -> None:
        """Declare all tables, empty, and forget all rows that were fed before."""
        for spec in self._specs.values():
            if self._begun:
                self._pool.drop_input(spec.name)
            declare_input(self._pool, spec)
        self._begun = True

    def feed(self, table: str, rows: Rows, time: int) -> None:
        """Add rows of a declared table."""
        self._pool.feed(table, *rows, time)


def cut(applier: Applier, journal: Journal, specs: Mapping[str, TableSpec]) -> Cut | None:
    """The tables of the pool as of the last time published; None if it is not complete.

    Call it while neither tables nor views change, and no batch is applied.
    """
    pool = applier.pool
    time, _ = applier.reflected
    if not time == pool.frontier - 1 == journal.committed_time:
        return None
    positions = journal.positions_at(time)
    tables = [
        TableCut(
            spec,
            journal.epoch(name),
            {at: end for at, end in positions.items() if table_of(at[0]) == name},
            applier.feeder.duplicates.to_json(name),
            list(pool.batches(name)),
            applier.feeder.miscounts.to_json(name),
        )
        for name, spec in specs.items()
    ]
    return Cut(
        journal.identity,
        time,
        applier.clock.moment,
        dict(journal.published),
        tuple(tables),
    )
