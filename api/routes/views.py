"""`/v1/views`: definitions of views."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Response

from api.deps import RuntimeDep, answer
from api.models import Name, ViewBody, view_json
from api.runtime import Runtime
from views.catalog import View

router = APIRouter(prefix="/v1/views", tags=["views"])
ViewName = Annotated[Name, Path()]


@router.put("/{name}")
def put_view(name: ViewName, body: ViewBody, runtime: RuntimeDep) -> Response:
    """Maintain a view: 201 when it is new, 200 when the same is there already.

    On return the view is hydrated, and its snapshot stands in its delta topic.
    """
    target = body.sink.target(name) if body.sink is not None else None
    installed = runtime.views.put(
        name, body.query, body.language, body.key, target, lookups=body.lookups
    )
    document = _described(runtime, runtime.views.get(name))
    if installed is None:
        return answer(document)
    found = {"reused": installed.reused, "created": installed.created}
    return answer({**document, "installed": found}, 201)


@router.get("")
def list_views(runtime: RuntimeDep) -> Response:
    """All views, each after those it reads."""
    return answer({"views": [_described(runtime, v) for v in runtime.registry.catalog.views]})


@router.get("/{name}")
def get_view(name: str, runtime: RuntimeDep) -> Response:
    """A view: its definition, its state, and the arrangements that it reads."""
    view = runtime.views.get(name)
    arrangements = [
        {"name": info.name, "records": info.records, "bytes": info.bytes}
        for info in runtime.pool.arrangements()
        if name in info.users
    ]
    return answer({**_described(runtime, view), "arrangements": arrangements})


@router.delete("/{name}", status_code=204)
def delete_view(name: str, runtime: RuntimeDep) -> None:
    """Stop a view that no other reads, and delete its delta topic; one in Kafka stays as it is."""
    runtime.views.drop(name)


def _described(runtime: Runtime, view: View) -> dict[str, Any]:
    applier = runtime.applier
    reason = applier.failed.get(view.name)
    working = "running" if runtime.readiness.is_replayed else "replaying"
    return {
        **view_json(view),
        "status": "failed" if reason else working,
        "reason": reason,
        "errors": sum(applier.errors.get(view.name, {}).values()),
        "deltas": {
            "topic": runtime.sink.topic(view.name),
            "end": runtime.sink.published.get(view.name, 0),
        },
        **_sink(runtime, view),
    }


def _sink(runtime: Runtime, view: View) -> dict[str, Any]:
    """The sink of a view in Kafka, and the fault that keeps it from publishing, if any."""
    target = runtime.registry.targets.get(view.name)
    if target is None:
        return {}
    failed, stalled = runtime.kafka.failed(view.name), runtime.kafka.stalled(view.name)
    status = {
        "status": "failed" if failed else "stalled" if stalled else "running",
        "reason": failed or stalled,
    }
    return {"sink": {"connector": "kafka", **target.to_json(), **status}}
