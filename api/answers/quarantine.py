"""Answers about records that could not be decoded."""

from api.answers.base import Answer, example
from connectors.quarantine.store import Status

_RECORD = {
    "table": "orders",
    "topic": "orders",
    "partition": 0,
    "offset": 7,
    "reason": "bad-json",
    "message": "the value is no JSON",
    "seen_ms": 1767225600000,
    "timestamp": None,
    "status": "open",
    "time": None,
    "key": None,
    "value": "{",
    "headers": None,
    "repair": None,
}


class Repaired(Answer):
    """The bytes that a replay decodes: text where they are UTF-8, else in base64."""

    key: str | None = None
    key_base64: str | None = None
    value: str | None = None
    value_base64: str | None = None


class Header(Answer):
    """A header of a record in Kafka."""

    name: str
    value: str | None = None
    value_base64: str | None = None


class Record(Repaired):
    """A record that could not be decoded, why, and what became of it."""

    model_config = example(**_RECORD)

    table: str
    topic: str
    partition: int
    offset: int
    reason: str
    message: str
    seen_ms: int
    timestamp: int | None = None
    status: Status
    time: int | None = None
    headers: list[Header] | None = None
    repair: Repaired | None = None


class Records(Answer):
    """A page of the quarantine; `next` is the cursor of the next one."""

    model_config = example(records=[_RECORD], next="orders:0:7")

    records: list[Record]
    next: str | None = None


class RecordPlace(Answer):
    """The place of a record."""

    model_config = example(table="orders", partition=0, offset=7)

    table: str
    partition: int
    offset: int


class Refused(RecordPlace):
    """A record that could not be applied, and the problem that kept it from that."""

    code: str
    status: int
    detail: str


class Replayed(Answer):
    """The outcome of a replay: `time` is that of the corrections, null if there were none."""

    model_config = example(time=43, replayed=1, refused=[])

    time: int | None = None
    replayed: int
    refused: list[Refused]
    next: str | None = None


class Purged(Answer):
    """The outcome of a purge: how many records were deleted."""

    model_config = example(purged=12)

    purged: int
