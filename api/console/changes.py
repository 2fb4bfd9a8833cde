"""The panel of a view's live changes: rows that come in green, rows that go in red."""

from typing import Any

from nicegui import ui
from starlette.concurrency import run_in_threadpool

from api.console.access import Access
from api.console.tables import OWN, plain_table, put, shown
from api.console.tail import Tail

LOOK_SECONDS = 1.0
TIME, DIFF, CLASS = f"{OWN}time", f"{OWN}diff", f"{OWN}class"
ROW = """<q-tr :props="props" :class="props.row['\\0class']">
<q-td v-for="col in props.cols" :key="col.name" :props="props">{{ col.value }}</q-td></q-tr>"""


def _row(change: dict[str, Any]) -> dict[str, Any]:
    diff = change["diff"]
    kind = "gone" if diff < 0 else "come"
    return {TIME: change["time"], DIFF: f"{diff:+,}", CLASS: kind, **change["row"]}


class Changes:
    """The panel; it begins with what comes after it was opened."""

    def __init__(self, access: Access, name: str) -> None:
        self._tail = Tail(access.runtime, name)
        view = access.runtime.views.get(name)
        with ui.row().classes("items-center"):
            self._on = ui.switch("follow", value=True)
            self._told = ui.label("nothing has changed since this page was opened")
        self._table = plain_table((TIME, DIFF, *view.schema.names))
        self._table.add_slot("body", ROW)
        ui.timer(LOOK_SECONDS, self._look)

    async def _look(self) -> None:
        if self._on.value and await run_in_threadpool(self._tail.advance):
            passed = f"; {self._tail.passed_over:,} were passed over" * bool(self._tail.passed_over)
            self._told.set_text(f"the newest {len(self._tail.newest)} changes{passed}")
            put(self._table, shown(map(_row, self._tail.newest)))
