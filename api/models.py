"""Bodies of requests."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

import orjson
from pydantic import Base64Bytes, BaseModel, ConfigDict, Field, model_validator

from api import exact_json
from api.column_types import column_type
from api.errors import BadParameter
from connectors.declaration import (
    LONGEST_NAME,
    UNAVAILABLE,
    Encoding,
    Metadata,
    OnError,
    ReplicaIdentity,
    Resolution,
)
from connectors.inference.proposal import Given
from connectors.quarantine.store import CLOSED, Rejected, Repair, Status
from connectors.sinks.target import KafkaTarget, OutputEnvelope, OutputFormat
from connectors.tables.connector import CONNECTORS, posted_envelope
from connectors.tables.spec import Connector, Envelope, Format, TableSpec, type_name
from views.catalog import Language

Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,62}$")]


_SURROGATE = re.compile("[\ud800-\udfff]")


def _texts(given: object) -> Iterator[str]:
    """All texts in a JSON value, the names of members included."""
    if isinstance(given, str):
        yield given
    elif isinstance(given, dict):
        for name, value in given.items():
            yield from _texts(name)
            yield from _texts(value)
    elif isinstance(given, list):
        for value in given:
            yield from _texts(value)


def example(**members: Any) -> ConfigDict:
    """The configuration of a body with this example."""
    return ConfigDict(json_schema_extra={"examples": [members]})


class Body(BaseModel):
    """A request's body; unknown members are refused, so that no wish is dropped silently."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _refuse_surrogates(cls, given: object) -> object:
        """JSON can write half of a UTF-16 pair, which no text holds and nothing could store."""
        try:
            texts = list(_texts(given))
        except RecursionError as error:
            raise ValueError("it is nested too deep") from error
        if any(map(_SURROGATE.search, texts)):
            raise ValueError("a text holds half of a surrogate pair alone; write both, or neither")
        return given


class ColumnBody(Body):
    """One column; its `type` is named as in SQL, as `numeric(12, 2)`, or by Arrow, as `int64`."""

    name: Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
    type: str
    nullable: bool = True


class CsvBody(Body):
    """The signs that cut a line of format `csv` into fields; an unquoted `null` field is NULL."""

    delimiter: str = ","
    quote: str = '"'
    null: str = ""


class DeadLetterBody(Body):
    """A topic on one of the operator's connections that gets a copy of each quarantined record."""

    connection: str
    topic: str


class SourceBody(Body):
    """A table whose changes stand in a topic; `topic` is the source's name unless given.

    With a `topic_pattern` instead, a regular expression of RE2, they stand in all topics of the
    connection whose whole names it matches, also in those that come later.

    With connector `http` they are posted to it, and the service keeps the topic.

    Without `columns` they are found in the topic's schemas: the registry's of its connection, or
    the one in the first record; so are `format`, `envelope` and `key`, where they are left out.
    With a `connection` the connector is `kafka`. `start` is "earliest", "latest",
    `{"offsets": {partition: offset}}` or `{"timestamp": ms}`. With `dry_run` nothing is kept: the
    answer says what would be.
    """

    model_config = example(
        columns=[
            {"name": "id", "type": "bigint"},
            {"name": "customer", "type": "text"},
            {"name": "amount", "type": "numeric(12, 2)"},
        ],
        key=["id"],
        replica_identity="full",
    )

    topic: str | None = None
    topic_pattern: str | None = None
    columns: list[ColumnBody] | None = None
    key: list[str] = []
    connector: Connector = "files"
    connection: str | None = None
    format: Format = "json"
    envelope: Envelope = "debezium"
    replica_identity: ReplicaIdentity = "default"
    metadata: dict[str, Metadata] = {}
    start: Literal["earliest", "latest"] | dict[str, Any] = "earliest"
    resolution: Resolution = "batch"
    transaction_topic: str | None = None
    encodings: dict[str, Encoding] = {}
    csv: CsvBody = CsvBody()
    fail_on_missing_field: bool = False
    unavailable_value_placeholder: str = UNAVAILABLE
    on_error: OnError | None = None
    dead_letter: DeadLetterBody | None = None
    dry_run: bool = False

    @model_validator(mode="before")
    @classmethod
    def _connected(cls, given: Any) -> Any:
        """Only topics of Kafka are on a connection."""
        if isinstance(given, dict) and given.get("connection") is not None:
            return {"connector": "kafka", **given}
        return given

    def given(self) -> Given:
        """The members about the topic's contents that are declared, and so are not to be found."""
        said = self.model_fields_set
        return Given(
            self.format if "format" in said else None,
            self.envelope if "envelope" in said else None,
            tuple(self.key) if "key" in said else None,
            self.replica_identity,
        )

    def completed(self, found: Mapping[str, Any]) -> "SourceBody":
        """This body with the members of `found` that it leaves out."""
        return SourceBody.model_validate({**found, **self.model_dump(exclude_unset=True)})

    def spec(self, name: str, on_error: OnError) -> TableSpec:
        """The table so declared (raises InvalidTable); its key columns are never NULL."""
        declared = self.model_dump(exclude={"topic", "columns", "on_error", "dry_run"})
        if CONNECTORS[self.connector].is_written and "envelope" not in self.model_fields_set:
            declared["envelope"] = posted_envelope(self.key)
        columns = [
            {
                "name": c.name,
                "type": type_name(column_type(c.type)),
                "nullable": c.nullable and c.name not in self.key,
            }
            for c in self.columns or ()
        ]
        return TableSpec.from_json(
            {
                **declared,
                "name": name,
                "topic": self.topic or (name if self.topic_pattern is None else None),
                "columns": columns,
                "on_error": self.on_error or on_error,
            }
        )


class InferBody(Body):
    """A topic, of files or on a `connection`, and how many of its first records to look at.

    Of a `topic_pattern` in its place, the first topic that matches by its name is looked at.
    """

    model_config = example(topic="shop.public.orders", connection="main")

    topic: str | None = None
    topic_pattern: str | None = None
    connection: str | None = None
    format: Format | None = None
    envelope: Envelope | None = None
    records: Annotated[int, Field(ge=1, le=100_000)] = 1_000

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.topic is None) == (self.topic_pattern is None):
            raise ValueError("give a topic, or a topic_pattern")
        return self

    def given(self) -> Given:
        """The members about the topic's contents that are declared."""
        return Given(self.format, self.envelope)


class SinkBody(Body):
    """A topic on one of the operator's connections; `topic` is the view's name unless given.

    `partitions`, `replication` and `config` are for a topic that is made, and what one that is
    there must have. `headers` are columns of the view that go out as headers, too.
    """

    connector: Literal["kafka"]
    connection: str
    topic: str | None = None
    envelope: OutputEnvelope = "delta"
    format: OutputFormat = "json"
    snapshot: bool = True
    partitions: Annotated[int, Field(ge=1)] | None = None
    replication: Annotated[int, Field(ge=1)] | None = None
    config: dict[str, str] = {}
    headers: list[str] = []

    def target(self, view: str) -> KafkaTarget:
        """The target so declared (raises InvalidSink)."""
        declared = self.model_dump(exclude={"connector"})
        return KafkaTarget.from_json({**declared, "topic": self.topic or view})


class ViewBody(Body):
    """A view; without `key` it is looked up by columns that are known to be unique in it.

    Every view has a delta topic of its own among the file topics; `sink` publishes it besides. With
    `lookups` false its rows are not kept, which takes no memory: it can be followed, but neither
    looked up nor read by other views.

    With `replace` a view that is there gets this definition once that is approved; its sink and its
    lookups stay, and are left out. With `dry_run` nothing is kept: the answer says what would be.
    """

    model_config = example(
        query="SELECT customer, sum(amount) AS total FROM orders GROUP BY customer"
    )

    query: str
    language: Language = "sql"
    key: list[str] | None = None
    sink: SinkBody | None = None
    lookups: bool = True
    replace: bool = False
    dry_run: bool = False


class RenameBody(Body):
    """The name that a view is to have."""

    model_config = example(to="revenue")

    to: Name


class ApproveBody(Body):
    """An approval of the replacement that a preview shows, by its `version`.

    With `time`, that of the preview, it is refused if the difference has changed since.
    """

    model_config = example(version="9f2c01aa", time=42)

    version: str
    time: Annotated[int, Field(ge=0)] | None = None


class ExplainBody(Body):
    """A view to explain, without maintaining it."""

    model_config = example(
        query="SELECT customer, sum(amount) AS total FROM orders GROUP BY customer"
    )

    query: str
    language: Language = "sql"
    key: list[str] | None = None
    lookups: bool = True


class QueryBody(Body):
    """A query to answer once."""

    model_config = example(
        query="SELECT customer, sum(amount) AS total FROM orders GROUP BY customer ORDER BY total",
        limit=20,
    )

    query: str
    language: Language = "sql"
    limit: int = Field(default=1_000, ge=1, description="Rows, at most max_rows.")


class RepairBody(Body):
    """A repair of a quarantined record: parts that are decoded in the stead of its own.

    A key or value is text, or `_base64`, or `_json`: any JSON, written compactly. NULL as text is
    no key or value at all.
    """

    key: str | None = None
    key_base64: Base64Bytes | None = None
    key_json: Any = None
    value: str | None = None
    value_base64: Base64Bytes | None = None
    value_json: Any = None

    def repair(self, record: Rejected, body: bytes) -> Repair | None:
        """The repair of `record`; None if nothing is given (raises BadParameter).

        `body` is the text of this one, which has the digits of its numbers.
        """
        if not self.model_fields_set:
            return None
        exact = exact_json.loads(body)
        return Repair(
            self._given("key", record.key, exact), self._given("value", record.value, exact)
        )

    def _given(self, name: str, default: bytes | None, exact: Mapping[str, Any]) -> bytes | None:
        forms = [
            form
            for form in (name, f"{name}_base64", f"{name}_json")
            if form in self.model_fields_set
        ]
        if len(forms) > 1:
            raise BadParameter(f"{' and '.join(forms)} are given; choose one")
        if not forms:
            return default
        if forms[0].endswith("_json"):
            try:
                return orjson.dumps(exact[forms[0]])
            except orjson.JSONEncodeError as error:
                raise BadParameter(f"{forms[0]}: {error}") from error
        given = getattr(self, forms[0])
        return given.encode() if isinstance(given, str) else given


class ReplayBody(Body):
    """`overwrite`: apply a correction also where later records have said more of its key."""

    overwrite: bool = False


class ReplayManyBody(ReplayBody):
    """The open records of the quarantine to replay."""

    table: str
    reason: str | None = None
    limit: Annotated[int, Field(ge=1, le=10_000)] = 1_000
    cursor: str | None = None


class PurgeBody(Body):
    """The records of the quarantine to delete: of a table, or of all."""

    table: str | None = None
    statuses: Annotated[frozenset[Status], Field(min_length=1)] = CLOSED
    older_than_seconds: Annotated[float, Field(ge=0, le=1e9)] = 0.0
