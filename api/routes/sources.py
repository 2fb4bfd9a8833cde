"""`/v1/sources`: tables and the topics that carry their changes."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Path, Response

from api.deps import RuntimeDep, answer
from api.models import Name, SourceBody
from api.runtime import Runtime
from connectors.tables.spec import TableSpec

router = APIRouter(prefix="/v1/sources", tags=["sources"])
SourceName = Annotated[Name, Path()]


@router.put("/{name}")
def put_source(name: SourceName, body: SourceBody, runtime: RuntimeDep) -> Response:
    """Declare a table: 201 when it is new, 200 when the same is there already.

    `on_error` alone may differ from what is there, and changes; a stalled pipeline goes on then.
    """
    spec = body.spec(name, runtime.settings.on_error)
    created = runtime.sources.put(spec)
    return answer(spec.to_json(), 201 if created else 200)


@router.get("")
def list_sources(runtime: RuntimeDep) -> Response:
    """All sources, in the order they were declared."""
    specs = list(runtime.registry.sources.values())
    return answer({"sources": _described(runtime, specs)})


@router.get("/{name}")
def get_source(name: str, runtime: RuntimeDep) -> Response:
    """A source, and how far its topic is reflected."""
    [described] = _described(runtime, [runtime.sources.get(name)])
    return answer(described)


@router.delete("/{name}", status_code=204)
def delete_source(name: str, runtime: RuntimeDep) -> None:
    """Forget a source that no view reads; its topic stays."""
    runtime.sources.drop(name)


def _described(runtime: Runtime, specs: Sequence[TableSpec]) -> list[dict[str, Any]]:
    """Sources, the reflected offsets of their topics, and the outcomes of their records.

    `offsets` and `lag`, the records that are still to come, are by partition. `caught_up`: it has
    read what its topic held when it was declared. `records` counts those since the service started,
    replays not counted; each is exactly one of these. `corrected` of the rejected ones were applied
    since.
    """
    reflected, meter = runtime.applier.offsets().by_source(), runtime.meter
    behind = runtime.readiness.catching_up()
    lags: dict[str, dict[int, int]] = {}
    for (name, _, partition), count in runtime.pipeline.status().lag.items():
        lags.setdefault(name, {})[partition] = count
    return [
        {
            **spec.to_json(),
            "offsets": reflected.get(spec.name, {}),
            "lag": lags.get(spec.name, {}),
            "caught_up": spec.name not in behind,
            "records": meter.by_outcome(spec.name),
            "corrected": meter.corrected[spec.name],
        }
        for spec in specs
    ]
