"""`/v1/views/{name}/changes`: the change feed, as server-sent events or as Arrow record batches.

With `snapshot` (the default) come `snapshot` events, `{"time", "rows", "counts"}`, and then
`changes` events, `{"time", "deltas", "offsets", "sources"}`, for every later time. With `since`, or
the header `Last-Event-ID`, only what came after that time. The times of one batch, where a source's
resolution is finer, come as its last. A large time comes in several events; the last carries the
event's id, which is the time, and the offsets by topic and by source. `renamed` has the new name of
the view, under which it is followed after this connection; `end` says that the view is no more, or
why it failed. Where retention has removed what came after `since`, the answer is 410.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from sse_starlette import EventSourceResponse
from starlette.concurrency import run_in_threadpool

from api.deps import FollowersDep, PublishedDep, RuntimeDep
from api.errors import BadParameter, ChangesGone
from api.feed import Event, Feed
from api.feed_forms import ARROW, EVENTS, ArrowBatches, Form, ServerSentEvents
from api.filters import Row, accepting, in_part, values_of
from api.followers import FeedResponse, Followers
from api.formats import preferred
from api.runtime import Runtime
from api.signals import Signal
from api.snapshots import Part, take
from api.values import is_natural

router = APIRouter(prefix="/v1/views", tags=["views"])
RESERVED = frozenset({"snapshot", "since", "part"})
SNAPSHOT = "Begin with the rows of now; else, and without `since`, with the changes from now on."
SINCE = "Begin with the changes after this time, as with the header Last-Event-ID."
PART = "The rows of one part of the view by their keys: `0/4` is the first of four."
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


@dataclass(frozen=True, slots=True)
class Wanted:
    """A follower's request: a view, from after `since` if given, in a form.

    Rows come that `accepts` takes, all without it.
    """

    name: str
    snapshot: bool
    since: int | None
    form: Form
    accepts: Callable[[Row], bool] | None = None


@router.get(
    "/{name}/changes",
    response_class=EventSourceResponse,
    responses={
        200: {
            "content": {
                EVENTS: {"schema": {"type": "string"}, "example": EXAMPLE},
                ARROW: {"schema": {"type": "string", "format": "binary"}},
            }
        }
    },
)
async def get_changes(
    name: str,
    request: Request,
    runtime: RuntimeDep,
    published: PublishedDep,
    followers: FollowersDep,
    snapshot: Annotated[bool, Query(description=SNAPSHOT)] = True,
    since: Annotated[int | None, Query(ge=0, description=SINCE)] = None,
    part: Annotated[str | None, Query(description=PART)] = None,
    last_event_id: Annotated[str | None, Header()] = None,
    accept: Annotated[str, Header(description=f"{EVENTS}, or {ARROW}.")] = "",
) -> EventSourceResponse:
    """Follow a view from a snapshot on, from after the time `since`, or (neither) from now on.

    `column=value`, or `filter[column]=value`, follows the rows with these values alone, and `part`
    those of a part: several clients share a view so. A client that takes nothing for `send_seconds`
    is told so by an `end` event, and disconnected.
    """
    view = runtime.views.readable(name)
    if last_event_id is not None:
        if not is_natural(last_event_id):
            raise BadParameter(f"Last-Event-ID {last_event_id!r} is no time")
        since = int(last_event_id)
    if since is None and snapshot:
        runtime.views.looked_up(name)
    if since is not None:
        await run_in_threadpool(_feed(runtime, name).expect_held, since)
    is_arrow = preferred(accept, (EVENTS, ARROW)) == ARROW
    form: Form = ArrowBatches(view.schema) if is_arrow else ServerSentEvents()
    values = values_of(request.query_params.multi_items(), view, RESERVED)
    filters = [accepting(values, view)] if values else []
    if part is not None:
        filters.append(in_part(part, view))
    accepts = (lambda row: all(takes(row) for takes in filters)) if filters else None
    wanted = Wanted(name, snapshot, since, form, accepts)
    events = _events(runtime, published, followers, wanted)
    return FeedResponse(events, form, followers, runtime.settings.send_seconds)


async def _events(
    runtime: Runtime, published: Signal, followers: Followers, wanted: Wanted
) -> AsyncIterator[bytes]:
    name, form = wanted.name, wanted.form
    life, most_bytes = runtime.registry.life(name), runtime.settings.event_bytes
    if begun := form.begin():
        yield begun
    after = runtime.pool.frontier - 1 if wanted.since is None else wanted.since
    if wanted.since is None and wanted.snapshot:
        after, parts = await followers.take(take, runtime.pool, name, runtime.work, most_bytes)
        async for part in followers.each(map(form.snapshot, _accepted_parts(parts, wanted))):
            yield part
    published_as = runtime.registry.published_as(name)
    feed = _feed(runtime, name)
    await followers.run(feed.seek, after, runtime.sink.published.get(published_as, 0))
    while True:
        changed = published.next()
        complete = runtime.sink.complete  # first: the end that is read next holds all up to it
        committed = runtime.sink.published.get(published_as)
        named = runtime.registry.name_of(life, name)
        if committed is None or named is None:
            yield form.end("the view is no more")  # or it is another of that name
            return
        if named != name:
            name = named
            yield form.renamed(name)
        view = runtime.registry.view(name)
        if view is not None and not form.fits(view.schema):  # amid a renaming it has no name
            yield form.end("the view has other columns; follow it anew")
            return
        told = () if name in runtime.applier.failed else feed.progress(complete)
        events = _accepted(chain(feed.events(committed), told), wanted)
        try:
            async for event in followers.each(map(form.changes, events)):
                yield event
        except ChangesGone as error:
            yield form.end(str(error))
            return
        if name in runtime.applier.failed:
            yield form.end(runtime.applier.failed[name])
            return
        await changed.wait()


def _feed(runtime: Runtime, name: str) -> Feed:
    topic = runtime.sink.topic(runtime.registry.published_as(name))
    return Feed(runtime.topics, topic, runtime.settings.event_bytes)


def _accepted_parts(parts: Iterator[Part], wanted: Wanted) -> Iterator[Part]:
    """The parts of a snapshot with the rows that are wanted."""
    accepts = wanted.accepts
    if accepts is None:
        yield from parts
        return
    for part in parts:
        kept = [pair for pair in zip(part.rows, part.counts, strict=True) if accepts(pair[0])]
        if kept or part.is_last:
            rows, counts = [row for row, _ in kept], [count for _, count in kept]
            yield replace(part, rows=rows, counts=counts)


def _accepted(events: Iterator[Event], wanted: Wanted) -> Iterator[Event]:
    """The events with the deltas that are wanted; that a time is complete comes in any case."""
    accepts = wanted.accepts
    if accepts is None:
        yield from events
        return
    for event in events:
        deltas = [delta for delta in event.deltas if accepts(delta["row"])]
        if deltas or event.reflected is not None:
            yield replace(event, deltas=deltas)
