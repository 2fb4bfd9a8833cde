"""Answers about sources."""

from typing import Any, Literal

from pydantic import Field

from api.answers.base import COLUMNS, Answer, Column, Hydrated, example
from connectors.declaration import Encoding, Metadata, OnError, ReplicaIdentity, Resolution
from connectors.tables.spec import Connector, Envelope, Format

DECLARED = {
    "name": "orders",
    "topic": "orders",
    "columns": COLUMNS,
    "key": ["customer"],
    "connector": "files",
    "connection": None,
    "format": "json",
    "envelope": "debezium",
    "replica_identity": "full",
    "metadata": {},
    "start": "earliest",
    "resolution": "batch",
    "transaction_topic": None,
    "encodings": {},
    "csv": {"delimiter": ",", "quote": '"', "null": ""},
    "on_error": "stall",
    "dead_letter": None,
    "fail_on_missing_field": False,
    "unavailable_value_placeholder": "__debezium_unavailable_value",
    "formerly": [],
    "topic_pattern": None,
}

_SOURCE = {
    **DECLARED,
    "offsets": {"0": 2},
    "lag": {"0": 0},
    "status": "running",
    "caught_up": True,
    "stalled": None,
    "records": {"changes": 2, "tombstones": 0, "ignored": 0, "duplicates": 0, "rejected": 0},
    "corrected": 0,
    "errors": 0,
}

SourceStatus = Literal["hydrating", "replaying", "waiting", "running", "stalled"]


class Csv(Answer):
    """The signs that cut a line of format `csv` into fields."""

    delimiter: str
    quote: str
    null: str


class DeadLetter(Answer):
    """The topic that gets a copy of each quarantined record."""

    connection: str
    topic: str


class Former(Answer):
    """A source before its columns were changed: those of then, and their encodings.

    Records below the offsets, by partition, are read so; of a topic pattern those in `topics`, by
    topic and partition.
    """

    columns: list[Column]
    encodings: dict[str, Encoding]
    below: dict[int, int]
    topics: dict[str, dict[int, int]] = Field(default_factory=dict)


class Declared(Answer):
    """A source as it was declared, with all defaults.

    `unsure`: what to look at in columns that were not declared, but found in the topic's schemas.
    """

    model_config = example(**DECLARED)

    name: str
    topic: str | None
    topic_pattern: str | None = None
    columns: list[Column]
    key: list[str]
    connector: Connector
    connection: str | None = None
    format: Format
    envelope: Envelope
    replica_identity: ReplicaIdentity
    metadata: dict[str, Metadata]
    start: Literal["earliest", "latest"] | dict[str, Any]
    resolution: Resolution
    transaction_topic: str | None = None
    encodings: dict[str, Encoding]
    csv: Csv
    on_error: OnError
    dead_letter: DeadLetter | None = None
    fail_on_missing_field: bool
    unavailable_value_placeholder: str
    formerly: list[Former]
    unsure: list[str] = Field(default_factory=list)


class Inferred(Answer):
    """A declaration that was not made, as a PUT takes it, and what to look at before it is."""

    model_config = example(
        declaration={
            "topic": "orders",
            "format": "json",
            "envelope": "append",
            "key": [],
            "columns": [{"name": "customer", "type": "utf8", "nullable": False}],
        },
        unsure=["by 2 records: there may be more than they show, as NULL in customer"],
    )

    declaration: dict[str, Any]
    unsure: list[str]


class TopicRead(Answer):
    """A topic that a pattern matches: `offsets`, `lag` and `stalled` are as those of a source."""

    offsets: dict[int, int]
    lag: dict[int, int]
    stalled: str | None = None


class Source(Declared):
    """A source, the reflected offsets of its topic, and the outcomes of its records.

    It is `hydrating` until it has read what its topic held when it was declared, which `caught_up`
    says too: `hydrated` has the number of those records. `offsets` and `lag`, the records that are
    still to come, are by partition. `stalled` says why it stands still while others go on. Of a
    topic pattern these are in `topics`, by topic; `waiting` is one that matches none yet.
    `records` counts those since the service started, replays not counted; each is exactly one of
    these. `corrected` of the rejected ones were applied since. `errors` is the number of keys whose
    rows do not add up (see `/v1/errors`).
    """

    model_config = example(**_SOURCE)

    status: SourceStatus
    hydrated: Hydrated | None = None
    offsets: dict[int, int]
    lag: dict[int, int]
    topics: dict[str, TopicRead] | None = None
    caught_up: bool
    stalled: str | None = None
    records: dict[str, int]
    corrected: int
    errors: int


class RowsWritten(Answer):
    """Rows that are durable: `offsets` by partition end them, look-ups wait for `at_least`.

    `again`: the rows of this idempotency key had been written before, by another request.
    """

    model_config = example(rows=2, offsets={"0": 2}, at_least="orders:0:1", again=False)

    rows: int
    offsets: dict[str, int]
    at_least: str | None
    again: bool


class Sources(Answer):
    """All sources, in the order they were declared."""

    model_config = example(sources=[_SOURCE])

    sources: list[Source]
