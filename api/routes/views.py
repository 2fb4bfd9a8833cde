"""`/v1/views`: definitions of views."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Response

from api.answers.base import Column
from api.answers.replacements import Replacement, WouldPut
from api.answers.views import (
    Arrangement,
    DeltaTopic,
    Installation,
    PutView,
    Sink,
    SinkStatus,
    View,
    ViewInFull,
    Views,
)
from api.deps import PrincipalDep, RuntimeDep, answer
from api.models import Name, RenameBody, ViewBody
from api.routes import replacements
from api.routes.inspection import explained
from api.runtime import Runtime
from api.services.definition import Definition
from api.status import view_status
from ivm.results import Installed
from views import catalog

router = APIRouter(prefix="/v1/views", tags=["views"])
ViewName = Annotated[Name, Path()]


@router.put(
    "/{name}",
    response_model=PutView | WouldPut,
    responses={201: {"model": PutView}, 202: {"model": Replacement}},
)
def put_view(name: ViewName, body: ViewBody, runtime: RuntimeDep) -> Response:
    """Maintain a view: 201 when it is new, 200 when the same is there already.

    On return the view is hydrated, and its snapshot stands in its delta topic. With `replace` a
    view of another definition stays as it is, and this one waits beside it for its approval: the
    answer is its preview, 202, without the difference while it is still hydrated.
    """
    definition = _definition(name, body)
    is_replacement = body.replace and runtime.registry.view(name) is not None
    if body.dry_run:
        would = _would_put(runtime, definition, is_replacement=is_replacement)
        return answer(WouldPut(would=would, **explained(runtime, body)))
    if is_replacement:
        waiting = runtime.replacements.put(definition)
        if waiting is None:
            return answer(_put(runtime, name, None))
        return answer(replacements.described(runtime, waiting), 202)
    installed = runtime.views.put(definition)
    return answer(_put(runtime, name, installed), 200 if installed is None else 201)


@router.get("", response_model=Views)
def list_views(runtime: RuntimeDep, principal: PrincipalDep) -> Response:
    """All views that the caller may read, those that fill included, each after those it reads."""
    views = [view for view in runtime.views.all_known() if principal.may_use(view.name)]
    return answer(Views(views=[View(**described(runtime, view)) for view in views]))


@router.get("/{name}", response_model=ViewInFull)
def get_view(name: str, runtime: RuntimeDep) -> Response:
    """A view: its definition, its state, and the arrangements that it reads.

    One whose PUT is not answered yet is found too, once it is planned.
    """
    view = runtime.views.known(name)
    arrangements = [
        Arrangement(name=info.name, records=info.records, bytes=info.bytes)
        for info in runtime.pool.arrangements()
        if name in info.users
    ]
    return answer(ViewInFull(**described(runtime, view), arrangements=arrangements))


@router.post("/{name}/rename", response_model=PutView)
def rename_view(name: str, body: RenameBody, runtime: RuntimeDep) -> Response:
    """Let a view that no other reads have another name; its topics keep theirs.

    Feeds of its changes go on, and are told the new name.
    """
    runtime.views.rename(name, body.to)
    return answer(_put(runtime, body.to, None))


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


def _definition(name: str, body: ViewBody) -> Definition:
    """The view that a body declares; a replacement tells apart what is said and what is not."""
    return Definition(
        name,
        body.query,
        body.language,
        body.key,
        body.sink.target(name) if body.sink is not None else None,
        body.lookups if "lookups" in body.model_fields_set else None,
    )


def _would_put(
    runtime: Runtime, definition: Definition, *, is_replacement: bool
) -> Literal["create", "replace", "nothing"]:
    """The effect that a definition would have (raises as putting it would)."""
    if is_replacement:
        return "replace" if runtime.replacements.would_put(definition) else "nothing"
    return "create" if runtime.views.would_put(definition) else "nothing"


def _put(runtime: Runtime, name: str, installed: Installed | None) -> PutView:
    """A view, and the arrangements that it reuses and made where it was installed just now."""
    members = described(runtime, runtime.views.get(name))
    if installed is None:
        return PutView(**members)
    arrangements = Installation(reused=list(installed.reused), created=list(installed.created))
    return PutView(**members, installed=arrangements)


def described(runtime: Runtime, view: catalog.View) -> dict[str, Any]:
    """The members that all answers about a view have; `sink` is left out where it has none."""
    applier, name = runtime.applier, view.name
    reason = applier.failed.get(name)
    status, hydrated = view_status(runtime, name)
    registry = runtime.registry
    is_coming = name in runtime.views.coming
    published = registry.fresh(name) if is_coming else registry.published_as(name)
    end = runtime.sink.published.get(published, 0)
    return {
        "name": name,
        "language": view.language,
        "query": view.query,
        "key": list(view.key),
        "lookups": view.lookups,
        "columns": Column.all_of(view.schema),
        "reads": list(view.dependencies),
        "status": status,
        **({"hydrated": hydrated} if hydrated is not None else {}),
        "reason": reason,
        "stalled": runtime.views.stalled(name),
        "errors": sum(applier.errors.get(name, {}).values()) + runtime.views.miscounted(name),
        "deltas": DeltaTopic(topic=runtime.sink.topic(published), end=end),
        **_sink(runtime, name),
    }


def _sink(runtime: Runtime, name: str) -> dict[str, Sink]:
    """The sink of a view in Kafka, and the fault that keeps it from publishing, if any."""
    target = runtime.registry.targets.get(name)
    if target is None:
        return {}
    published = runtime.registry.published_as(name)
    failed, stalled = runtime.kafka.failed(published), runtime.kafka.stalled(published)
    status: SinkStatus = "failed" if failed else "stalled" if stalled else "running"
    reason = failed or stalled
    sink = Sink(connector="kafka", **target.to_json(), status=status, reason=reason)
    return {"sink": sink}
