"""The panel of a view's dataflow: the drawing, and its operators as a table."""

from typing import Any

from nicegui import ui
from starlette.concurrency import run_in_threadpool

from api.console.dataflow import diagram
from api.console.frame import noticed
from api.console.tables import plain_table, put, shown
from api.runtime import Runtime
from ivm.results import Operators

CONFIG = {
    "securityLevel": "strict",
    "flowchart": {
        "useMaxWidth": False,
        "wrappingWidth": 600,
        "rankSpacing": 30,
        "padding": 8,
    },
}
COLUMNS = ("#", "operator", "text", "makes", "rows", "bytes", "ms")


class Drawing:
    """The panel; it is drawn when it is opened, and again when that is asked for."""

    def __init__(self, runtime: Runtime, name: str) -> None:
        self._runtime = runtime
        self._name = name
        with ui.row().classes("items-center"):
            ui.button("Measure again", on_click=self.refresh).props("outline")
            ui.label("red: what takes the time · blue: arrangements that several read")
        self._box = ui.element("div").classes("full-width framed drawing")
        self._diagram: ui.mermaid | None = None
        self._table = plain_table(COLUMNS)

    async def refresh(self) -> None:
        """Draw the dataflow with the accounts of now."""
        with noticed():
            found, text = await run_in_threadpool(_drawn, self._runtime, self._name)
            put(self._table, shown(_rows(found)))
            if self._diagram is not None:
                self._diagram.set_content(text)
                return
            with self._box:
                self._diagram = ui.mermaid(text, config=CONFIG)


def _drawn(runtime: Runtime, name: str) -> tuple[Operators, str]:
    """The operators of a view, and their drawing (raises as REST's answer about them does)."""
    view = runtime.views.readable(name)
    found = runtime.pool.operators(view.name)
    users = {info.name: info.users for info in runtime.pool.arrangements()}
    return found, diagram(view.name, found, users)


def _rows(found: Operators) -> list[dict[str, Any]]:
    reused = [
        {
            "#": "",
            "operator": "(reused)",
            "text": f"read by {', '.join(info.users)}",
            "makes": info.name,
            "rows": info.rows,
            "bytes": info.bytes,
            "ms": round(1000 * info.seconds, 3),
        }
        for info in found.reused
    ]
    return reused + [
        {
            "#": one.number,
            "operator": one.kind,
            "text": one.text,
            "makes": one.arrangement or "the result",
            "rows": "" if one.rows is None else one.rows,
            "bytes": one.bytes,
            "ms": round(1000 * one.seconds, 3),
        }
        for one in found.operators
    ]
