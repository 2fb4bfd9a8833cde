"""The panel of a view's rows: the first page, or those with given values of its key."""

from dataclasses import dataclass
from typing import Any

from nicegui import ui
from starlette.concurrency import run_in_threadpool

from api.console.access import Access
from api.console.frame import noticed
from api.console.tables import plain_table, put, shown
from api.filters import values_of
from api.pages import matching, page
from api.runtime import Runtime
from ivm.errors import NotIndexed
from views.catalog import View

MOST_ROWS = 100
# A view of more rows is read whole only where that is asked for.
MOST_AT_SIGHT = 100_000
NONE_RESERVED: frozenset[str] = frozenset()


class RowsPanel:
    """The rows of one view; all are read only where it is asked for, as REST's `scan` does."""

    def __init__(self, access: Access, view: View) -> None:
        self._access = access
        self._view = view
        with ui.row().classes("items-center"):
            self._inputs = {
                column: ui.input(column).props("dense clearable").on("keydown.enter", self.refresh)
                for column in view.key
            }
            ui.button("Look up", on_click=self.refresh)
            self._told = ui.label()
        self._table = plain_table(view.schema.names)
        ui.timer(0, self._begin, once=True)

    async def _begin(self) -> None:
        """Read the rows, unless there are many."""
        if await run_in_threadpool(_updates, self._access.runtime, self._view) > MOST_AT_SIGHT:
            self._told.set_text("there are many rows: Look up without a value reads them all")
        else:
            await self.refresh()

    async def refresh(self) -> None:
        """Read the rows."""
        given = [(f"filter[{c}]", i.value) for c, i in self._inputs.items() if i.value]
        with noticed():
            view = self._access.runtime.views.looked_up(self._view.name)
            values = values_of(given, view, NONE_RESERVED)
            found = await self._access.large.make(_found, self._access.runtime, view, values)
            some = f"the first {len(found.rows):,} of " if len(found.rows) < found.total else ""
            self._told.set_text(f"{some}{found.total:,} rows as of time {found.time:,}")
            put(self._table, shown(found.rows))


@dataclass(frozen=True, slots=True)
class Found:
    """The first of `total` rows as of a time."""

    rows: list[dict[str, Any]]
    total: int
    time: int


def _updates(runtime: Runtime, view: View) -> int:
    """The updates that are held under a view's key: as many as rows, or more."""
    own = f"{view.name}[{', '.join(view.key)}]"
    return sum(info.records for info in runtime.pool.arrangements() if info.name == own)


def _found(runtime: Runtime, view: View, values: dict[str, Any]) -> Found:
    """The first rows with these values, by an index where there is one of exactly these columns."""
    try:
        snapshot = runtime.pool.peek(view.name, values)
    except NotIndexed:
        snapshot = runtime.pool.scan(view.name)
    there = matching(snapshot, values)
    total = sum(there.counts.tolist())
    return Found(page(there, view.key, MOST_ROWS, None).rows[:MOST_ROWS], total, snapshot.time or 0)
