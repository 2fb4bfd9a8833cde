"""Dependencies of handlers, and the form of their answers."""

from typing import Annotated, Any

import orjson
from fastapi import Depends, Request, Response

from api.runtime import Runtime
from api.signals import Signal


async def _runtime(request: Request) -> Runtime:
    runtime: Runtime = request.app.state.runtime
    return runtime


async def _published(request: Request) -> Signal:
    signal: Signal = request.app.state.published
    return signal


RuntimeDep = Annotated[Runtime, Depends(_runtime)]
PublishedDep = Annotated[Signal, Depends(_published)]


def answer(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """`value` as JSON."""
    body = orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)
    return Response(body, status, headers, "application/json")
