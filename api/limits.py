"""Refuses bodies that are too large, before they are read into memory."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.errors import BodyTooLarge
from api.problems import of_error
from api.security.principal import Principal


class BodyLimit:
    """ASGI middleware: a request's body has at most `limit` bytes, or its principal's own limit."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, counting its body."""
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD", "DELETE"):
            await self._app(scope, receive, send)
            return
        principal: Principal | None = scope["state"]["principal"]
        own = principal.body_bytes if principal is not None else None
        limit = self._limit if own is None else min(own, self._limit)
        body = bytearray()
        more = True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > limit:
                error = BodyTooLarge(f"the body exceeds {limit} bytes")
                await of_error(error)(scope, receive, send)
                return
        pending: list[Message] = [{"type": "http.request", "body": bytes(body)}]

        async def replay() -> Message:
            return pending.pop() if pending else await receive()

        await self._app(scope, replay, send)
