"""`/v1/views/{name}/changes`: the change feed, as server-sent events.

With `snapshot` (the default) come `snapshot` events, `{"time", "rows", "counts"}`, and then
`changes` events, `{"time", "deltas", "offsets", "sources"}`, for every later time. With `since`, or
the header `Last-Event-ID`, only what came after that time. The times of one batch, where a source's
resolution is finer, come as its last. A large time comes in several events; the last carries the
event's id, which is the time, and the offsets by topic and by source. `end` says that the view is
no more, or why it failed.
"""

from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Header, Query
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool

from api.deps import PublishedDep, RuntimeDep
from api.errors import BadParameter
from api.feed import LINES, Event, Feed
from api.runtime import Runtime
from api.signals import Signal
from api.values import is_natural
from connectors.sinks.json_rows import json_rows

router = APIRouter(prefix="/v1/views", tags=["views"])
EXAMPLE = """\
event: snapshot
id: 41
data: {"time":41,"rows":[{"customer":"ada","total":"7.50"}],"counts":[1]}

event: changes
id: 42
data: {"time":42,"deltas":[{"row":{"customer":"ada","total":"7.50"},"diff":-1},\
{"row":{"customer":"ada","total":"12.50"},"diff":1}],\
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
    snapshot: bool = True,
    since: Annotated[int | None, Query(ge=0)] = None,
    last_event_id: Annotated[str | None, Header()] = None,
) -> EventSourceResponse:
    """Follow a view from a snapshot on, from after the time `since`, or (neither) from now on.

    A client that takes nothing for `send_seconds` is disconnected.
    """
    runtime.views.readable(name)
    if last_event_id is not None:
        if not is_natural(last_event_id):
            raise BadParameter(f"Last-Event-ID {last_event_id!r} is no time")
        since = int(last_event_id)
    if since is None and snapshot:
        runtime.views.looked_up(name)
    events = _events(runtime, published, name, snapshot, since)
    return EventSourceResponse(events, send_timeout=runtime.settings.send_seconds)


async def _events(
    runtime: Runtime, published: Signal, name: str, snapshot: bool, since: int | None
) -> AsyncIterator[ServerSentEvent]:
    view = runtime.registry.view(name)
    feed = Feed(runtime.topics, runtime.sink.topic(name))
    if since is None:
        since = runtime.pool.frontier - 1
        if snapshot:
            taken = await run_in_threadpool(runtime.pool.scan, name)
            since = taken.time or 0
            rows, counts = json_rows(taken.rows), taken.counts.tolist()
            for part in _parts(since, rows, counts):
                yield part
    await run_in_threadpool(feed.seek, since, runtime.sink.published.get(name, 0))
    while True:
        changed = published.next()
        end = runtime.sink.published.get(name)
        if end is None or runtime.registry.view(name) is not view:  # or another one of that name
            yield _end("the view is no more")
            return
        events = feed.events(end)
        while (event := await run_in_threadpool(next, events, None)) is not None:
            yield _sent(event)
        if name in runtime.applier.failed:
            yield _end(runtime.applier.failed[name])
            return
        await changed.wait()


def _parts(time: int, rows: list[Any], counts: list[int]) -> Iterator[ServerSentEvent]:
    """A snapshot in events of at most `LINES` rows; only the last one has an id."""
    starts = range(0, max(len(rows), 1), LINES)
    for start in starts:
        stop = start + LINES
        data = {"time": time, "rows": rows[start:stop], "counts": counts[start:stop]}
        is_last = start == starts[-1]
        yield ServerSentEvent(
            orjson.dumps(data).decode(), event="snapshot", id=str(time) if is_last else None
        )


def _end(detail: str) -> ServerSentEvent:
    return ServerSentEvent(orjson.dumps({"detail": detail}).decode(), event="end")


def _sent(event: Event) -> ServerSentEvent:
    data: dict[str, Any] = {"time": event.time, "deltas": event.deltas}
    if event.reflected is None:
        return ServerSentEvent(orjson.dumps(data).decode(), event="changes")
    data |= event.reflected
    return ServerSentEvent(orjson.dumps(data).decode(), event="changes", id=str(event.time))
