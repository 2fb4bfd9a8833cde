"""`/v1/views/{name}/rows`: look-ups, as of one consistent time.

Numbers and booleans are JSON's; decimals are strings with all their digits; dates, times and
timestamps are ISO 8601 strings; binary is base64. Parameters that are not listed here are column
values, written the same way; `filter[name]` is the value of a column whatever it is called.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from typing import Annotated, Any, Self

import orjson
from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field, ValidationError
from starlette.datastructures import QueryParams

from api.answers.rows import Rows
from api.direct import DirectRoute
from api.errors import BadParameter, OffsetNotReached
from api.filters import values_of
from api.large import LargeAnswers
from api.pages import matching, page
from api.runtime import Runtime
from api.signals import Signal
from api.streams import streams
from api.values import is_natural
from connectors.errors import Stalled
from connectors.offsets import Offsets, offsets_of
from connectors.streams import table_of
from ivm.errors import NotIndexed
from ivm.results import Snapshot
from ivm.values.types import INTERVAL
from views.catalog import View

router = APIRouter(prefix="/v1/views", tags=["views"], route_class=DirectRoute)
LIMIT = "Rows of a page, at most; no page has more than the setting max_rows."
CURSOR = "The `next` of the page before; the other parameters stay as they were."
SCAN = "Read all rows, so that columns without an index can be given, or none."
AT_LEAST = "Wait until this is reflected: `topic:partition:offset` or `source:partition:offset`."
# A wait looks again this often, whether anything was published or not.
LOOK_SECONDS = 1.0
# Rows of which an answer is made without leaving the loop of all requests.
AT_ONCE = 200


class Parameters(BaseModel):
    """Parameters of a look-up that are not values of columns."""

    limit: Annotated[int, Field(ge=1, description=LIMIT)] = 100
    cursor: Annotated[str | None, Field(description=CURSOR)] = None
    scan: Annotated[bool, Field(description=SCAN)] = False
    at_least: Annotated[list[str] | None, Field(description=AT_LEAST)] = None

    @classmethod
    def of(cls, given: QueryParams) -> Self:
        """Those of a request (raises RequestValidationError, as FastAPI's own reading would)."""
        try:
            return cls.model_validate({**given, "at_least": given.getlist("at_least")})
        except ValidationError as error:
            faults = [{**fault, "loc": ("query", *fault["loc"])} for fault in error.errors()]
            raise RequestValidationError(faults) from error

    @classmethod
    def described(cls) -> dict[str, Any]:
        """Members of the operation in OpenAPI."""
        schemas = cls.model_json_schema()["properties"]
        return {
            "parameters": [
                {
                    "name": name,
                    "in": "query",
                    "required": False,
                    "description": schema["description"],
                    "schema": schema,
                }
                for name, schema in schemas.items()
            ]
        }


RESERVED = frozenset(Parameters.model_fields)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The rows of a view that a request is for; `known` are the tags of what it has."""

    view: View
    values: dict[str, Any]
    limit: int
    cursor: str | None
    known: str


# FastAPI's parameters and dependencies would take longer than the look-up itself, so that the
# operation reads what it is asked by itself.
@router.get(
    "/{name}/rows",
    response_model=Rows,
    responses={304: {"description": "As it was."}},
    openapi_extra=Parameters.described(),
)
async def get_rows(name: str, request: Request) -> Response:
    """Rows with the given column values; with `scan=true` also by columns without an index.

    `column=value` gives a value, and so does `filter[column]=value`, which a column needs that is
    called as one of these parameters. `at_least=topic:partition:offset` waits, within bounds, until
    the record at that offset is reflected by the sources of the topic that the view reads, and
    `at_least=source:partition:offset` until that source reflects it; where a source stands still
    before that, the problem `stalled` says so at once.
    The ETag depends on the rows alone, so `If-None-Match` answers 304 while they stay the same.
    """
    runtime: Runtime = request.app.state.runtime
    large: LargeAnswers = request.app.state.large
    given = Parameters.of(request.query_params)
    view = runtime.views.looked_up(name)
    for position in given.at_least or ():
        wanted_offsets = _wanted(position, view, runtime)
        await _reached(wanted_offsets, position, runtime, request.app.state.published)
    known = request.headers.get("if-none-match", "")
    most = min(given.limit, runtime.settings.max_rows)
    values = values_of(request.query_params.multi_items(), view, RESERVED)
    wanted = Wanted(view, values, most, given.cursor, known)
    spans = any(view.schema.field(column).type == INTERVAL for column in wanted.values)
    if given.scan or spans:  # an index tells intervals apart whose spans are equal
        return await large.make(_scanned, runtime, large, wanted)
    snapshot = _peeked(runtime, view, wanted.values)
    if snapshot.rows.num_rows > AT_ONCE:
        return await large.make(_answer, runtime, large, wanted, snapshot)
    return _answer(runtime, large, wanted, snapshot)


def _scanned(runtime: Runtime, large: LargeAnswers, wanted: Wanted) -> Response:
    found = matching(runtime.pool.scan(wanted.view.name), wanted.values)
    return _answer(runtime, large, wanted, found)


def _answer(runtime: Runtime, large: LargeAnswers, wanted: Wanted, snapshot: Snapshot) -> Response:
    """The page of the wanted rows, or that it is as it was."""
    found = page(snapshot, wanted.view.key, wanted.limit, wanted.cursor)
    rows = orjson.Fragment(orjson.dumps(found.rows))
    errors = snapshot.errors + runtime.views.miscounted(wanted.view.name)
    stalled = runtime.views.stalled(wanted.view.name)
    stable = orjson.dumps([rows, errors, found.next, *([stalled] if stalled else [])])
    tag = f'W/"{blake2b(stable, digest_size=12).hexdigest()}"'
    known = {t.strip() for t in wanted.known.split(",")}
    if tag in known or "*" in known:
        return Response(status_code=304, headers={"etag": tag})
    body: dict[str, Any] = {"time": snapshot.time, "rows": rows, "errors": errors}
    if found.next is not None:
        body["next"] = found.next
    if stalled is not None:
        body["stalled"] = stalled
    body |= runtime.applier.offsets(snapshot.time).told()
    return large.response(orjson.dumps(body), {"etag": tag})


def _peeked(runtime: Runtime, view: View, values: dict[str, Any]) -> Snapshot:
    """The rows of an index that have exactly these values (raises NotIndexed)."""
    try:
        return matching(runtime.pool.peek(view.name, values), {})
    except NotIndexed as error:
        reserved = [f"; filter[{n}] is column {n!r}" for n in view.schema.names if n in RESERVED]
        raise NotIndexed(
            f"{error}. Give exactly the columns of an index, or add scan=true to read all rows"
            + "".join(reserved)
        ) from error


async def _reached(wanted: Offsets, position: str, runtime: Runtime, published: Signal) -> None:
    """Wait until positions are reflected.

    Raises OffsetNotReached, which names `position`, and Stalled where a source stands still.
    """
    try:
        async with asyncio.timeout(runtime.settings.wait_seconds):
            while True:
                changed = published.next()
                if runtime.reflects(wanted):
                    return
                _refuse_stalled(wanted, position, runtime)
                with suppress(TimeoutError):  # a gap behind the last record is told by nothing
                    await asyncio.wait_for(changed.wait(), LOOK_SECONDS)
    except TimeoutError as error:
        raise OffsetNotReached(
            f"at_least={position} was not reflected within {runtime.settings.wait_seconds:g} s by "
            f"{', '.join(source for source, _ in wanted.positions)}; try again"
        ) from error


def _refuse_stalled(wanted: Offsets, position: str, runtime: Runtime) -> None:
    """See that no source stands still before what is wanted of it (raises Stalled)."""
    for source, why in runtime.pipeline.stalled.items():
        if source in wanted.topics:
            topics = {source: wanted.topics[source]}
            if not runtime.reflects(offsets_of(topics, wanted.positions)):
                raise Stalled(
                    f"at_least={position} is not reflected: source {source!r} stands still: {why}",
                    table=source,
                )


def _wanted(position: str, view: View, runtime: Runtime) -> Offsets:
    """The offsets that `topic:partition:offset` or `source:partition:offset` waits for.

    A topic means its sources that the view reads, or all if it reads none. A name that is both is
    taken for a topic's. A source of a topic pattern is named with the topic, as `source:topic`.
    Raises BadParameter.
    """
    name, partition, offset = _position(position)
    topics = streams(runtime.registry.sources, runtime.journal.tables)
    sources = [source for source, topic in topics.items() if topic == name]
    read = runtime.registry.catalog.tables_under(view.name)
    sources = [source for source in sources if table_of(source) in read] or sources
    if not sources and name in topics:
        sources = [name]
    if not sources:
        raise BadParameter(f"at_least: no source reads a topic {name!r}, and none has that name")
    return offsets_of(topics, {(source, partition): offset + 1 for source in sources})


def _position(text: str) -> tuple[str, int, int]:
    rest, _, offset = text.rpartition(":")
    name, _, partition = rest.rpartition(":")
    if not (name and is_natural(partition) and is_natural(offset)):
        raise BadParameter(
            f"at_least={text!r}: write it topic:partition:offset, or source:partition:offset"
        )
    return name, int(partition), int(offset)
