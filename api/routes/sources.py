"""`/v1/sources`: tables and the topics that carry their changes."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Path, Response

from api.answers.replacements import WouldDeclare
from api.answers.sources import Declared, Inferred, Source, Sources, TopicRead
from api.deps import PrincipalDep, RuntimeDep, answer
from api.models import InferBody, Name, SourceBody
from api.runtime import Runtime
from api.status import source_status
from api.streams import streams
from connectors.streams import table_of
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
    place = {"topic": body.topic} if body.topic is not None else {}
    if body.topic_pattern is not None:
        place = {"topic_pattern": body.topic_pattern}
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
    behind, stalled = runtime.readiness.catching_up(), runtime.readiness.stalled()
    topics = streams(runtime.registry.sources, runtime.journal.tables)
    standing = runtime.pipeline.stalled
    lags: dict[tuple[str, str], dict[int, int]] = {}
    for (name, topic, partition), count in runtime.pipeline.status().lag.items():
        lags.setdefault((name, topic), {})[partition] = count
    is_replayed = runtime.readiness.is_replayed

    def state(spec: TableSpec) -> dict[str, Any]:
        why = stalled[spec.name].detail if spec.name in stalled else None
        read = {
            topic: TopicRead(
                offsets=dict(reflected.get(stream, {})),
                lag=lags.get((spec.name, topic), {}),
                stalled=standing.get(stream),
            )
            for stream, topic in topics.items()
            if table_of(stream) == spec.name
        }
        status, hydrated = source_status(
            why, behind.get(spec.name), is_replayed=is_replayed, has_topic=bool(read)
        )
        found: dict[str, Any] = {"status": status, "stalled": why}
        if hydrated is not None:
            found["hydrated"] = hydrated
        if spec.topic_pattern is not None:
            return found | {"offsets": {}, "lag": {}, "topics": read}
        own = read[spec.topic]
        return found | {"offsets": own.offsets, "lag": own.lag}

    return [
        Source(
            **spec.to_json(),
            **state(spec),
            caught_up=spec.name not in behind,
            records=meter.by_outcome(spec.name),
            corrected=meter.corrected[spec.name],
            errors=runtime.applier.feeder.miscounts.count(spec.name),
        )
        for spec in specs
    ]
