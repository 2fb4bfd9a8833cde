"""`/v1/sources`: tables and the topics that carry their changes."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Path, Response

from api.answers.replacements import WouldDeclare
from api.answers.sources import Declared, Inferred, Source, Sources
from api.deps import PrincipalDep, RuntimeDep, answer
from api.models import InferBody, Name, SourceBody
from api.runtime import Runtime
from api.status import source_status
from connectors.tables.spec import TableSpec

router = APIRouter(prefix="/v1/sources", tags=["sources"])
SourceName = Annotated[Name, Path()]


@router.put("/{name}", response_model=Declared | WouldDeclare, responses={201: {"model": Declared}})
def put_source(name: SourceName, body: SourceBody, runtime: RuntimeDep) -> Response:
    """Declare a table: 201 when it is new, 200 when the same is there already.

    Without columns they are found in the topic's schemas, once: then they are as if declared, and
    `unsure` says what to look at. What may differ, and changes: `on_error`; and columns that are
    nullable may be added, which are NULL in the rows that there are. A source that has stalled is
    tried again, also where nothing differs.
    """
    body, unsure = runtime.inference.complete(name, body)
    spec = body.spec(name, runtime.settings.on_error)
    told: dict[str, Any] = {"unsure": unsure} if unsure else {}
    if body.dry_run:
        return answer(WouldDeclare(would=runtime.sources.would_put(spec), **spec.to_json(), **told))
    created = runtime.sources.put(spec)
    declared = Declared(**runtime.sources.get(name).to_json(), **told)
    return answer(declared, 201 if created else 200)


@router.post("/infer", response_model=Inferred)
def infer_source(body: InferBody, runtime: RuntimeDep) -> Response:
    """Propose a declaration by the first records of a topic, or by its schemas; nothing is kept."""
    found = runtime.inference.propose(body)
    place = {"topic": body.topic}
    if body.connection is not None:
        place = {"connector": "kafka", "connection": body.connection, **place}
    return answer(Inferred(declaration={**place, **found.members()}, unsure=list(found.unsure)))


@router.get("", response_model=Sources)
def list_sources(runtime: RuntimeDep, principal: PrincipalDep) -> Response:
    """All sources that the caller may read, in the order they were declared."""
    specs = [spec for spec in runtime.sources.all() if principal.may_use(spec.name)]
    return answer(Sources(sources=described(runtime, specs)))


@router.get("/{name}", response_model=Source)
def get_source(name: str, runtime: RuntimeDep) -> Response:
    """A source, and how far its topic is reflected."""
    [found] = described(runtime, [runtime.sources.get(name)])
    return answer(found)


@router.delete("/{name}", status_code=204)
def delete_source(name: str, runtime: RuntimeDep) -> None:
    """Forget a source that no view reads; its topic stays."""
    runtime.sources.drop(name)


def described(runtime: Runtime, specs: Sequence[TableSpec]) -> list[Source]:
    """Sources, the reflected offsets of their topics, and the outcomes of their records."""
    reflected, meter = runtime.applier.offsets().by_source(), runtime.meter
    behind, stalled = runtime.readiness.catching_up(), runtime.pipeline.stalled
    lags: dict[str, dict[int, int]] = {}
    for (name, _, partition), count in runtime.pipeline.status().lag.items():
        lags.setdefault(name, {})[partition] = count
    is_replayed = runtime.readiness.is_replayed

    def state(name: str) -> dict[str, Any]:
        why, fault = stalled.get(name), behind.get(name)
        status, hydrated = source_status(why, fault, is_replayed=is_replayed)
        return {"status": status} | ({} if hydrated is None else {"hydrated": hydrated})

    return [
        Source(
            **spec.to_json(),
            **state(spec.name),
            offsets=dict(reflected.get(spec.name, {})),
            lag=lags.get(spec.name, {}),
            caught_up=spec.name not in behind,
            stalled=stalled.get(spec.name),
            records=meter.by_outcome(spec.name),
            corrected=meter.corrected[spec.name],
            errors=runtime.applier.feeder.miscounts.count(spec.name),
        )
        for spec in specs
    ]
