"""`/v1/views/{name}/changes`: the change feed, as server-sent events.

With `snapshot` (the default) come `snapshot` events, `{"time", "rows", "counts"}`, and then
`changes` events, `{"time", "deltas", "offsets", "sources"}`, for every later time. With `since`, or
the header `Last-Event-ID`, only what came after that time. The times of one batch, where a source's
resolution is finer, come as its last. A large time comes in several events; the last carries the
event's id, which is the time, and the offsets by topic and by source. `end` says that the view is
no more, or why it failed.
"""

from collections.abc import AsyncIterator
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Header, Query
from sse_starlette import EventSourceResponse, ServerSentEvent

from api.deps import FollowersDep, PublishedDep, RuntimeDep
from api.errors import BadParameter
from api.feed import Event, Feed
from api.followers import FeedResponse, Followers, end
from api.runtime import Runtime
from api.signals import Signal
from api.snapshots import Part, take
from api.values import is_natural

router = APIRouter(prefix="/v1/views", tags=["views"])
SNAPSHOT = "Begin with the rows of now; else, and without `since`, with the changes from now on."
SINCE = "Begin with the changes after this time, as with the header Last-Event-ID."
EXAMPLE = """\
event: snapshot
id: 41
data: {"time":41,"rows":[{"customer":"ada","total":"7.50"}],"counts":[1]}

event: changes
id: 42
data: {"time":42,"deltas":[{"op":"-","diff":-1,"row":{"customer":"ada","total":"7.50"}},\
{"op":"+","diff":1,"row":{"customer":"ada","total":"12.50"}}],\
"offsets":{"orders":{"0":2}},"sources":{"orders":{"0":2}}}
"""


@router.get(
    "/{name}/changes",
    response_class=EventSourceResponse,
    responses={
        200: {"content": {"text/event-stream": {"schema": {"type": "string"}, "example": EXAMPLE}}}
    },
)
async def get_changes(
    name: str,
    runtime: RuntimeDep,
    published: PublishedDep,
    followers: FollowersDep,
    snapshot: Annotated[bool, Query(description=SNAPSHOT)] = True,
    since: Annotated[int | None, Query(ge=0, description=SINCE)] = None,
    last_event_id: Annotated[str | None, Header()] = None,
) -> EventSourceResponse:
    """Follow a view from a snapshot on, from after the time `since`, or (neither) from now on.

    A client that takes nothing for `send_seconds` is told so by an `end` event, and disconnected.
    """
    runtime.views.readable(name)
    if last_event_id is not None:
        if not is_natural(last_event_id):
            raise BadParameter(f"Last-Event-ID {last_event_id!r} is no time")
        since = int(last_event_id)
    if since is None and snapshot:
        runtime.views.looked_up(name)
    events = _events(runtime, published, followers, name, snapshot, since)
    return FeedResponse(events, followers, runtime.settings.send_seconds)


async def _events(
    runtime: Runtime,
    published: Signal,
    followers: Followers,
    name: str,
    snapshot: bool,
    since: int | None,
) -> AsyncIterator[bytes]:
    view, most_bytes = runtime.registry.view(name), runtime.settings.event_bytes
    after = runtime.pool.frontier - 1 if since is None else since
    if since is None and snapshot:
        after, parts = await followers.take(take, runtime.pool, name, runtime.work, most_bytes)
        async for part in followers.each(map(_part, parts)):
            yield part
    feed = Feed(runtime.topics, runtime.sink.topic(name), most_bytes)
    await followers.run(feed.seek, after, runtime.sink.published.get(name, 0))
    while True:
        changed = published.next()
        committed = runtime.sink.published.get(name)
        if committed is None or runtime.registry.view(name) is not view:  # or another of that name
            yield end("the view is no more")
            return
        async for event in followers.each(map(_event, feed.events(committed))):
            yield event
        if name in runtime.applier.failed:
            yield end(runtime.applier.failed[name])
            return
        await changed.wait()


def _part(part: Part) -> bytes:
    """Rows of a snapshot; only the last ones have an id."""
    data = {"time": part.time, "rows": part.rows, "counts": part.counts}
    return _sent("snapshot", data, part.time if part.is_last else None)


def _event(event: Event) -> bytes:
    """Deltas of a time; only the last ones have an id, and the offsets that are reflected."""
    data: dict[str, Any] = {"time": event.time, "deltas": event.deltas}
    if event.reflected is None:
        return _sent("changes", data, None)
    return _sent("changes", data | event.reflected, event.time)


def _sent(name: str, data: dict[str, Any], time: int | None) -> bytes:
    text = orjson.dumps(data).decode()
    return ServerSentEvent(text, event=name, id=None if time is None else str(time)).encode()
