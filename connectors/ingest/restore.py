"""What a start brings back: the tables out of a checkpoint, and the views over them.

`Tables` is the pool as checkpoints see it, and `cut` what they take out of it. `Views` restores
views one after another. One that is at fault keeps the service from being ready, since times that
are published without it would be lost to its topics; dropping it lets the start go on.
"""

import threading
from collections.abc import Callable, Iterable, Mapping

from api.errors import NotReady
from connectors.checkpoint.files import Rows
from connectors.checkpoint.writer import Cut, TableCut
from connectors.errors import SinkFenced, Unavailable
from connectors.health import PartFault
from connectors.ingest.apply import Applier
from connectors.progress.journal import Journal
from connectors.tables.spec import TableSpec
from ivm.errors import IvmError, PoolFailed
from ivm.pool import Pool
from views.catalog import View

# How long to wait before a view is tried again whose sink is away, in seconds: at first, at most.
_FIRST_WAIT, _LONGEST_WAIT = 0.1, 3.0


class Tables:
    """The tables of a pool at its beginning, into which a checkpoint is restored."""

    def __init__(self, pool: Pool, specs: Iterable[TableSpec]) -> None:
        self._pool = pool
        self._specs = list(specs)
        self._begun = False

    def begin(self) -> None:
        """Declare all tables, empty, whatever was fed before."""
        for spec in self._specs:
            if self._begun:
                self._pool.drop_input(spec.name)
            self._pool.create_input(spec.name, spec.schema, spec.key or spec.schema.names)
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
            {p: end for (table, p), end in positions.items() if table == name},
            applier.feeder.duplicates.to_json(name),
            list(pool.batches(name)),
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


class Views:
    """Restores views, each tried until it is there or was dropped; `fault` tells of the one.

    What is unavailable, as a broker, is asked again; any other fault waits for the view to be
    dropped.
    """

    def __init__(
        self,
        changing: threading.Lock,
        is_declared: Callable[[View], bool],
        restore: Callable[[View], None],
    ) -> None:
        """`changing` is held while `restore` is at work, and not while its result is waited for."""
        self.fault: PartFault | None = None
        self._changing = changing
        self._is_declared = is_declared
        self._restore = restore
        self._woken = threading.Event()
        self._interrupted = False

    def restore(self, views: Iterable[View]) -> None:
        """Restore them in this order.

        Raises NotReady when it is interrupted, and what concerns more than a view: SinkFenced,
        PoolFailed.
        """
        for view in views:
            wait = _FIRST_WAIT
            while (error := self._attempt(view)) is not None:
                self.fault = _told(view, error)
                self._woken.wait(wait if isinstance(error, Unavailable) else None)
                if self._interrupted:
                    raise NotReady("stopped amid the start")
                wait = min(2 * wait, _LONGEST_WAIT)
            self.fault = None

    def wake(self) -> None:
        """Look again: a view was dropped."""
        self._woken.set()

    def interrupt(self) -> None:
        """Let `restore` end."""
        self._interrupted = True
        self._woken.set()

    def _attempt(self, view: View) -> IvmError | None:
        """Restore a view unless it was dropped; why it cannot be."""
        self._woken.clear()
        with self._changing:
            if not self._is_declared(view):
                return None
            try:
                self._restore(view)
            except (SinkFenced, PoolFailed):
                raise
            except IvmError as error:
                return error
        return None


def _told(view: View, error: IvmError) -> PartFault:
    setting = error.setting if isinstance(error, Unavailable) else None
    return PartFault(
        f"view {view.name}",
        setting,
        f"view {view.name!r} cannot be restored: {error.code}: {error}; DELETE /v1/views/"
        f"{view.name} drops it, and the start goes on",
    )
