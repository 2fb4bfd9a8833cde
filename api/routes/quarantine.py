"""`/v1/quarantine`: shows, repairs, replays and discards records that could not be decoded.

Bytes are text where they are UTF-8, and base64 under a name that ends in `_base64` where not.
"""

from base64 import b64encode
from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from api.answers.quarantine import (
    Header,
    Purged,
    Record,
    RecordPlace,
    Records,
    Refused,
    Repaired,
    Replayed,
)
from api.deps import RuntimeDep, answer
from api.errors import BadParameter
from api.models import PurgeBody, RepairBody, ReplayBody, ReplayManyBody
from api.problems import STATUS
from api.values import is_natural
from connectors.quarantine.replay import Refusal
from connectors.quarantine.store import Place, Quarantined, Status

router = APIRouter(prefix="/v1/quarantine", tags=["quarantine"])
ONE = "/{table}/{partition}/{offset}"
Number = Annotated[int, Path(ge=0, lt=2**63)]


@router.get("", response_model=Records)
def list_quarantine(
    runtime: RuntimeDep,
    limit: Annotated[int, Query(ge=1, le=10_000, description="Records, at most.")] = 100,
    cursor: Annotated[str | None, Query(description="The `next` of the page before.")] = None,
    table: Annotated[str | None, Query(description="Of this source alone.")] = None,
    reason: Annotated[str | None, Query(description="Put aside for this reason.")] = None,
    status: Annotated[Status | None, Query(description="With this outcome.")] = None,
) -> Response:
    """Records that could not be decoded, byte for byte, with their coordinates and the reason."""
    found = runtime.quarantine.page(limit, _after(cursor), table, reason, status)
    records = [described(one) for one in found]
    return answer(Records(records=records, **_next(found, limit)))


@router.post("/replay", response_model=Replayed)
def replay_many(body: ReplayManyBody, runtime: RuntimeDep) -> Response:
    """Apply the open records of a table, or those of one reason, as corrections at one new time.

    At most `limit` are tried, in the order of partition and offset; those that cannot be applied
    are named in `refused` and stay. `next` is the cursor to go on with.
    """
    cursor = _after(body.cursor)
    found = runtime.quarantine.page(body.limit, cursor, body.table, body.reason, "open")
    outcome = runtime.repairs.replay([one.record.place for one in found], body.overwrite)
    replayed = len(outcome.corrections)
    refused = [_refused(refusal) for refusal in outcome.refused]
    more = _next(found, body.limit)
    return answer(Replayed(time=outcome.time, replayed=replayed, refused=refused, **more))


@router.post("/purge", response_model=Purged)
def purge(body: PurgeBody, runtime: RuntimeDep) -> Response:
    """Delete records for good: those with these outcomes, first met so long ago.

    Those of which a start may read the range again stay, until the checkpoints hold it.
    """
    older_than, table = body.older_than_seconds, body.table
    return answer(Purged(purged=runtime.repairs.purge(body.statuses, older_than, table)))


@router.get(ONE, response_model=Record)
def get_record(table: str, partition: Number, offset: Number, runtime: RuntimeDep) -> Response:
    """One record: its bytes, its repair if it has one, and its outcome."""
    return answer(described(runtime.quarantine.get((table, partition, offset))))


async def _text(request: Request) -> bytes:
    return await request.body()


@router.put(ONE, response_model=Record)
def put_repair(
    table: str,
    partition: Number,
    offset: Number,
    body: RepairBody,
    text: Annotated[bytes, Depends(_text)],
    runtime: RuntimeDep,
) -> Response:
    """Set the bytes that a replay decodes in this record's stead; `{}` stands for its own.

    A record that was discarded is open again. The record itself stays as it is.
    """
    place = (table, partition, offset)
    repair = body.repair(runtime.quarantine.get(place).record, text)
    return answer(described(runtime.repairs.fix(place, repair)))


@router.post(ONE + "/replay", response_model=Record)
def replay_one(
    table: str, partition: Number, offset: Number, body: ReplayBody, runtime: RuntimeDep
) -> Response:
    """Apply the record, or its repair, as a correction at a new time, once however often asked.

    Refused, and kept, while it cannot be decoded; and in a table whose rows are replaced by their
    keys if later records have said more of its key, unless `overwrite`.
    """
    place: Place = (table, partition, offset)
    known = runtime.quarantine.get(place)
    if known.status != "replayed":
        outcome = runtime.repairs.replay([place], body.overwrite)
        for refusal in outcome.refused:
            raise refusal.error
    return answer(described(runtime.quarantine.get(place)))


@router.post(ONE + "/discard", response_model=Record)
def discard(table: str, partition: Number, offset: Number, runtime: RuntimeDep) -> Response:
    """Say that nothing is to come of this record; it is kept, and marked."""
    return answer(described(runtime.repairs.discard((table, partition, offset))))


@router.post(ONE + "/skip", response_model=RecordPlace, status_code=202)
def skip(table: str, partition: Number, offset: Number, runtime: RuntimeDep) -> Response:
    """Put this one record, before which the pipeline has stalled, into the quarantine; go on."""
    runtime.repairs.skip((table, partition, offset))
    return answer(RecordPlace(table=table, partition=partition, offset=offset), 202)


def _refused(refusal: Refusal) -> Refused:
    r, error = refusal.found.record, refusal.error
    return Refused(
        table=r.table,
        partition=r.partition,
        offset=r.offset,
        code=error.code,
        status=STATUS.get(error.code, 422),
        detail=str(error),
    )


def _next(found: Sequence[Quarantined], limit: int) -> dict[str, str]:
    """The cursor of the next page, as long as pages are full."""
    return {"next": ":".join(map(str, found[-1].record.place))} if len(found) == limit else {}


def described(found: Quarantined) -> Record:
    r, repair = found.record, found.repair
    headers = None
    if r.headers is not None:
        headers = [Header(name=name, **_written("value", value)) for name, value in r.headers]
    return Record(
        table=r.table,
        topic=r.topic,
        partition=r.partition,
        offset=r.offset,
        reason=r.reason,
        message=r.message,
        seen_ms=r.seen_ms,
        timestamp=r.timestamp,
        status=found.status,
        time=found.time,
        **_bytes(r.key, r.value),
        headers=headers,
        repair=Repaired(**_bytes(repair.key, repair.value)) if repair else None,
    )


def _bytes(key: bytes | None, value: bytes | None) -> dict[str, str | None]:
    return {**_written("key", key), **_written("value", value)}


def _written(name: str, data: bytes | None) -> dict[str, str | None]:
    """`data` as text under `name`, or in base64 if it is not UTF-8."""
    try:
        return {name: None if data is None else data.decode()}
    except UnicodeDecodeError:
        return {f"{name}_base64": b64encode(data or b"").decode()}


def _after(cursor: str | None) -> Place | None:
    if cursor is None:
        return None
    rest, _, offset = cursor.rpartition(":")
    table, _, partition = rest.rpartition(":")
    if not (is_natural(partition) and is_natural(offset)):
        raise BadParameter("this is no cursor of the quarantine")
    return table, int(partition), int(offset)
