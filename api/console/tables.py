"""Tables of rows as pages show them: every value a text or a number, rows told apart by place."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson
from nicegui import ui

# The first character of a page's own columns, with which no column of a view begins.
OWN = "\0"
PLACE = f"{OWN}place"
# A cell has no more of a value than this many characters.
SHOWN = 300


def plain_table(columns: Sequence[str], rows: Iterable[Mapping[str, Any]] = ()) -> ui.table:
    """A table of rows of any JSON values."""
    table = ui.table(
        columns=described(columns), rows=shown(rows), row_key=PLACE, pagination=25
    ).props("dense flat bordered")
    return table.classes("full-width")


def described(columns: Iterable[str]) -> list[dict[str, Any]]:
    """The descriptions of sortable columns."""
    return [
        {
            "name": name,
            "label": name.removeprefix(OWN),
            "field": name,
            "sortable": True,
            "align": "left",
        }
        for name in columns
    ]


def shown(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows as the browser gets them, each with its place."""
    return [
        {**{name: _shown(value) for name, value in row.items()}, PLACE: i}
        for i, row in enumerate(rows)
    ]


def put(table: ui.table, rows: list[dict[str, Any]]) -> None:
    """Give a table other rows; the browser hears of it only if they differ."""
    if table.rows != rows:
        table.rows = rows


def _shown(value: Any) -> Any:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) >= 2**53:
        return str(value)  # a browser has no such numbers
    text = value if isinstance(value, str) else None
    if isinstance(value, list | dict):
        text = orjson.dumps(value).decode()
    if text is None:
        return value
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
