"""The page `/console/views/NAME`: a view's definition, and panels of what it does."""

from nicegui import ui
from starlette.concurrency import run_in_threadpool

from api.console.access import Access
from api.console.changes import Changes
from api.console.frame import frame
from api.console.operators import Drawing
from api.console.replacement import Change
from api.console.rows import RowsPanel
from api.console.units import state_text
from api.routes import views
from api.runtime import Runtime
from ivm.errors import IvmError

LOOK_SECONDS = 2.0


def install(access: Access) -> None:
    """Add the page."""

    @ui.page("/views/{name}")
    def page(name: str) -> None:
        with frame(name):
            if name in access.runtime.views.coming:
                _filling(access.runtime, name)
                return
            try:
                access.runtime.views.get(name)
            except IvmError as error:
                ui.label(str(error)).classes("text-subtitle1")
                return
            _view(access, name)


def _filling(runtime: Runtime, name: str) -> None:
    """The progress of a view that fills; its page once it has."""
    ui.label(name).classes("text-h5")
    state = ui.label()

    async def refresh() -> None:
        if name in runtime.views.coming:
            state.set_text(await run_in_threadpool(_state, runtime, name))
        else:
            ui.navigate.reload()

    ui.timer(LOOK_SECONDS, refresh)


def _view(access: Access, name: str) -> None:
    view = access.runtime.views.get(name)
    ui.label(name).classes("text-h5")
    state = ui.label()
    ui.code(view.query, language="sql").classes("full-width")

    async def refresh() -> None:
        state.set_text(await run_in_threadpool(_state, access.runtime, name))

    ui.timer(LOOK_SECONDS, refresh)
    with ui.tabs() as tabs:
        for title in ("Rows", "Changes", "Dataflow", "Replace"):
            ui.tab(title)
    with ui.tab_panels(tabs, value="Rows", keep_alive=True).classes("full-width"):
        with ui.tab_panel("Rows"):
            RowsPanel(access, view)
        with ui.tab_panel("Changes"):
            Changes(access, name)
        with ui.tab_panel("Dataflow"):
            drawing = Drawing(access.runtime, name)
        with ui.tab_panel("Replace"):
            change = Change(access, view)
    tabs.on_value_change(
        lambda e: {"Dataflow": drawing.refresh, "Replace": change.refresh}.get(
            str(e.value), lambda: None
        )()
    )


def _state(runtime: Runtime, name: str) -> str:
    """A view's state in a line: what it is keyed by and reads, its errors, and why it stands."""
    known = runtime.views.coming.get(name) or runtime.registry.view(name)
    if known is None:
        return "the view is no more"
    view = views.described(runtime, known)
    said = [
        state_text(view["status"], view.get("hydrated")),
        f"key ({', '.join(view['key'])})",
        f"reads {', '.join(view['reads']) or 'nothing'}",
        f"{view['errors']:,} errors",
        f"delta topic {view['deltas'].topic}",
        *([f"sink: {view['sink'].status}"] if "sink" in view else []),
        *(str(view[why]) for why in ("reason", "stalled") if view[why]),
    ]
    return " · ".join(said)
