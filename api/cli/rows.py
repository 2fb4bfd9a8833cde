"""`ivm view rows` and `ivm view tail`: the rows of a view, and their changes as they come."""

from typing import Annotated, Any

import orjson
import typer
from rich.markup import escape

from api.client import path
from api.errors import BadParameter
from api.terminal import connected, out, plain_errors, print_table

STYLES = {"=": "dim", "+": "green", "-": "red"}

Name = Annotated[str, typer.Argument(help="The view.")]
AsJson = Annotated[bool, typer.Option("--json", help="A line of JSON for each row.")]


def rows(
    name: Name,
    values: Annotated[
        list[str] | None, typer.Argument(metavar="COLUMN=VALUE…", help="All of an index.")
    ] = None,
    scan: Annotated[bool, typer.Option(help="By any columns, or none.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="Rows, at most.")] = 100,
    json: AsJson = False,
) -> None:
    """Rows of a view with the given values."""
    with plain_errors():
        wanted = {f"filter[{column}]": value for column, value in map(_pair, values or ())}
    with connected() as service:
        scan = scan or not wanted
        found = service.get(path("views", name, "rows"), scan=scan, limit=limit, **wanted)
    if json:
        for row in found["rows"]:
            _print_line(row)
        return
    columns = tuple(found["rows"][0]) if found["rows"] else ("no rows",)
    print_table(found["rows"], columns)
    if "next" in found:
        out.print(f"more than {limit}; --limit shows more")


def tail(
    name: Name,
    snapshot: Annotated[bool, typer.Option(help="Begin with the rows of now.")] = True,
    changes: Annotated[int | None, typer.Option(min=0, help="End after so many rows.")] = None,
    json: AsJson = False,
) -> None:
    """Follow a view: rows that are there (=), come (+) and go (-), until interrupted."""
    shown = 0
    with connected() as service:
        followed = service.events(path("views", name, "changes"), snapshot=snapshot)
        for event, data in followed:
            if event == "end":
                out.print(escape(f"the feed ended: {data['detail']}"))
                return
            for sign, count, row in _changes(event, data):
                if changes is not None and shown >= changes:
                    return
                shown += 1
                _show(data["time"], sign, count, row, as_json=json)
            if changes is not None and shown >= changes:
                return


def _changes(event: str, data: dict[str, Any]) -> list[tuple[str, int, dict[str, Any]]]:
    """The sign, the number of copies and the row of each line of an event."""
    if event == "snapshot":
        pairs = zip(data["rows"], data["counts"], strict=True)
        return [("=", count, row) for row, count in pairs]
    return [(one["op"], abs(one["diff"]), one["row"]) for one in data["deltas"]]


def _show(time: int, sign: str, count: int, row: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        _print_line({"time": time, "op": sign, "count": count, "row": row})
        return
    copies = f" ×{count}" if count > 1 else ""
    members = ", ".join(f"{name}={_text(value)}" for name, value in row.items())
    out.print(escape(f"{time:>8} {sign}{copies} {members}"), style=STYLES[sign], soft_wrap=True)


def _text(value: Any) -> str:
    if value is None:
        return "NULL"
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _print_line(document: Any) -> None:
    out.print(orjson.dumps(document).decode(), markup=False, highlight=False, soft_wrap=True)


def _pair(written: str) -> tuple[str, str]:
    column, equals, value = written.partition("=")
    if not equals:
        raise BadParameter(f"{written!r} is not of the form COLUMN=VALUE")
    return column, value
