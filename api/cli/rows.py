"""`ivm view rows` and `ivm view tail`: the rows of a view, and their changes as they come."""

from typing import Annotated, Any

import orjson
import typer
from rich.markup import escape

from api.errors import BadParameter
from api.terminal import connected, notes, out, plain_errors, print_line, print_table
from ivm_client.errors import FeedEnded
from ivm_client.service import path

STYLES = {"=": "dim", "+": "green", "-": "red"}

Name = Annotated[str, typer.Argument(help="The view.")]
AsLines = Annotated[bool, typer.Option("--json", help="A line of JSON for each row.")]


def rows(
    name: Name,
    values: Annotated[
        list[str] | None, typer.Argument(metavar="COLUMN=VALUE…", help="All of an index.")
    ] = None,
    scan: Annotated[bool, typer.Option(help="By any columns, or none.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="Rows, at most.")] = 100,
    at_least: Annotated[
        list[str] | None, typer.Option(help="Wait for source:partition:offset; repeatable.")
    ] = None,
    json: AsLines = False,
) -> None:
    """Rows of a view with the given values."""
    with plain_errors():
        wanted: dict[str, Any] = _filters(values)
    with connected() as service:
        scan = scan or not wanted
        if at_least:
            wanted["at_least"] = at_least
        found = service.get(path("views", name, "rows"), scan=scan, limit=limit, **wanted)
    if json:
        for row in found["rows"]:
            print_line(row)
        return
    columns = tuple(found["rows"][0]) if found["rows"] else ("no rows",)
    print_table(found["rows"], columns)
    if "next" in found:
        out.print(f"more than {limit}; --limit shows more")


def tail(
    name: Name,
    values: Annotated[
        list[str] | None, typer.Argument(metavar="COLUMN=VALUE…", help="Of rows with these alone.")
    ] = None,
    since: Annotated[int | None, typer.Option(min=0, help="Begin after this time.")] = None,
    snapshot: Annotated[bool, typer.Option(help="Begin with the rows of now.")] = True,
    changes: Annotated[int | None, typer.Option(min=0, help="End after so many rows.")] = None,
    json: AsLines = False,
) -> None:
    """Follow a view: rows that are there (=), come (+) and go (-), until interrupted."""
    shown = 0
    with plain_errors():
        wanted: dict[str, Any] = {"snapshot": snapshot, **_filters(values)}
    if since is not None:
        wanted["since"] = since
    with connected() as service:
        followed = service.events(path("views", name, "changes"), **wanted)
        for event, data in followed:
            if event == "end":
                raise FeedEnded(f"the feed ended: {data['detail']}")
            if event == "renamed":
                notes.print(escape(f"the view is called {data['view']} by now"))
                continue
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
        print_line({"time": time, "op": sign, "count": count, "row": row})
        return
    copies = f" ×{count}" if count > 1 else ""
    members = ", ".join(f"{name}={_text(value)}" for name, value in row.items())
    out.print(escape(f"{time:>8} {sign}{copies} {members}"), style=STYLES[sign], soft_wrap=True)


def _text(value: Any) -> str:
    if value is None:
        return "NULL"
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _filters(values: list[str] | None) -> dict[str, str]:
    """The parameters that values are given by (raises BadParameter)."""
    return {f"filter[{column}]": value for column, value in map(_pair, values or ())}


def _pair(written: str) -> tuple[str, str]:
    column, equals, value = written.partition("=")
    if not equals:
        raise BadParameter(f"{written!r} is not of the form COLUMN=VALUE")
    return column, value
