"""The page `/console/`: sources with lag and rate, views with state, changes and errors."""

from nicegui import ui
from starlette.concurrency import run_in_threadpool

from api.console.access import Access
from api.console.frame import frame
from api.console.looks import Looks
from api.console.tables import put
from api.runtime import Runtime

# Looks are this far apart while the page is open.
LOOK_SECONDS = 2.0
SOURCES = ("source", "state", "topic", "lag", "records/s", "rejected", "errors", "why")
VIEWS = ("view", "state", "updates held", "KiB", "changes/s", "ms/s", "errors", "why")
TEXTS = frozenset({"source", "view", "state", "topic", "why"})

NAME = """<q-td :props="props"><a class="text-primary" :href="'views/' + props.value">
{{props.value}}</a></q-td>"""
STATE = """<q-td :props="props"><q-badge :color="{running: 'green', failed: 'red'}[props.value]
|| 'orange'">{{props.value}}</q-badge></q-td>"""
WHY = '<q-td :props="props" style="white-space: normal">{{props.value}}</q-td>'


def install(access: Access) -> None:
    """Add the page."""

    @ui.page("/")
    def page() -> None:
        with frame("Overview"):
            Overview(access.runtime)


class Overview:
    """The page as one browser has it."""

    def __init__(self, runtime: Runtime) -> None:
        self._looks = Looks(runtime)
        self._fault = ui.label().classes("full-width fault")
        self._fault.set_visibility(False)
        self._summary = ui.label().classes("text-subtitle1")
        self._sources = _table("Sources", SOURCES)
        self._views = _table("Views", VIEWS)
        ui.timer(LOOK_SECONDS, self._refresh)

    async def _refresh(self) -> None:
        """Show the service as it is."""
        found = await run_in_threadpool(self._looks.look)
        self._fault.set_text(found.fault or "")
        self._fault.set_visibility(found.fault is not None)
        self._summary.set_text(found.summary)
        put(self._sources, found.sources)
        put(self._views, found.views)


def _table(title: str, columns: tuple[str, ...]) -> ui.table:
    described = [
        {
            "name": name,
            "label": name,
            "field": name,
            "sortable": True,
            "align": "left" if name in TEXTS else "right",
        }
        for name in columns
    ]
    table = ui.table(columns=described, rows=[], row_key=columns[0], title=title, pagination=25)
    table.props("dense flat bordered").classes("full-width")
    table.add_slot("body-cell-view", NAME)
    table.add_slot("body-cell-state", STATE)
    table.add_slot("body-cell-why", WHY)
    with table.add_slot("top-right"):
        ui.input(placeholder="filter").bind_value_to(table, "filter").props("dense clearable")
    return table
