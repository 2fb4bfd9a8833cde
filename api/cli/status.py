"""`ivm status`, `ivm errors` and `ivm arrangements`: how a service is, as it tells itself."""

import time
from typing import Annotated, Any

import typer

from api.terminal import FAILED, AsJson, connected, print_answer, print_json, print_table, progress
from ivm_client.errors import Problem, Unreachable
from ivm_client.service import ServiceClient

# Seconds between two looks at a service that is waited for.
LOOK_SECONDS = 0.2


def status(
    wait: Annotated[
        float | None, typer.Option(min=0, help="Seconds until it must answer and be ready.")
    ] = None,
    json: AsJson = False,
) -> None:
    """Tell whether the service is ready: it has replayed, caught up, and nothing is at fault.

    Fails if it is not. A source that stands still while others go on does not keep it from that.
    """
    with connected() as service:
        found = _look(service) if wait is None else _await_ready(service, wait)
    if json:
        print_json(found)
    elif "faults" in found:
        print_table(found["faults"], ("part", "setting", "detail"))
    else:
        print_answer(found, as_json=False)
    if found["status"] != "ready":
        raise typer.Exit(FAILED)


def errors(
    view: Annotated[str | None, typer.Argument(help="Of this view, and its sources.")] = None,
    json: AsJson = False,
) -> None:
    """Rows of views that cannot be computed, and keys of sources that do not add up."""
    with connected() as service:
        answer = service.get("/v1/errors", **({"view": view} if view is not None else {}))
    if json:
        print_json(answer)
        return
    named = [{"of": one.get("view") or one.get("source"), **one} for one in answer["errors"]]
    print_table(named, ("of", "error", "count"))


def arrangements(json: AsJson = False) -> None:
    """List what the service keeps in memory, and the views that share it."""
    with connected() as service:
        answer = service.get("/v1/arrangements")
    if json:
        print_json(answer)
    else:
        print_table(answer["arrangements"], ("name", "records", "bytes", "users"))


def _look(service: ServiceClient) -> dict[str, Any]:
    """The answer of /readyz, also where it is that the service is not ready."""
    try:
        found: dict[str, Any] = service.get("/readyz")
    except Problem as problem:
        if problem.code != "not-ready":
            raise
        return dict(problem.document)
    return found


def _await_ready(service: ServiceClient, seconds: float) -> dict[str, Any]:
    """The answer once it is ready, or the last one within `seconds` (raises Unreachable)."""
    deadline = time.monotonic() + seconds
    with progress() as shown:
        task = shown.add_task("waiting for an answer", total=None)
        while True:
            try:
                found = _look(service)
            except Unreachable:
                if time.monotonic() > deadline:
                    raise
            else:
                if found["status"] == "ready" or time.monotonic() > deadline:
                    return found
                # A caller without a key is told no faults.
                first: dict[str, Any] = next(iter(found.get("faults", ())), {})
                shown.update(
                    task,
                    description=first.get("part", "the service"),
                    completed=first.get("done") or 0,
                    total=first.get("of"),
                )
            time.sleep(LOOK_SECONDS)
