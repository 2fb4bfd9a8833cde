"""The page `/console/quarantine`: records that could not be decoded; mends and replays them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
from nicegui import ui
from starlette.concurrency import run_in_threadpool

from api.console.access import Access
from api.console.frame import attempt, change, frame, noted, noticed
from api.console.tables import OWN, plain_table, put, shown
from connectors.decode import DIFF
from connectors.quarantine.replay import Outcome
from connectors.quarantine.store import Place, Quarantined, Repair
from connectors.sinks.json_rows import json_rows

MOST_SHOWN = 200
SIGN = f"{OWN}diff"
COLUMNS = ("table", "partition", "offset", "status", "reason", "message", "seen", "value")


def install(access: Access) -> None:
    """Add the page."""

    @ui.page("/quarantine")
    def page() -> None:
        with frame("Quarantine"):
            Desk(access)


class Desk:
    """The page as one browser has it."""

    def __init__(self, access: Access) -> None:
        self._runtime = access.runtime
        with ui.row().classes("full-width items-center"):
            self._status = ui.toggle(["open", "replayed", "discarded"], value="open")
            self._status.on_value_change(self.refresh)
            ui.button("Refresh", on_click=self.refresh).props("outline")
            ui.button("Replay all that are shown", on_click=self._replay_all).props("outline")
            self._told = ui.label()
        self._table = plain_table(COLUMNS)
        self._table.on("rowClick", lambda e: self._open(e.args[1]))
        self._places: list[Place] = []
        ui.timer(0, self.refresh, once=True)

    async def refresh(self) -> None:
        """Show the first records with the chosen outcome."""
        page, status = self._runtime.quarantine.page, self._status.value
        found = await run_in_threadpool(page, MOST_SHOWN, None, None, None, status)
        self._places = [one.record.place for one in found]
        put(self._table, shown(map(_row, found)))
        self._told.set_text(f"{len(found):,} records")

    async def _replay_all(self) -> None:
        await self._replay(self._places)

    async def _replay(self, places: list[Place]) -> None:
        with noticed(), noted("POST", *_path(places), "replay"):
            _tell(await run_in_threadpool(self._runtime.repairs.replay, places, False))
        await self.refresh()

    def _open(self, row: dict[str, Any]) -> None:
        """A dialog that mends one record."""
        found = self._runtime.quarantine.get((row["table"], row["partition"], row["offset"]))
        with ui.dialog() as dialog, ui.card().classes("full-width dialog"):
            Mending(self, found, dialog)
        dialog.open()

    async def fix(self, found: Quarantined, value: str) -> bool:
        """Set the value that a replay decodes; False if that is refused."""
        repair = Repair(found.content.key, value.encode())
        place = found.record.place
        note, fix = noted("PUT", *_path([place])), self._runtime.repairs.fix
        return await change(note, fix, place, repair) is not None

    async def preview(self, found: Quarantined, value: str) -> pa.Table | None:
        """The updates that a replay would make with this value; None if it cannot be decoded."""
        repair = Repair(found.content.key, value.encode())
        return await attempt(self._runtime.repairs.preview, found.record.place, repair)

    async def replay(self, found: Quarantined) -> None:
        """Apply one record."""
        await self._replay([found.record.place])

    async def discard(self, found: Quarantined) -> None:
        """Say that nothing is to come of a record."""
        place = found.record.place
        with noticed(), noted("POST", *_path([place]), "discard"):
            await run_in_threadpool(self._runtime.repairs.discard, place)
        await self.refresh()


class Mending:
    """The dialog of one record: its fault, and the value to be decoded in its stead."""

    def __init__(self, desk: Desk, found: Quarantined, dialog: ui.dialog) -> None:
        self._desk = desk
        self._found = found
        self._dialog = dialog
        record = found.record
        ui.label(f"{record.table} · partition {record.partition} · offset {record.offset}")
        ui.label(f"{record.reason}: {record.message}").classes("gone")
        self._value = ui.textarea("value", value=_text(found.content.value)).classes("full-width")
        self._updates = ui.column().classes("full-width")
        with ui.row():
            ui.button("Preview", on_click=self._preview).props("outline")
            ui.button("Fix and replay", on_click=self._fix_and_replay)
            ui.button("Discard", on_click=self._discard).props("outline")
            ui.button("Close", on_click=dialog.close).props("flat")

    async def _preview(self) -> None:
        updates = await self._desk.preview(self._found, self._value.value)
        self._updates.clear()
        if updates is None:
            return
        names = [name for name in updates.column_names if name != DIFF]
        rows = [
            {SIGN: f"{diff:+}", **row}
            for batch in updates.to_batches()
            for diff, row in zip(
                batch[DIFF].to_pylist(), json_rows(batch.select(names)), strict=True
            )
        ]
        with self._updates:
            plain_table([SIGN, *names], rows)

    async def _fix_and_replay(self) -> None:
        if await self._desk.fix(self._found, self._value.value):
            self._dialog.close()
            await self._desk.replay(self._found)

    async def _discard(self) -> None:
        self._dialog.close()
        await self._desk.discard(self._found)


def _path(places: Sequence[Place]) -> tuple[object, ...]:
    """The names in the path of one record, or of all."""
    return ("quarantine", *places[0]) if len(places) == 1 else ("quarantine",)


def _tell(outcome: Outcome) -> None:
    if outcome.corrections:
        ui.notify(f"{len(outcome.corrections):,} applied at time {outcome.time:,}", type="positive")
    for refusal in outcome.refused[:5]:
        ui.notify(str(refusal.error), type="negative", multi_line=True, close_button="close")


def _row(found: Quarantined) -> dict[str, Any]:
    record = found.record
    seen = datetime.fromtimestamp(record.seen_ms / 1000, UTC)
    return {
        "table": record.table,
        "partition": record.partition,
        "offset": record.offset,
        "status": found.status,
        "reason": record.reason,
        "message": record.message,
        "seen": f"{seen:%Y-%m-%d %H:%M:%S}",
        "value": _text(found.content.value),
    }


def _text(data: bytes | None) -> str:
    return "" if data is None else data.decode(errors="backslashreplace")
