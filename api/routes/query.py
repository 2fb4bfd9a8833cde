"""`/v1/query`: answers a query once, as of one consistent time."""

from typing import Annotated

import orjson
from fastapi import APIRouter, Header, Response

from api.answers import Answered, Column
from api.deps import AskedDep, RuntimeDep
from api.formats import JSON, WRITERS, accepted
from api.large import LargeAnswers
from api.models import QueryBody
from api.runtime import Runtime
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
    accept: Annotated[str, Header(description=ACCEPT)] = "",
) -> Response:
    """The first rows of a query over sources and views, in the order that it asks for.

    All is as of one time. Formats other than JSON have the rows alone; their headers `ivm-time` and
    `ivm-more` say what else JSON's members do.
    """
    return await asked.make(_answer, runtime, asked, body, accepted(accept))


def _answer(runtime: Runtime, asked: LargeAnswers, body: QueryBody, media: str) -> Response:
    most = min(body.limit, runtime.settings.max_rows)
    found = runtime.queries.ask(body.query, body.language, most)
    told = found.offsets.told()
    if media != JSON:
        headers = {"ivm-time": str(found.time), "ivm-more": str(found.more).lower()}
        return asked.response(WRITERS[media](found.rows), headers, media)
    columns = [column.model_dump() for column in Column.all_of(found.rows.schema)]
    content = {
        "time": found.time,
        "columns": columns,
        "rows": json_rows(found.rows),
        "more": found.more,
        **told,
    }
    return asked.response(orjson.dumps(content, option=orjson.OPT_NON_STR_KEYS), {}, media)
