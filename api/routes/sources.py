"""`/v1/sources`: tables and the topics that carry their changes."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Response

from api.deps import RuntimeDep, answer
from api.models import Name, SourceBody
from api.runtime import Runtime
from connectors.tables import TableSpec

router = APIRouter(prefix="/v1/sources", tags=["sources"])
SourceName = Annotated[Name, Path()]


@router.put("/{name}")
def put_source(name: SourceName, body: SourceBody, runtime: RuntimeDep) -> Response:
    """Declare a table: 201 when it is new, 200 when the same is there already.

    `on_error` alone may differ from what is there, and changes; a stalled pipeline goes on then.
    """
    spec = body.spec(name, runtime.settings.on_error)
    created = runtime.put_source(spec)
    return answer(spec.to_json(), 201 if created else 200)


@router.get("")
def list_sources(runtime: RuntimeDep) -> Response:
    """All sources, in the order they were declared."""
    specs = list(runtime.registry.sources.values())
    return answer({"sources": [_described(runtime, spec) for spec in specs]})


@router.get("/{name}")
def get_source(name: str, runtime: RuntimeDep) -> Response:
    """A source, and how far its topic is reflected."""
    return answer(_described(runtime, runtime.source(name)))


@router.delete("/{name}", status_code=204)
def delete_source(name: str, runtime: RuntimeDep) -> None:
    """Forget a source that no view reads; its topic stays."""
    runtime.drop_source(name)


def _described(runtime: Runtime, spec: TableSpec) -> dict[str, Any]:
    """A source, what of its topic is reflected, and what became of its records.

    `offsets` and `lag`, the records that are still to come, are by partition. `caught_up`: it has
    read what its topic held when it was declared. `records` counts
    those since the service started, replays not counted; each is exactly one of these. `corrected`
    of the rejected ones were applied since.
    """
    lag = runtime.pipeline.status().lag
    return {
        **spec.to_json(),
        "offsets": runtime.offsets().ends(spec.name),
        "lag": {p: count for (name, _, p), count in lag.items() if name == spec.name},
        "caught_up": spec.name not in runtime.catching_up(),
        "records": runtime.meter.by_outcome(spec.name),
        "corrected": runtime.meter.corrected[spec.name],
    }
