"""Followers of change feeds: counted, bounded in bytes, and dropped once they take nothing.

A follower holds two or three events of bounded size: read, made, and to be sent. A snapshot that is
larger stands in a file, from which it is read event by event, so that memory does not depend on how
slowly it is taken. Events are made by few threads, which leave the interpreter to look-ups.
"""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar, TypeVarTuple, cast

import anyio
import structlog
from anyio.to_thread import run_sync
from sse_starlette import EventSourceResponse, ServerSentEvent
from sse_starlette.sse import ContentStream, SendTimeoutError
from starlette.types import Receive, Scope, Send

from api.errors import TooManyFollowers
from api.feed_forms import Form
from api.problems import of_error

# Threads that make events of all followers: more would keep look-ups from the interpreter.
THREADS = 2

Args = TypeVarTuple("Args")
T = TypeVar("T")

log = structlog.get_logger()


class Followers:
    """The followers of one service, at most `most` in all and `per_client` from one address."""

    def __init__(self, most: int, per_client: int) -> None:
        self.dropped = 0
        self._most = most
        self._per_client = per_client
        self._present: Counter[str] = Counter()
        self._making = anyio.CapacityLimiter(THREADS)
        self._taking = anyio.CapacityLimiter(1)

    @property
    def count(self) -> int:
        """The followers that are connected."""
        return self._present.total()

    @contextmanager
    def one(self, client: str) -> Iterator[None]:
        """Count a follower as long as it is connected (raises TooManyFollowers)."""
        if self._present[client] >= self._per_client:
            raise TooManyFollowers(
                f"{client} follows {self._per_client} views, and max_followers_per_client allows "
                "no more; close a connection, or let the operator raise it"
            )
        if self.count >= self._most:
            raise TooManyFollowers(
                f"there are {self._most} followers, and max_followers allows no more; try again "
                "later, or let the operator raise it"
            )
        self._present[client] += 1
        try:
            yield
        finally:
            self._present[client] -= 1
            self._present += Counter()  # forgets clients that are gone

    async def run(self, call: Callable[[*Args], T], *arguments: *Args) -> T:
        """Call on one of the threads that followers share."""
        return await run_sync(call, *arguments, limiter=self._making)

    async def take(self, call: Callable[[*Args], T], *arguments: *Args) -> T:
        """Call what takes memory for all rows of a view, one caller at a time."""
        return await run_sync(call, *arguments, limiter=self._taking)

    async def each(self, events: Iterator[T]) -> AsyncIterator[T]:
        """The events, each made on one of the threads that followers share."""
        while (event := await self.run(next, events, None)) is not None:
            yield event


class FeedResponse(EventSourceResponse):
    """Events for one follower, for as long as it takes them.

    One that takes nothing for `seconds` is told by an `end` event behind what it has yet to read;
    the kernel closes a connection on which that is not read either (see `api.serve.listening`).
    """

    def __init__(
        self, events: ContentStream, form: Form, followers: Followers, seconds: float
    ) -> None:
        heartbeat = cast(Callable[[], ServerSentEvent], form.heartbeat)
        super().__init__(
            events,
            media_type=form.media,
            ping_message_factory=heartbeat,
            send_timeout=seconds,
        )
        self._form = form
        self._followers = followers
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events, or a problem document if there are too many followers."""
        client = scope["client"][0] if scope.get("client") else "this client"
        try:
            with self._followers.one(client):
                await self._send_all(client, scope, receive, send)
        except TooManyFollowers as error:
            await of_error(error)(scope, receive, send)

    async def _send_all(self, client: str, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        except SendTimeoutError:
            self._followers.dropped += 1
            log.warning("a follower was dropped", path=scope["path"], client=client)
            detail = (
                f"the client took nothing for {self._seconds:g} s; read faster, and follow on from "
                "the last event's id"
            )
            body = self._form.end(detail)
            with anyio.move_on_after(4 * self._seconds):
                await send({"type": "http.response.body", "body": body, "more_body": False})
