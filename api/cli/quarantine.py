"""`ivm quarantine`: records that could not be decoded, from the command line."""

from base64 import b64decode, b64encode
from pathlib import Path
from typing import Annotated, Any

import typer

from api.terminal import (
    FAILED,
    AsJson,
    connected,
    out,
    plain_errors,
    print_json,
    print_member,
    print_table,
)
from ivm_client.service import path

app = typer.Typer(no_args_is_help=True, help="Records that a running service put aside.")

# How much of a value a line of the list shows.
SHOWN = 48

Partition = Annotated[int, typer.Argument(min=0)]
Offset = Annotated[int, typer.Argument(min=0)]
Overwrite = Annotated[
    bool, typer.Option(help="Also where later records have said more of the same key.")
]
Bytes = typer.Option(help="Text, or @FILE for the bytes of a file.")


@app.command("list")
def list_records(
    table: Annotated[str | None, typer.Option(help="Of this table only.")] = None,
    reason: Annotated[str | None, typer.Option(help="For this reason only.")] = None,
    status: Annotated[str | None, typer.Option(help="open, replayed, discarded, orphaned.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000)] = 100,
    json: AsJson = False,
) -> None:
    """Records, by table, partition and offset."""
    wanted = {"table": table, "reason": reason, "status": status, "limit": limit}
    filters = {name: value for name, value in wanted.items() if value is not None}
    with connected() as service:
        answer = service.get("/v1/quarantine", **filters)
    if json:
        print_json(answer)
        return
    columns = ("table", "partition", "offset", "status", "reason", "message", "value")
    print_table([{**one, "value": _short(one)} for one in answer["records"]], columns)
    if "next" in answer:
        out.print(f"more than {limit}; --limit shows more")


@app.command("show")
def show(table: str, partition: Partition, offset: Offset, json: AsJson = False) -> None:
    """One record, its bytes and its repair."""
    with connected() as service:
        answer = service.get(_path(table, partition, offset))
    if json:
        print_json(answer)
        return
    for name in ("topic", "partition", "offset", "timestamp", "status", "time", "reason"):
        print_member(name, str(answer[name]))
    print_member("message", answer["message"])
    for header in answer["headers"] or ():
        print_member(f"header {header['name']}", _text(header, "value"))
    for part, title in ((answer, ""), (answer["repair"] or {}, "repaired ")):
        for name in ("key", "value"):
            if name in part or f"{name}_base64" in part:
                print_member(f"{title}{name}", _text(part, name))


@app.command("fix")
def fix(
    table: str,
    partition: Partition,
    offset: Offset,
    value: Annotated[str | None, Bytes] = None,
    key: Annotated[str | None, Bytes] = None,
    no_value: Annotated[bool, typer.Option("--no-value", help="A tombstone.")] = False,
    original: Annotated[bool, typer.Option("--original", help="The record as it is.")] = False,
    replay: Annotated[bool, typer.Option("--replay", help="And replay it at once.")] = False,
    overwrite: Overwrite = False,
    json: AsJson = False,
) -> None:
    """Set the key or value that is decoded in a record's stead."""
    if original == (value is not None or key is not None or no_value):
        raise typer.BadParameter("give --value, --key or --no-value; or --original alone")
    if no_value and value is not None:
        raise typer.BadParameter("--value and --no-value exclude one another")
    path = _path(table, partition, offset)
    with connected() as service:
        body: dict[str, Any] = {"value": None} if no_value else {}
        answer = service.put(path, {**body, **_given("value", value), **_given("key", key)})
        if replay:
            answer = service.post(f"{path}/replay", {"overwrite": overwrite})
    if json:
        print_json(answer)
    elif replay:
        out.print(f"applied at time {answer['time']}")


@app.command("replay")
def replay(
    table: str,
    partition: Annotated[int | None, typer.Argument(min=0)] = None,
    offset: Annotated[int | None, typer.Argument(min=0)] = None,
    reason: Annotated[str | None, typer.Option(help="Those put aside for this reason.")] = None,
    overwrite: Overwrite = False,
    json: AsJson = False,
) -> None:
    """Apply one record, or all open ones of a table, as corrections; fails if any is refused."""
    if (partition is None) != (offset is None):
        raise typer.BadParameter("give PARTITION and OFFSET, or neither")
    with connected() as service:
        if partition is not None and offset is not None:
            path = _path(table, partition, offset)
            answer = service.post(f"{path}/replay", {"overwrite": overwrite})
            if json:
                print_json(answer)
            else:
                out.print(f"applied at time {answer['time']}")
            return
        body: dict[str, Any] = {"table": table, "reason": reason, "overwrite": overwrite}
        count, refused = 0, []
        while True:
            answer = service.post("/v1/quarantine/replay", body)
            count += answer["replayed"]
            refused += answer["refused"]
            if "next" not in answer:
                break
            body["cursor"] = answer["next"]
    if json:
        print_json({"replayed": count, "refused": refused})
    else:
        out.print(f"{count} applied, {len(refused)} refused")
        if refused:
            print_table(refused, ("table", "partition", "offset", "code", "detail"))
    if refused:
        raise typer.Exit(FAILED)


@app.command("discard")
def discard(table: str, partition: Partition, offset: Offset) -> None:
    """Say that nothing is to come of a record; it is kept, and marked."""
    with connected() as service:
        service.post(f"{_path(table, partition, offset)}/discard", {})


@app.command("purge")
def purge(
    table: Annotated[str | None, typer.Option(help="Of this table only.")] = None,
    status: Annotated[
        list[str] | None,
        typer.Option(help="With this outcome; again for more. All but open, unless given."),
    ] = None,
    older_than: Annotated[float, typer.Option(min=0, help="First met so many seconds ago.")] = 0.0,
    json: AsJson = False,
) -> None:
    """Delete records for good, but for those that a start may need."""
    body: dict[str, Any] = {"table": table, "older_than_seconds": older_than}
    with connected() as service:
        answer = service.post(
            "/v1/quarantine/purge", {**body, **({"statuses": status} if status else {})}
        )
    if json:
        print_json(answer)
    else:
        out.print(f"{answer['purged']} purged")


@app.command("skip")
def skip(table: str, partition: Partition, offset: Offset) -> None:
    """Put the record before which the pipeline has stalled into the quarantine, and go on."""
    with connected() as service:
        service.post(f"{_path(table, partition, offset)}/skip", {})


def _path(table: str, partition: int, offset: int) -> str:
    return path("quarantine", table, str(partition), str(offset))


def _given(name: str, text: str | None) -> dict[str, str]:
    if text is None:
        return {}
    if not text.startswith("@"):
        return {name: text}
    with plain_errors():
        return {f"{name}_base64": b64encode(Path(text[1:]).read_bytes()).decode()}


def _text(part: dict[str, Any], name: str) -> str:
    """A key or value for people: bytes that are not UTF-8 are escaped."""
    if (encoded := part.get(f"{name}_base64")) is not None:
        return b64decode(encoded).decode(errors="backslashreplace")
    return "(none)" if part[name] is None else str(part[name])


def _short(one: dict[str, Any]) -> str:
    text = _text(one, "value")
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
