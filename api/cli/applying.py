"""`ivm apply`: makes a service as a folder of definitions says, after showing the plan."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from api.cli.filling import put_view
from api.cli.folder import read
from api.cli.planning import SIGNS, Change, Plan, plan
from api.errors import BadParameter
from api.terminal import FAILED, AsJson, connected, out, print_line, progress
from ivm_client.errors import ClientError, Problem
from ivm_client.service import ServiceClient, path

# Seconds between two looks at a hydration.
LOOK_SECONDS = 0.2
# Problems that another change of the plan may mend.
MENDED_LATER = ("replacement-refused", "still-used")
STYLES = {"+": "green", "~": "yellow", "-": "red", "-/+": "red", "!": "bold red"}


def apply_folder(
    folder: Annotated[Path, typer.Argument(help="Sources and views, each in a file.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan alone.")] = False,
    prune: Annotated[
        bool, typer.Option("--prune", help="Drop what the folder does not define.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Make the sources and views of a service as FOLDER defines them.

    What is there already stays; views of another definition are replaced in place, and their
    consumers get the rows that differ. A `.py` runs here, not in the service.
    """
    with connected() as service:
        if json and not (yes or dry_run):
            raise BadParameter("--json asks nothing; give --yes or --dry-run with it")
        found = plan(read(folder), service, prune=prune)
        if json:
            for change in found.changes:
                print_line(change.told())
        else:
            show(found)
        if found.of("refuse"):
            raise typer.Exit(FAILED)
        if dry_run or not found.changes:
            return
        if not yes:
            typer.confirm("Make these changes?", abort=True)
        for change, done in carry_out(found, service):
            if json:
                print_line(change.told() | {"done": done})
            else:
                out.print(escape(f"{change.kind} {change.name}: {done}"), soft_wrap=True)


def show(found: Plan) -> None:
    """Print a plan, a line for each change."""
    for change in found.changes:
        sign = SIGNS[change.action]
        detail = f" ({change.detail})" if change.detail else ""
        line = escape(f"{change.kind} {change.name}{detail}")
        out.print(f"[{STYLES[sign]}]{sign:>3}[/] {line}", soft_wrap=True)
    out.print(found.summary(), soft_wrap=True)


def carry_out(found: Plan, service: ServiceClient) -> Iterator[tuple[Change, str]]:
    """Make the changes one after another, and tell what was done for each (raises Problem).

    One that the service refuses because of another view is tried again after the others.
    """
    waiting = list(found.changes)
    while waiting:
        later: list[Change] = []
        refusal: Problem | None = None
        for change in waiting:
            try:
                yield change, _make(change, service)
            except Problem as error:
                if error.code not in MENDED_LATER:
                    raise
                later.append(change)
                refusal = refusal or error
        if refusal is not None and len(later) == len(waiting):
            raise refusal
        waiting = later


def _make(change: Change, service: ServiceClient) -> str:
    """Make a change: what was done."""
    place = path(f"{change.kind}s", change.name)
    if change.action == "replace":
        return replace(change.name, change.body, service)
    if change.action in ("drop", "recreate"):
        service.delete(place)
    if change.action == "drop":
        return "dropped"
    if change.kind == "view":
        put_view(change.name, change.body, service)
    else:
        service.put(place, change.body)
    return {"create": "created", "alter": "altered"}.get(change.action, "created anew")


def replace(name: str, body: dict[str, Any], service: ServiceClient) -> str:
    """Replace a view, with whatever difference that makes (raises Problem)."""
    waiting = hydrated(name, service.put(path("views", name), body), service)
    if "version" not in waiting:
        return "unchanged"
    service.post(path("views", name, "approve"), {"version": waiting["version"]})
    return f"replaced ({waiting['rows_in']:,} rows in, {waiting['rows_out']:,} out)"


def hydrated(name: str, waiting: dict[str, Any], service: ServiceClient) -> dict[str, Any]:
    """The preview of a replacement, once it is hydrated (raises ClientError if it fails)."""
    with progress() as shown:
        task = shown.add_task(f"view {name}", total=None)
        while waiting["status"] == "hydrating":
            hydration = waiting["hydrated"]
            done = f"{hydration['done']} of {hydration['of']} dataflows hydrated"
            shown.update(
                task, description=f"view {name}: {done}", completed=hydration["percent"], total=100
            )
            time.sleep(LOOK_SECONDS)
            waiting = service.get(path("views", name, "replacement"))
    if "version" in waiting and waiting["status"] != "ready":
        raise ClientError(f"the replacement of view {name!r}: {waiting['reason']}")
    return waiting
