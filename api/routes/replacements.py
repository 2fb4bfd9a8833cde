"""`/v1/views/{name}/replacement`, `approve`, `discard`: other definitions of views, in place."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from api.answers.base import Column, Hydrated
from api.answers.replacements import Approved, Replacement, SchemaChanges, ViewDifference
from api.deps import RuntimeDep, answer
from api.models import ApproveBody
from api.runtime import Runtime
from api.services.previews import preview
from api.services.replacements import Waiting
from ivm.errors import UnknownCollection

router = APIRouter(prefix="/v1/views", tags=["views"])
SAMPLE = "Rows that come, and rows that go, to show at most."
MOST_SHOWN = 10


@router.get("/{name}/replacement", response_model=Replacement)
def get_replacement(
    name: str,
    runtime: RuntimeDep,
    sample: Annotated[int, Query(ge=0, le=1_000, description=SAMPLE)] = MOST_SHOWN,
) -> Response:
    """The replacement of a view that waits: its progress, and the difference that it would make."""
    return answer(described(runtime, runtime.replacements.get(name), sample))


@router.post("/{name}/approve", response_model=Approved)
def approve(name: str, body: ApproveBody, runtime: RuntimeDep) -> Response:
    """Let a replacement take the view's place, at one time.

    Sinks and feeds get the difference, and views that read it go on. `version` is that of the
    preview; with `time`, the difference must not have changed since.
    """
    time = runtime.replacements.approve(name, body.version, body.time)
    return answer(Approved(view=name, time=time))


@router.post("/{name}/discard", status_code=204)
def discard(name: str, runtime: RuntimeDep) -> None:
    """Forget the replacement of a view, which stays as it is."""
    runtime.replacements.discard(name)


def described(runtime: Runtime, waiting: Waiting, sample: int = MOST_SHOWN) -> Replacement:
    """A replacement; once it is ready with the difference as of now."""
    pending = waiting.pending
    view, former = pending.view, runtime.views.get(pending.view.name)
    failed = runtime.applier.successors.failed
    reasons = [failed[name] for name in sorted(pending.names & failed.keys())]
    reason = waiting.reason or next(iter(reasons), None)
    status = "failed" if reason else "ready" if waiting.ended.is_set() else "hydrating"
    if status == "ready" and (reason := runtime.replacements.outdated(pending)) is not None:
        status = "outdated"
    return Replacement.model_validate(
        {
            "view": view.name,
            "version": pending.version,
            "status": status,
            "reason": reason,
            "language": view.language,
            "query": view.query,
            "key": list(view.key),
            "columns": Column.all_of(view.schema),
            "reads": list(view.dependencies),
            "schema_changes": SchemaChanges.between(
                former.schema, view.schema, key=former.key != view.key
            ),
            "hydrated": _hydrated(runtime, waiting),
            **(_difference(runtime, waiting, sample) if status == "ready" else {}),
        }
    )


def _hydrated(runtime: Runtime, waiting: Waiting) -> Hydrated:
    """The dataflows that are hydrated, and how far the present one is."""
    done, of = waiting.done, len(waiting.successors)
    filling, within = runtime.pool.hydrating, 0.0
    if filling is not None and done < of and filling.name == waiting.successors[done].name:
        within = filling.done / filling.of
    return Hydrated.part(done, of, within)


def _difference(runtime: Runtime, waiting: Waiting, sample: int) -> dict[str, Any]:
    """The members that tell the difference; none where it was approved or dropped just now."""
    try:
        found = preview(runtime.pool, waiting.successors, sample)
    except UnknownCollection:
        return {}
    own, *others = found.differences
    return {
        "time": found.time,
        "rows_in": own.come,
        "rows_out": own.gone,
        "sample_in": own.some_that_come,
        "sample_out": own.some_that_go,
        "dependants": [
            ViewDifference(view=one.view, rows_in=one.come, rows_out=one.gone) for one in others
        ],
    }
