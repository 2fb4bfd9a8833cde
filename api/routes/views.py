"""`/v1/views`: definitions of views."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Response

from api.answers import (
    Arrangement,
    Column,
    DeltaTopic,
    Installation,
    PutView,
    Sink,
    SinkStatus,
    View,
    ViewInFull,
    Views,
)
from api.deps import RuntimeDep, answer
from api.models import Name, ViewBody
from api.runtime import Runtime
from ivm.results import Installed
from views import catalog

router = APIRouter(prefix="/v1/views", tags=["views"])
ViewName = Annotated[Name, Path()]


@router.put("/{name}", response_model=PutView, responses={201: {"model": PutView}})
def put_view(name: ViewName, body: ViewBody, runtime: RuntimeDep) -> Response:
    """Maintain a view: 201 when it is new, 200 when the same is there already.

    On return the view is hydrated, and its snapshot stands in its delta topic.
    """
    target = body.sink.target(name) if body.sink is not None else None
    installed = runtime.views.put(
        name, body.query, body.language, body.key, target, lookups=body.lookups
    )
    return answer(_put(runtime, name, installed), 200 if installed is None else 201)


@router.get("", response_model=Views)
def list_views(runtime: RuntimeDep) -> Response:
    """All views, each after those it reads."""
    return answer(Views(views=[View(**_described(runtime, v)) for v in runtime.views.all()]))


@router.get("/{name}", response_model=ViewInFull)
def get_view(name: str, runtime: RuntimeDep) -> Response:
    """A view: its definition, its state, and the arrangements that it reads."""
    view = runtime.views.get(name)
    arrangements = [
        Arrangement(name=info.name, records=info.records, bytes=info.bytes)
        for info in runtime.pool.arrangements()
        if name in info.users
    ]
    return answer(ViewInFull(**_described(runtime, view), arrangements=arrangements))


@router.post("/{name}/retry", response_model=PutView)
def retry_view(name: str, runtime: RuntimeDep) -> Response:
    """Maintain a view that has failed again, from its definition; one that runs is left alone.

    Its delta topic begins anew with a snapshot, as if the view were deleted and put again; one in
    Kafka goes on with it. Where it fails again it stays as it is, and the reason is told.
    """
    installed = runtime.views.retry(name)
    return answer(_put(runtime, name, installed))


@router.delete("/{name}", status_code=204)
def delete_view(name: str, runtime: RuntimeDep) -> None:
    """Stop a view that no other reads, and delete its delta topic; one in Kafka stays as it is."""
    runtime.views.drop(name)


def _put(runtime: Runtime, name: str, installed: Installed | None) -> PutView:
    """A view, and the arrangements that it reuses and made where it was installed just now."""
    described = _described(runtime, runtime.views.get(name))
    if installed is None:
        return PutView(**described)
    arrangements = Installation(reused=list(installed.reused), created=list(installed.created))
    return PutView(**described, installed=arrangements)


def _described(runtime: Runtime, view: catalog.View) -> dict[str, Any]:
    """The members that all answers about a view have; `sink` is left out where it has none."""
    applier, name = runtime.applier, view.name
    reason = applier.failed.get(name)
    working = "running" if runtime.readiness.is_replayed else "replaying"
    end = runtime.sink.published.get(name, 0)
    return {
        "name": name,
        "language": view.language,
        "query": view.query,
        "key": list(view.key),
        "lookups": view.lookups,
        "columns": Column.all_of(view.schema),
        "reads": list(view.dependencies),
        "status": "failed" if reason else working,
        "reason": reason,
        "errors": sum(applier.errors.get(name, {}).values()) + runtime.views.miscounted(name),
        "deltas": DeltaTopic(topic=runtime.sink.topic(name), end=end),
        **_sink(runtime, name),
    }


def _sink(runtime: Runtime, name: str) -> dict[str, Sink]:
    """The sink of a view in Kafka, and the fault that keeps it from publishing, if any."""
    target = runtime.registry.targets.get(name)
    if target is None:
        return {}
    failed, stalled = runtime.kafka.failed(name), runtime.kafka.stalled(name)
    status: SinkStatus = "failed" if failed else "stalled" if stalled else "running"
    reason = failed or stalled
    sink = Sink(connector="kafka", **target.to_json(), status=status, reason=reason)
    return {"sink": sink}
