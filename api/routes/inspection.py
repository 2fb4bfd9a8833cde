"""Inspection: plans, arrangements, shards, operators, errors of rows."""

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from api.answers.base import Column
from api.answers.plans import (
    Arrangements,
    Arranging,
    ClusterShards,
    Explanation,
    MadeArrangement,
    Shard,
    Stage,
    UsedArrangement,
)
from api.answers.rows import RowError, RowErrors
from api.deps import PrincipalDep, RuntimeDep, answer
from api.models import ExplainBody, ViewBody
from api.operators import Operators
from api.runtime import Runtime

BASIS = (
    "the rows that its inputs have now, and constant shares of those that satisfy a condition "
    "or form a group; without strings and the state of operators"
)

router = APIRouter(prefix="/v1", tags=["inspection"])


@router.post("/explain", response_model=Explanation)
def explain(body: ExplainBody, runtime: RuntimeDep, principal: PrincipalDep) -> Response:
    """The view that this query would make: columns, key, arrangements, and each stage's plan."""
    found = explained(runtime, body)
    principal.demand_use(found["reads"])
    return answer(Explanation(**found))


def explained(runtime: Runtime, body: ExplainBody | ViewBody) -> dict[str, Any]:
    """The members of an explanation of a view (raises a kind of SqlError)."""
    compiled, forecast, stages = runtime.compiler.explain(
        body.query, body.language, body.key, lookups=body.lookups
    )
    arranging = Arranging(
        reused=list(forecast.reused),
        created=[MadeArrangement(**asdict(made)) for made in forecast.foretold],
        rows=sum(made.rows for made in forecast.foretold),
        bytes=sum(made.bytes for made in forecast.foretold),
        basis=BASIS,
    )
    return {
        "columns": Column.all_of(compiled.schema),
        "key": list(compiled.key),
        "reads": list(compiled.dependencies),
        "arrangements": arranging,
        "stages": [Stage(**asdict(stage)) for stage in stages],
    }


@router.get("/arrangements", response_model=Arrangements)
def arrangements(runtime: RuntimeDep) -> Response:
    """Every arrangement and state beside it: records, bytes, time, and the views that read it."""
    infos = runtime.pool.arrangements()
    return answer(Arrangements(arrangements=[UsedArrangement(**asdict(i)) for i in infos]))


@router.get("/cluster", response_model=ClusterShards)
def cluster(runtime: RuntimeDep) -> Response:
    """The shards of the engine on Spark's executors, and what each of them holds."""
    told = [(share.member, share._asdict()) for share in runtime.shares()]
    found = [Shard(shard=at, **{n: v for n, v in f.items() if n != "member"}) for at, f in told]
    return answer(ClusterShards(shards=found))


@router.get("/views/{name}/operators", response_model=Operators)
def operators(name: str, runtime: RuntimeDep) -> Response:
    """The operators of a view: rows, bytes and time of each, and the rounds of its loops.

    They are those of the physical plan that it was installed by, as `explain` showed it then.
    """
    view = runtime.views.readable(name)
    return answer(Operators.of(runtime.pool.operators(view.name)))


@router.get("/errors", response_model=RowErrors)
def errors(
    runtime: RuntimeDep,
    view: Annotated[str | None, Query(description="Of this view alone.")] = None,
) -> Response:
    """Rows that could not be computed, by view and message; keys of sources that do not add up."""
    sources = frozenset(runtime.registry.sources)
    if view is not None:
        sources = runtime.registry.catalog.tables_under(runtime.views.get(view).name)
    found = [
        RowError(view=name, error=message, count=count)
        for name, messages in sorted(dict(runtime.applier.errors).items())
        if view in (None, name)
        for message, count in sorted(messages.items())
    ]
    miscounts = runtime.applier.feeder.miscounts.faults
    found += [
        RowError(source=name, error=message, count=count)
        for name, miscounted in sorted(dict(miscounts).items())
        if name in sources
        for message, count in miscounted.messages.items()
    ]
    return answer(RowErrors(errors=found))
