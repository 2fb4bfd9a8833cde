"""The panel of a view's replacement: another definition, the exact difference, and its approval."""

from nicegui import ui
from starlette.concurrency import run_in_threadpool

from api.answers.replacements import Replacement
from api.console.access import Access
from api.console.frame import noted, noticed
from api.console.tables import plain_table
from api.models import QueryBody
from api.routes.replacements import described
from api.services.definition import Definition
from ivm.errors import IvmError
from views.catalog import View

# A replacement that hydrates is looked at again after this time.
LOOK_SECONDS = 1.0


class Change:
    """The panel of one view."""

    def __init__(self, access: Access, view: View) -> None:
        self._runtime = access.runtime
        self._access = access
        self._view = view
        self._text = ui.codemirror(view.query, language="PostgreSQL", line_wrapping=True)
        self._text.classes("full-width framed editor").mark("definition")
        ui.button("Preview the difference", on_click=self._prepare)
        self._shown = ui.column().classes("full-width")
        self._looking = ui.timer(LOOK_SECONDS, self.refresh, active=False)

    async def refresh(self) -> None:
        """Show the replacement that waits, if one does, with the difference as of now."""
        name = self._view.name
        try:
            waiting = self._runtime.replacements.get(name)
        except IvmError:
            self._show(None)
            return
        with noticed():
            self._show(await self._access.large.make(described, self._runtime, waiting))

    async def _prepare(self) -> None:
        view = self._view
        with noticed():
            body = QueryBody(query=self._text.value)
            later = Definition(view.name, body.query, view.language)
            with noted("PUT", "views", view.name):
                await run_in_threadpool(self._runtime.replacements.put, later)
        await self.refresh()

    async def _approve(self, shown: Replacement) -> None:
        """Approve what was seen: it is refused if the difference has changed since."""
        approve = self._runtime.replacements.approve
        with noticed(), noted("POST", "views", shown.view, "approve"):
            await run_in_threadpool(approve, shown.view, shown.version, shown.time)
            ui.navigate.reload()  # its columns may be others

    async def _discard(self) -> None:
        name = self._view.name
        with noticed(), noted("POST", "views", name, "discard"):
            await run_in_threadpool(self._runtime.replacements.discard, name)
        await self.refresh()

    def _show(self, found: Replacement | None) -> None:
        self._looking.active = found is not None and found.status == "hydrating"
        self._shown.clear()
        if found is None:
            return
        with self._shown:
            self._preview(found)

    def _preview(self, found: Replacement) -> None:
        done = found.hydrated
        ui.label(f"{found.status}: {done.done} of {done.of} dataflows are hydrated").classes(
            "text-subtitle1"
        )
        if found.status == "hydrating":
            ui.linear_progress(done.percent / 100, show_value=False).classes("full-width")
        ui.code(found.query, language="sql").classes("full-width")
        if found.reason:
            ui.label(found.reason).classes("gone")
        if found.time is not None:
            ui.label(
                f"as of time {found.time:,}: {found.rows_in:,} rows come, {found.rows_out:,} go"
            )
            with ui.row().classes("full-width no-wrap"):
                _sample("come", found.sample_in or [])
                _sample("go", found.sample_out or [])
            for other in found.dependants or ():
                ui.label(f"{other.view}: {other.rows_in:,} come, {other.rows_out:,} go")
        with ui.row():
            ready = found.status == "ready"
            ui.button("Approve", on_click=lambda: self._approve(found)).set_enabled(ready)
            ui.button("Discard", on_click=self._discard).props("outline")


def _sample(title: str, rows: list[dict[str, object]]) -> None:
    with ui.column().classes("col"):
        ui.label(f"some that {title}").classes("come" if title == "come" else "gone")
        if rows:
            plain_table(list(rows[0]), rows)
