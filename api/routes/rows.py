"""`/v1/views/{name}/rows`: look-ups, as of one consistent time.

Numbers and booleans are JSON's; decimals are strings with all their digits; dates, times and
timestamps are ISO 8601 strings; binary is base64. Parameters that are not listed here are column
values, written the same way; `filter[name]` is the value of a column whatever it is called.
"""

import asyncio
import re
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Query, Request, Response

from api.answers import Rows
from api.deps import LargeDep, PublishedDep, RuntimeDep
from api.errors import BadParameter, OffsetNotReached
from api.large import LargeAnswers
from api.pages import matching, page
from api.runtime import Runtime
from api.signals import Signal
from api.values import is_natural, parse
from connectors.offsets import Offsets, offsets_of
from ivm.errors import NotIndexed
from ivm.results import Snapshot
from ivm.values.types import INTERVAL
from views.catalog import View

router = APIRouter(prefix="/v1/views", tags=["views"])
RESERVED = frozenset({"limit", "cursor", "scan", "at_least"})
LIMIT = "Rows of a page, at most; no page has more than the setting max_rows."
CURSOR = "The `next` of the page before; the other parameters stay as they were."
SCAN = "Read all rows, so that columns without an index can be given, or none."
AT_LEAST = "Wait until this is reflected: `topic:partition:offset` or `source:partition:offset`."
# A wait looks again this often, whether anything was published or not.
LOOK_SECONDS = 1.0
_FILTER = re.compile(r"filter\[(.*)\]", re.DOTALL)

# Rows of which an answer is made without leaving the loop of all requests.
AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class Wanted:
    """The rows of a view that a request is for; `known` are the tags of what it has."""

    view: View
    values: dict[str, Any]
    limit: int
    cursor: str | None
    known: str


@router.get("/{name}/rows", response_model=Rows, responses={304: {"description": "As it was."}})
async def get_rows(
    name: str,
    request: Request,
    runtime: RuntimeDep,
    published: PublishedDep,
    large: LargeDep,
    limit: Annotated[int, Query(ge=1, description=LIMIT)] = 100,
    cursor: Annotated[str | None, Query(description=CURSOR)] = None,
    scan: Annotated[bool, Query(description=SCAN)] = False,
    at_least: Annotated[list[str] | None, Query(description=AT_LEAST)] = None,
) -> Response:
    """Rows with the given column values; with `scan=true` also by columns without an index.

    `column=value` gives a value, and so does `filter[column]=value`, which a column needs that is
    called as one of these parameters. `at_least=topic:partition:offset` waits, within bounds, until
    the record at that offset is reflected by the sources of the topic that the view reads, and
    `at_least=source:partition:offset` until that source reflects it.
    The ETag depends on the rows alone, so `If-None-Match` answers 304 while they stay the same.
    """
    view = runtime.views.looked_up(name)
    for position in at_least or ():
        await _reached(_wanted(position, view, runtime), position, runtime, published)
    known = request.headers.get("if-none-match", "")
    most = min(limit, runtime.settings.max_rows)
    wanted = Wanted(view, _values(request, view), most, cursor, known)
    spans = any(view.schema.field(column).type == INTERVAL for column in wanted.values)
    if scan or spans:  # an index tells intervals apart whose spans are equal
        return await large.make(_scanned, runtime, large, wanted)
    snapshot = _peeked(runtime, view, wanted.values)
    if snapshot.rows.num_rows > AT_ONCE:
        return await large.make(_answer, runtime, large, wanted, snapshot)
    return _answer(runtime, large, wanted, snapshot)


def _scanned(runtime: Runtime, large: LargeAnswers, wanted: Wanted) -> Response:
    return _answer(runtime, large, wanted, runtime.pool.scan(wanted.view.name))


def _answer(runtime: Runtime, large: LargeAnswers, wanted: Wanted, snapshot: Snapshot) -> Response:
    """The page of a snapshot, or that it is as it was."""
    found = page(matching(snapshot, wanted.values), wanted.view.key, wanted.limit, wanted.cursor)
    errors = snapshot.errors + runtime.views.miscounted(wanted.view.name)
    stable = orjson.dumps([found.rows, errors, found.next])
    tag = f'W/"{blake2b(stable, digest_size=12).hexdigest()}"'
    known = {t.strip() for t in wanted.known.split(",")}
    if tag in known or "*" in known:
        return Response(status_code=304, headers={"etag": tag})
    body: dict[str, Any] = {"time": snapshot.time, "rows": found.rows, "errors": errors}
    if found.next is not None:
        body["next"] = found.next
    body |= runtime.applier.offsets(snapshot.time).told()
    return large.response(orjson.dumps(body), {"etag": tag})


def _values(request: Request, view: View) -> dict[str, Any]:
    """The column values among the parameters, typed (raises BadParameter)."""
    values: dict[str, Any] = {}
    for parameter, text in request.query_params.multi_items():
        if parameter in RESERVED:
            continue
        match = _FILTER.fullmatch(parameter)
        name = match[1] if match is not None else parameter
        if name not in view.schema.names:
            raise BadParameter(
                f"view {view.name!r} has no column {name!r}; its columns are "
                f"{', '.join(view.schema.names)}"
            )
        if name in values:
            raise BadParameter(f"column {name!r} is given twice")
        values[name] = parse(text, view.schema.field(name))
    return values


def _peeked(runtime: Runtime, view: View, values: dict[str, Any]) -> Snapshot:
    try:
        return runtime.pool.peek(view.name, values)
    except NotIndexed as error:
        reserved = [f"; filter[{n}] is column {n!r}" for n in view.schema.names if n in RESERVED]
        raise NotIndexed(
            f"{error}. Give exactly the columns of an index, or add scan=true to read all rows"
            + "".join(reserved)
        ) from error


async def _reached(wanted: Offsets, position: str, runtime: Runtime, published: Signal) -> None:
    """Wait until positions are reflected (raises OffsetNotReached, which names `position`)."""
    try:
        async with asyncio.timeout(runtime.settings.wait_seconds):
            while True:
                changed = published.next()
                if runtime.reflects(wanted):
                    return
                with suppress(TimeoutError):  # a gap behind the last record is told by nothing
                    await asyncio.wait_for(changed.wait(), LOOK_SECONDS)
    except TimeoutError as error:
        raise OffsetNotReached(
            f"at_least={position} was not reflected within {runtime.settings.wait_seconds:g} s by "
            f"{', '.join(source for source, _ in wanted.positions)}; try again"
        ) from error


def _wanted(position: str, view: View, runtime: Runtime) -> Offsets:
    """The offsets that `topic:partition:offset` or `source:partition:offset` waits for.

    A topic means its sources that the view reads, or all if it reads none. A name that is both is
    taken for a topic's. Raises BadParameter.
    """
    name, partition, offset = _position(position)
    topics = {spec.name: spec.topic for spec in runtime.registry.sources.values()}
    sources = [source for source, topic in topics.items() if topic == name]
    read = runtime.registry.catalog.tables_under(view.name)
    sources = [source for source in sources if source in read] or sources
    if not sources and name in topics:
        sources = [name]
    if not sources:
        raise BadParameter(f"at_least: no source reads a topic {name!r}, and none has that name")
    return offsets_of(topics, {(source, partition): offset + 1 for source in sources})


def _position(text: str) -> tuple[str, int, int]:
    name, _, rest = text.partition(":")
    partition, _, offset = rest.partition(":")
    if not (name and is_natural(partition) and is_natural(offset)):
        raise BadParameter(
            f"at_least={text!r}: write it topic:partition:offset, or source:partition:offset"
        )
    return name, int(partition), int(offset)
