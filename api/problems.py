"""Errors as RFC 9457 problem documents, `application/problem+json`.

`code` is the error's stable code; `type` is a URN made of it. A fault in SQL adds `position`,
`line` and `column`, counted from 1; one outside the service `part` and the `setting` to look at.
"""

import errno
from http import HTTPStatus
from typing import Any

import orjson
import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from api.errors import located
from connectors.errors import Unavailable
from ivm.errors import IvmError
from views.errors import SqlError

log = structlog.get_logger()

# What is not listed is a request that was understood and cannot be carried out: 422.
STATUS = {
    "unknown-name": 404,
    "unknown-collection": 404,
    "name-taken": 409,
    "duplicate-name": 409,
    "duplicate-table": 409,
    "different-definition": 409,
    "still-used": 409,
    "in-use": 409,
    "replacement-refused": 409,
    "replacement-not-ready": 409,
    "replacement-failed": 409,
    "preview-outdated": 409,
    "out-of-memory": 507,
    "registry-not-written": 507,
    "pool-failed": 503,
    "view-failed": 409,
    "bad-parameter": 400,
    "not-indexed": 400,
    "changes-gone": 410,
    "unknown-record": 404,
    "record-closed": 409,
    "superseded": 409,
    "not-stalled": 409,
    "replay-under-way": 503,
    "body-too-large": 413,
    "not-acceptable": 406,
    "not-written-here": 409,
    "unsupported-media-type": 415,
    "unauthorized": 401,
    "forbidden": 403,
    "host-refused": 403,
    "too-many-requests": 429,
    "too-many-followers": 429,
    "not-ready": 503,
    "pipeline-failed": 503,
    "stalled": 503,
    "broker-unreachable": 503,
    "broker-refused": 503,
    "registry-unavailable": 503,
    "spark-unavailable": 503,
    "memory-short": 503,
    "unavailable": 503,
    "records-lost": 503,
    "topic-recreated": 503,
    "java-missing": 503,
    "correction-lost": 503,
    "unknown-table": 404,
    "sink-diverged": 503,
    "sink-fenced": 503,
    "offset-not-reached": 504,
}

# Statuses that may be otherwise soon.
_PASSING = (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS)


def problem(status: int, code: str, detail: str, **more: Any) -> Response:
    """One problem document as a response; members of `more` that are None are left out."""
    document = {
        "type": f"urn:ivm:problem:{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": code,
        **{name: value for name, value in more.items() if value is not None},
    }
    headers = {"retry-after": "2"} if status in _PASSING else None
    return Response(orjson.dumps(document), status, headers, "application/problem+json")


def of_error(error: IvmError) -> Response:
    """The problem document of an error."""
    if isinstance(error, SqlError):
        place = {"position": error.position, "line": error.line, "column": error.column}
        return problem(422, error.code, error.message, **place)
    status = STATUS.get(error.code, 422)
    if isinstance(error, Unavailable):
        return problem(status, error.code, str(error), part=error.part, setting=error.setting)
    return problem(status, error.code, str(error))


def install(app: FastAPI) -> None:
    """Let `app` answer every error by a problem document."""

    @app.exception_handler(IvmError)
    async def on_error(_: Request, error: IvmError) -> Response:
        return of_error(error)

    @app.exception_handler(RequestValidationError)
    async def on_invalid(request: Request, error: RequestValidationError) -> Response:
        kind = request.headers.get("content-type", "")
        whole = any(fault["loc"] == ("body",) for fault in error.errors())
        if whole and not kind.partition(";")[0].strip().endswith("json"):
            sent = kind or "of no type"
            told = f"the body is {sent}; send JSON, as content-type: application/json"
            return problem(415, "unsupported-media-type", told)
        return problem(422, "invalid-request", located(error.errors()))

    @app.exception_handler(HTTPException)
    async def on_http(_: Request, error: HTTPException) -> Response:
        code = HTTPStatus(error.status_code).phrase.lower().replace(" ", "-")
        return problem(error.status_code, code, str(error.detail))

    @app.exception_handler(OSError)
    async def on_system(request: Request, error: OSError) -> Response:
        if error.errno != errno.ENOSPC:
            return await on_fault(request, error)
        log.error("no space left", path=request.url.path, exc_info=error)
        return problem(507, "no-space-left", "the disk is full; make room, and try again")

    @app.exception_handler(Exception)
    async def on_fault(request: Request, error: Exception) -> Response:
        log.error("request failed", path=request.url.path, exc_info=error)
        return problem(500, "internal-error", f"{type(error).__name__}; the log has the details")
