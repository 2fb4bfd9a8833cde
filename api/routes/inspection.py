"""`/v1/explain`, `/v1/arrangements`, `/v1/errors`: plans, memory, and errors of rows."""

from dataclasses import asdict

from fastapi import APIRouter, Response

from api.deps import RuntimeDep, answer
from api.models import ExplainBody, columns_json

BASIS = (
    "the rows that its inputs have now, and constant shares of those that satisfy a condition "
    "or form a group; without strings and the state of operators"
)

router = APIRouter(prefix="/v1", tags=["inspection"])


@router.post("/explain")
def explain(body: ExplainBody, runtime: RuntimeDep) -> Response:
    """The view that this query would make: columns, key, arrangements, and each stage's plan."""
    compiled, arrangements, stages = runtime.compiler.explain(
        body.query, body.language, body.key, lookups=body.lookups
    )
    return answer(
        {
            "columns": columns_json(compiled.schema),
            "key": compiled.key,
            "reads": compiled.dependencies,
            "arrangements": {
                "reused": arrangements.reused,
                "created": [asdict(made) for made in arrangements.foretold],
                "rows": sum(made.rows for made in arrangements.foretold),
                "bytes": sum(made.bytes for made in arrangements.foretold),
                "basis": BASIS,
            },
            "stages": [asdict(stage) for stage in stages],
        }
    )


@router.get("/arrangements")
def arrangements(runtime: RuntimeDep) -> Response:
    """Every arrangement and state beside it: its records, bytes, and the views that read it."""
    infos = runtime.pool.arrangements()
    return answer({"arrangements": [asdict(info) for info in infos]})


@router.get("/errors")
def errors(runtime: RuntimeDep, view: str | None = None) -> Response:
    """Rows that could not be computed, by view and message."""
    if view is not None:
        runtime.views.get(view)
    found = [
        {"view": name, "error": message, "count": count}
        for name, messages in sorted(dict(runtime.applier.errors).items())
        if view in (None, name)
        for message, count in sorted(messages.items())
    ]
    return answer({"errors": found})
