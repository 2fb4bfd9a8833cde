"""The page `/console/query`: asks a query once, shows its rows or its plan, and keeps it as a view.

Its text comes after `EXPLAIN` or `EXPLAIN ANALYZE` where a plan is asked for, as in SQL itself.
"""

from nicegui import ui
from pydantic import TypeAdapter
from starlette.concurrency import run_in_threadpool

from api.console.access import Access
from api.console.frame import frame, noted, noticed
from api.console.tables import plain_table
from api.models import Name, QueryBody, ViewBody
from api.services.definition import Definition
from api.services.queries import Rows
from connectors.sinks.json_rows import json_rows

MOST_ROWS = 1_000
NAME: TypeAdapter[str] = TypeAdapter(Name)


def install(access: Access) -> None:
    """Add the page."""

    @ui.page("/query")
    def page() -> None:
        with frame("Query"):
            QueryBox(access)


class QueryBox:
    """The page as one browser has it."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._text = ui.codemirror(language="PostgreSQL", line_wrapping=True)
        self._text.classes("full-width framed editor").mark("query")
        with ui.row().classes("full-width items-center"):
            ui.button("Run", on_click=lambda: self._ask())
            ui.button("Explain", on_click=lambda: self._ask("EXPLAIN ")).props("outline")
            ui.button("Explain analyze", on_click=lambda: self._ask("EXPLAIN ANALYZE ")).props(
                "outline"
            )
            self._language = ui.toggle({"sql": "SQL", "datalog": "Datalog"}, value="sql")
            ui.space()
            self._name = ui.input("name of a view").props("dense")
            ui.button("Maintain as a view", on_click=self._maintain).props("outline")
        self._answer = ui.column().classes("full-width")

    async def _ask(self, prefix: str = "") -> None:
        """Show the answer to the query, or a notice that says why there is none."""
        self._answer.clear()
        with self._answer:
            waiting = ui.spinner(size="lg")
            most = min(MOST_ROWS, self._access.runtime.settings.max_rows)
            with noticed():
                body = QueryBody(query=prefix + self._text.value, language=self._language.value)
                ask = self._access.runtime.queries.ask
                found = await self._access.asked.make(ask, body.query, body.language, most)
                self._plan(found) if prefix else self._rows(found)
            waiting.delete()

    def _rows(self, found: Rows) -> None:
        more = " (there are more)" if found.more else ""
        stalled = f" · {found.stalled}" if found.stalled else ""
        ui.label(f"{found.rows.num_rows:,} rows{more} as of time {found.time:,}{stalled}")
        plain_table(found.rows.schema.names, json_rows(found.rows))

    def _plan(self, found: Rows) -> None:
        lines = found.rows.column(0).to_pylist()
        ui.code("\n".join(map(str, lines)), language="text").classes("full-width")

    async def _maintain(self) -> None:
        """Maintain the query as a view, and go to its page."""
        runtime = self._access.runtime
        with noticed():
            name = NAME.validate_python(self._name.value)
            body = ViewBody(query=self._text.value, language=self._language.value)
            definition = Definition(name, body.query, body.language)
            with noted("PUT", "views", name):
                await run_in_threadpool(runtime.views.put, definition)
            ui.navigate.to(f"/views/{name}")
