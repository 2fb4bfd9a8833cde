"""Answers: the JSON of every answer, as OpenAPI describes it, with an example of each.

A member without a value is null, and one that does not apply is left out.
"""

from typing import Annotated, Any, Literal, Self

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field

from connectors.declaration import Encoding, Metadata, OnError, ReplicaIdentity, Resolution
from connectors.quarantine.store import Status
from connectors.sinks.target import OutputEnvelope, OutputFormat
from connectors.tables.spec import Connector, Envelope, Format, type_name
from views.catalog import Language

Ends = dict[str, dict[str, int]]


class Answer(BaseModel):
    """A part of an answer; it has no members but these."""

    model_config = ConfigDict(extra="forbid")


# Members that several examples have.
_COLUMNS = [
    {"name": "customer", "type": "utf8", "nullable": False},
    {"name": "total", "type": "decimal128(38, 2)", "nullable": True},
]
DECLARED = {
    "name": "orders",
    "topic": "orders",
    "columns": _COLUMNS,
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
_INFO = {"name": "orders[id]", "records": 2, "bytes": 4096}
_VIEW = {
    "name": "revenue",
    "language": "sql",
    "query": "SELECT customer, sum(amount) AS total FROM orders GROUP BY customer",
    "key": ["customer"],
    "lookups": True,
    "columns": _COLUMNS,
    "reads": ["orders"],
    "status": "running",
    "reason": None,
    "stalled": None,
    "errors": 0,
    "deltas": {"topic": "revenue.deltas", "end": 3},
}
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


def example(**members: Any) -> ConfigDict:
    """The configuration of an answer with this example."""
    return ConfigDict(json_schema_extra={"examples": [members]})


class Fault(Answer):
    """A part at fault, the setting to look at if there is one, and what to do.

    A fault that passes by itself has `done` so much `of` what it waits for: offsets, or times.
    """

    part: str
    setting: str | None = None
    detail: str
    done: int | None = None
    of: int | None = None


class Problem(Answer):
    """A problem document (RFC 9457); `code` is stable, and `type` a URN made of it.

    `position`, `line` and `column` are places in a query, counted from 1; `part` and `setting` name
    what is at fault outside the service, `faults` all that keeps it from being ready, and `stalled`
    the sources that stand still.
    """

    model_config = example(
        type="urn:ivm:problem:unknown-column",
        title="Unprocessable Content",
        status=422,
        detail="no column 'custmer'; did you mean 'customer'?",
        code="unknown-column",
        position=8,
        line=1,
        column=8,
    )

    type: str
    title: str
    status: int
    detail: str
    code: str
    position: Annotated[int | None, Field(ge=1)] = None
    line: Annotated[int | None, Field(ge=1)] = None
    column: Annotated[int | None, Field(ge=1)] = None
    part: str | None = None
    setting: str | None = None
    faults: list[Fault] = []
    stalled: list[Fault] = []


class Alive(Answer):
    """The process serves."""

    model_config = example(status="alive")

    status: Literal["alive"]


class Ready(Answer):
    """The service has caught up: `time` is the last logical time that was applied.

    `stalled` are the sources that stand still while others go on.
    """

    model_config = example(status="ready", time=42)

    status: Literal["ready"]
    time: int
    stalled: list[Fault] = []


class Column(Answer):
    """A column; `type` is named as in the body that declares it."""

    name: str
    type: str
    nullable: bool

    @classmethod
    def all_of(cls, schema: pa.Schema) -> list[Self]:
        """The columns of a schema."""
        return [cls(name=f.name, type=type_name(f.type), nullable=f.nullable) for f in schema]


class Hydrated(Answer):
    """The progress of a thing that fills: `done` of its `of` parts, and that in percent.

    The parts are operators of a view, each of which takes all rows in its turn; records of a
    source; dataflows of a replacement.
    """

    done: int
    of: int
    percent: Annotated[int, Field(ge=0, le=100)]

    @classmethod
    def part(cls, done: int, of: int, within: float = 0.0) -> Self:
        """So many parts, and a share `within` the next one."""
        percent = int(100 * (done + within) / of) if of else 100
        return cls(done=done, of=of, percent=min(percent, 100))


ViewStatus = Literal["planned", "hydrating", "replaying", "running", "stalled", "failed"]
SourceStatus = Literal["hydrating", "replaying", "running", "stalled"]


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

    Records below the offsets, by partition, are read so.
    """

    columns: list[Column]
    encodings: dict[str, Encoding]
    below: dict[int, int]


class Declared(Answer):
    """A source as it was declared, with all defaults.

    `unsure`: what to look at in columns that were not declared, but found in the topic's schemas.
    """

    model_config = example(**DECLARED)

    name: str
    topic: str
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
    unsure: list[str] = []


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


class Source(Declared):
    """A source, the reflected offsets of its topic, and the outcomes of its records.

    It is `hydrating` until it has read what its topic held when it was declared, which `caught_up`
    says too: `hydrated` has the number of those records. `offsets` and `lag`, the records that are
    still to come, are by partition. `stalled` says why it stands still while others go on.
    `records` counts those since the service started, replays not counted; each is exactly one of
    these. `corrected` of the rejected ones were applied since. `errors` is the number of keys whose
    rows do not add up (see `/v1/errors`).
    """

    model_config = example(**_SOURCE)

    status: SourceStatus
    hydrated: Hydrated | None = None
    offsets: dict[int, int]
    lag: dict[int, int]
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


class Arrangement(Answer):
    """An arrangement, or the state that operators keep beside it."""

    name: str
    records: int
    bytes: int


SinkStatus = Literal["running", "stalled", "failed"]


class Sink(Answer):
    """The topic in Kafka that a view goes to; `reason` is why it is not published there now."""

    connector: Literal["kafka"]
    connection: str
    topic: str
    envelope: OutputEnvelope
    format: OutputFormat
    snapshot: bool
    partitions: int | None = None
    replication: int | None = None
    config: dict[str, str]
    status: SinkStatus
    reason: str | None = None


class DeltaTopic(Answer):
    """The file topic of a view's changes, and its committed end."""

    topic: str
    end: int


class View(Answer):
    """A view: its definition, its state, and its topics.

    It is `planned` and then `hydrating` until it has what there is: `hydrated` says how far.
    `errors` counts the rows that could not be computed, and `reason` says why a view failed.
    `stalled` says why a source stands still that it reads, itself or through other views.
    """

    model_config = example(**_VIEW)

    name: str
    language: Language
    query: str
    key: list[str]
    lookups: bool
    columns: list[Column]
    reads: list[str]
    status: ViewStatus
    hydrated: Hydrated | None = None
    reason: str | None = None
    stalled: str | None = None
    errors: int
    deltas: DeltaTopic
    sink: Sink | None = None


class Installation(Answer):
    """The arrangements that a new view reuses, and those that it made."""

    reused: list[str]
    created: list[str]


class PutView(View):
    """A view that was put; `installed` only if it is new."""

    model_config = example(**_VIEW, installed={"reused": ["orders[id]"], "created": []})

    installed: Installation | None = None


class ViewInFull(View):
    """A view, and the arrangements that it reads."""

    model_config = example(**_VIEW, arrangements=[_INFO])

    arrangements: list[Arrangement]


class Views(Answer):
    """All views, each after those it reads."""

    model_config = example(views=[_VIEW])

    views: list[View]


class Rows(Answer):
    """Rows as of one time, in the order of the view's key; `next` is the cursor of the next page.

    `time` is null before anything was completed. `errors` counts rows that could not be computed.
    The offsets of the input that the rows reflect are by topic and by source; `stalled` says why a
    source stands still there that the view reads.
    """

    model_config = example(
        time=42,
        rows=[{"customer": "ada", "total": "12.50"}],
        errors=0,
        offsets={"orders": {"0": 2}},
        sources={"orders": {"0": 2}},
    )

    time: int | None = None
    rows: list[dict[str, Any]]
    errors: int
    next: str | None = None
    offsets: Ends
    sources: Ends
    stalled: str | None = None


class Answered(Answer):
    """The first rows of a query as of one time, in its order; `more` says that there are others.

    The offsets of the input that the rows reflect are by topic and by source; `stalled` says why a
    source stands still there that the query reads.
    """

    model_config = example(
        time=42,
        columns=_COLUMNS,
        rows=[{"customer": "ada", "total": "12.50"}],
        more=False,
        offsets={"orders": {"0": 2}},
        sources={"orders": {"0": 2}},
    )

    time: int
    columns: list[Column]
    rows: list[dict[str, Any]]
    more: bool
    offsets: Ends
    sources: Ends
    stalled: str | None = None


class MadeArrangement(Answer):
    """The estimate of an arrangement that is not there yet."""

    name: str
    rows: int
    bytes: int


class Arranging(Answer):
    """The arrangements that a view would reuse and make; `basis` says what the numbers are of."""

    reused: list[str]
    created: list[MadeArrangement]
    rows: int
    bytes: int
    basis: str


class Stage(Answer):
    """A stage of the compilation, and its plan as indented text."""

    name: str
    text: str


class Explanation(Answer):
    """The view that a query would make: its columns and key, its arrangements, its plans."""

    model_config = example(
        columns=_COLUMNS,
        key=["customer"],
        reads=["orders"],
        arrangements={
            "reused": [],
            "created": [{"name": "revenue[customer]", "rows": 2, "bytes": 128}],
            "rows": 2,
            "bytes": 128,
            "basis": "the rows that its inputs have now",
        },
        stages=[{"name": "plan", "text": "Aggregate"}],
    )

    columns: list[Column]
    key: list[str]
    reads: list[str]
    arrangements: Arranging
    stages: list[Stage]


class UsedArrangement(Arrangement):
    """An arrangement, the views that read it, and the estimated time that making it has taken.

    `unmerged`: its rows in batches that are yet to be merged.
    """

    users: list[str]
    seconds: float | None = None
    unmerged: int = 0


class Arrangements(Answer):
    """Every arrangement, and the state beside it."""

    model_config = example(
        arrangements=[{**_INFO, "users": ["revenue"], "seconds": 0.002, "unmerged": 0}]
    )

    arrangements: list[UsedArrangement]


class RowError(Answer):
    """A message of rows of a view or keys of a source, and the number of those now."""

    view: str | None = None
    source: str | None = None
    error: str
    count: int


class RowErrors(Answer):
    """Rows that could not be computed, by view; keys that do not add up, by source."""

    model_config = example(errors=[{"view": "ratios", "error": "division by zero", "count": 1}])

    errors: list[RowError]


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
