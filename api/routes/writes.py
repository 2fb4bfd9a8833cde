"""`/v1/sources/{name}/rows`: writes rows of tables with connector `http`."""

from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from api.answers.sources import RowsWritten
from api.deps import RuntimeDep, answer
from api.posted import READERS, records_of
from api.runtime import Runtime
from api.services.writes import check_written

router = APIRouter(prefix="/v1/sources", tags=["sources"])
CHANGES = 'The rows are changes: `{"insert": row}`, `{"update": row}` or `{"delete": row}`.'
KEY = "A text of the client's; rows that come again under it are written once."
ROWS = [{"id": 1, "customer": "ada", "amount": "7.50"}]
BODY = {
    "required": True,
    "content": {
        media: {"schema": {"type": "array", "items": {"type": "object"}}, "example": ROWS}
        if media == "application/json"
        else {"schema": {"type": "string", "format": "binary"}}
        for media in READERS
    },
}


@router.post("/{name}/rows", response_model=RowsWritten, openapi_extra={"requestBody": BODY})
async def post_rows(
    name: str,
    request: Request,
    runtime: RuntimeDep,
    changes: Annotated[bool, Query(description=CHANGES)] = False,
    content_type: Annotated[str, Header()] = "",
    idempotency_key: Annotated[
        str | None, Header(min_length=1, max_length=255, description=KEY)
    ] = None,
) -> Response:
    """Write rows, all or none: durable on return, and reflected soon after.

    `at_least` is what look-ups take to wait until they are. A row sets the one of its primary key;
    without a key rows are added.
    """
    body = await request.body()
    return await run_in_threadpool(
        _write, runtime, name, body, content_type, changes, idempotency_key
    )


def _write(
    runtime: Runtime, name: str, body: bytes, media: str, are_changes: bool, key: str | None
) -> Response:
    spec = runtime.sources.get(name)
    check_written(spec)
    records = records_of(body, media, spec, are_changes)
    written = runtime.writes.write(spec, records, key)
    last = written.end - 1
    return answer(
        RowsWritten(
            rows=written.end - written.first,
            offsets={"0": written.end},
            at_least=f"{name}:0:{last}" if last >= 0 else None,
            again=written.again,
        )
    )
