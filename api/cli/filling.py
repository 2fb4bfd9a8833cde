"""Puts a view, and shows how far it is while it fills; the answer comes once it has."""

from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

from rich.progress import Progress, TaskID

from api.terminal import progress
from ivm_client.errors import ClientError
from ivm_client.service import ServiceClient, path

# Seconds between two looks at a view that fills.
LOOK_SECONDS = 0.2


def put_view(name: str, body: dict[str, Any], service: ServiceClient) -> dict[str, Any]:
    """The answer to the PUT of a view (raises Problem, Unreachable)."""
    with ThreadPoolExecutor(1) as beside, progress() as shown:
        answer: Future[dict[str, Any]] = beside.submit(service.put, path("views", name), body)
        task = shown.add_task(f"view {name}", total=None)
        while not wait([answer], LOOK_SECONDS).done:
            _show(service, name, shown, task)
        return answer.result()


def _show(service: ServiceClient, name: str, shown: Progress, task: TaskID) -> None:
    """Look at the view once; one that is not planned yet is not found."""
    try:
        found = service.get(path("views", name))
    except ClientError:
        return
    hydrated = found.get("hydrated") or {}
    shown.update(
        task,
        description=f"view {name}: {found['status']}",
        completed=hydrated.get("done", 0),
        total=hydrated.get("of"),
    )
