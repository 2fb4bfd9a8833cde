"""What runs and what went wrong: explain, arrangements, row errors, quarantined records."""

from base64 import b64encode
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from api.deps import RuntimeDep, answer
from api.errors import BadParameter
from api.models import ExplainBody, columns_json
from api.values import is_natural
from connectors.quarantine import Rejected

BASIS = (
    "the rows that its inputs have now, and constant shares of those that satisfy a condition "
    "or form a group; without strings and the state of operators"
)

router = APIRouter(prefix="/v1", tags=["inspection"])


@router.post("/explain")
def explain(body: ExplainBody, runtime: RuntimeDep) -> Response:
    """What a view over this query would be: columns, key, arrangements, and each stage's plan."""
    compiled, arrangements, stages = runtime.explain(body.query, body.language, body.key)
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
    """Every arrangement and state beside it: what is held, bytes, and the views that read it."""
    infos = runtime.pool.arrangements()
    return answer({"arrangements": [asdict(info) for info in infos]})


@router.get("/errors")
def errors(runtime: RuntimeDep, view: str | None = None) -> Response:
    """Rows that could not be computed, by view and message."""
    if view is not None:
        runtime.view(view)
    found = [
        {"view": name, "error": message, "count": count}
        for name, messages in sorted(dict(runtime.applier.errors).items())
        if view in (None, name)
        for message, count in sorted(messages.items())
    ]
    return answer({"errors": found})


@router.get("/quarantine")
def quarantine(
    runtime: RuntimeDep,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 100,
    cursor: str | None = None,
    table: str | None = None,
) -> Response:
    """Records that could not be decoded, byte for byte, with their coordinates and the reason."""
    records = runtime.quarantine.page(limit, _after(cursor), table)
    body: dict[str, Any] = {"records": [_record(record) for record in records]}
    if len(records) == limit:
        last = records[-1]
        body["next"] = f"{last.table}:{last.partition}:{last.offset}"
    return answer(body)


def _record(record: Rejected) -> dict[str, Any]:
    """`value` is the record as text, or `value_base64` if it is not UTF-8."""
    document = asdict(record)
    value = document.pop("value")
    try:
        return {**document, "value": value.decode()}
    except UnicodeDecodeError:
        return {**document, "value_base64": b64encode(value).decode()}


def _after(cursor: str | None) -> tuple[str, int, int] | None:
    if cursor is None:
        return None
    table, _, rest = cursor.partition(":")
    partition, _, offset = rest.partition(":")
    if not (is_natural(partition) and is_natural(offset)):
        raise BadParameter("this is no cursor of the quarantine")
    return table, int(partition), int(offset)
