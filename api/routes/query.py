"""`/v1/query`: answers a query once, as of one consistent time."""

from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Header, Response

from api.answers.base import Column
from api.answers.rows import Answered
from api.deps import AskedDep, PrincipalDep, RuntimeDep
from api.formats import JSON, WRITERS, accepted
from api.large import LargeAnswers
from api.models import QueryBody
from api.runtime import Runtime
from api.security.principal import Principal
from connectors.sinks.json_rows import json_rows

ACCEPT = "JSON, NDJSON, CSV, an Arrow IPC stream, or Parquet."

BYTES = {"type": "string", "format": "binary"}

router = APIRouter(prefix="/v1", tags=["query"])


@router.post(
    "/query",
    response_model=Answered,
    responses={200: {"content": {media: {"schema": BYTES} for media in WRITERS}}},
)
async def query(
    body: QueryBody,
    runtime: RuntimeDep,
    asked: AskedDep,
    principal: PrincipalDep,
    accept: Annotated[str, Header(description=ACCEPT)] = "",
) -> Response:
    """The first rows of a query over sources and views, in the order that it asks for.

    All is as of one time. Formats other than JSON have the rows alone; their headers `ivm-time` and
    `ivm-more` say what else JSON's members do, and `ivm-stalled` that a source stands still.
    """
    return await asked.make(_answer, runtime, asked, body, accepted(accept), principal)


def _answer(
    runtime: Runtime, asked: LargeAnswers, body: QueryBody, media: str, principal: Principal
) -> Response:
    most = min(body.limit, runtime.settings.max_rows)
    found = runtime.queries.ask(body.query, body.language, most, principal.demand_use)
    told: dict[str, Any] = found.offsets.told()
    if media != JSON:
        headers = {"ivm-time": str(found.time), "ivm-more": str(found.more).lower()}
        if found.stalled is not None:
            headers["ivm-stalled"] = "true"
        return asked.response(WRITERS[media](found.rows), headers, media)
    if found.stalled is not None:
        told["stalled"] = found.stalled
    columns = [column.model_dump() for column in Column.all_of(found.rows.schema)]
    content = {
        "time": found.time,
        "columns": columns,
        "rows": json_rows(found.rows),
        "more": found.more,
        **told,
    }
    return asked.response(orjson.dumps(content, option=orjson.OPT_NON_STR_KEYS), {}, media)
