"""`/v1/sources`: tables and the topics that carry their changes."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Path, Response

from api.answers import Declared, Source, Sources
from api.deps import RuntimeDep, answer
from api.models import Name, SourceBody
from api.runtime import Runtime
from connectors.tables.spec import TableSpec

router = APIRouter(prefix="/v1/sources", tags=["sources"])
SourceName = Annotated[Name, Path()]


@router.put("/{name}", response_model=Declared, responses={201: {"model": Declared}})
def put_source(name: SourceName, body: SourceBody, runtime: RuntimeDep) -> Response:
    """Declare a table: 201 when it is new, 200 when the same is there already.

    What may differ, and changes: `on_error`, and a stalled pipeline goes on then; and columns that
    are nullable may be added, which are NULL in the rows that there are.
    """
    spec = body.spec(name, runtime.settings.on_error)
    created = runtime.sources.put(spec)
    return answer(Declared(**runtime.sources.get(name).to_json()), 201 if created else 200)


@router.get("", response_model=Sources)
def list_sources(runtime: RuntimeDep) -> Response:
    """All sources, in the order they were declared."""
    return answer(Sources(sources=_described(runtime, runtime.sources.all())))


@router.get("/{name}", response_model=Source)
def get_source(name: str, runtime: RuntimeDep) -> Response:
    """A source, and how far its topic is reflected."""
    [described] = _described(runtime, [runtime.sources.get(name)])
    return answer(described)


@router.delete("/{name}", status_code=204)
def delete_source(name: str, runtime: RuntimeDep) -> None:
    """Forget a source that no view reads; its topic stays."""
    runtime.sources.drop(name)


def _described(runtime: Runtime, specs: Sequence[TableSpec]) -> list[Source]:
    """Sources, the reflected offsets of their topics, and the outcomes of their records."""
    reflected, meter = runtime.applier.offsets().by_source(), runtime.meter
    behind = runtime.readiness.catching_up()
    lags: dict[str, dict[int, int]] = {}
    for (name, _, partition), count in runtime.pipeline.status().lag.items():
        lags.setdefault(name, {})[partition] = count
    return [
        Source(
            **spec.to_json(),
            offsets=dict(reflected.get(spec.name, {})),
            lag=lags.get(spec.name, {}),
            caught_up=spec.name not in behind,
            records=meter.by_outcome(spec.name),
            corrected=meter.corrected[spec.name],
            errors=runtime.applier.feeder.miscounts.count(spec.name),
        )
        for spec in specs
    ]
