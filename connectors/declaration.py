"""A table as it was declared, before anything is checked: formats and envelopes read it.

`connectors.tables.spec.TableSpec` is one whose parts fit together.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypedDict

import pyarrow as pa

from connectors.errors import InvalidTable

OnError = Literal["quarantine", "stall"]
Metadata = Literal["key", "partition", "offset", "timestamp", "headers", "topic"]
Resolution = Literal["batch", "transaction", "record"]
ReplicaIdentity = Literal["default", "full"]
Encoding = Literal["ms", "us", "ns", "base64"]

# The most letters of a column's name.
LONGEST_NAME: Final = 255

# Debezium's own text for a value that was not logged.
UNAVAILABLE: Final = "__debezium_unavailable_value"


class StartOffsets(TypedDict):
    """Begin at these offsets, by partition; partitions that are not named begin at their first."""

    offsets: dict[int, int]


class StartTimestamp(TypedDict):
    """Begin at the first record of this time (milliseconds since the epoch) or later."""

    timestamp: int


Start = Literal["earliest", "latest"] | StartOffsets | StartTimestamp


@dataclass(frozen=True, slots=True)
class Csv:
    """The form of a line of format `csv`; a field that reads `null`, unquoted, is NULL."""

    delimiter: str = ","
    quote: str = '"'
    null: str = ""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A topic that gets a copy of every record that is put aside."""

    connection: str
    topic: str


@dataclass(frozen=True, slots=True)
class Former:
    """A table before its columns were changed: those of then, and its `encodings`.

    Records are read so that stand before the offset in `below`, by partition; those of a topic
    pattern before that in `topics`, by topic and partition.
    """

    schema: pa.Schema
    encodings: Mapping[str, Encoding]
    below: Mapping[int, int]
    topics: Mapping[str, Mapping[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Declaration:
    """One table: its topic, the form of its records, its columns, and its primary key.

    `topic_pattern` matches the topics of a table of several, whose `topic` is empty (see
    `connectors.tables.patterns`). `connection` names one of the operator's connections. `metadata`
    says which columns come from a record's coordinates, and from which. `start` is where a topic
    that was never read begins. `resolution`: what gets a logical time of its own;
    `transaction_topic` has the boundaries of transactions, for resolution "transaction".
    `replica_identity` "full" promises that the images before changes are whole; with "default" only
    their key is. `encodings`: how counts and decimals without a schema are to be read, where it is
    not as `formats.columns` says. `unavailable_value_placeholder` stands for a large value that the
    database did not log, as the connector's setting of that name says, where an envelope has any.
    `fail_on_missing_field`: a record that lacks a nullable column is at fault, not NULL there.
    `on_error` says what a record that cannot be decoded does: the whole pipeline waits before it
    (`stall`), or it is put aside (`quarantine`). A copy of what is put aside goes to the topic
    `dead_letter`, if there is one. `formerly` has how records from before changes are read, one
    after another.
    """

    name: str
    topic: str
    schema: pa.Schema
    key: tuple[str, ...]
    connector: str = "files"
    connection: str | None = None
    format: str = "json"
    envelope: str = "debezium"
    replica_identity: ReplicaIdentity = "default"
    metadata: Mapping[str, Metadata] = field(default_factory=dict)
    start: Start = "earliest"
    resolution: Resolution = "batch"
    transaction_topic: str | None = None
    encodings: Mapping[str, Encoding] = field(default_factory=dict)
    csv: Csv = field(default_factory=Csv)
    fail_on_missing_field: bool = False
    unavailable_value_placeholder: str = UNAVAILABLE
    on_error: OnError = "stall"
    dead_letter: DeadLetter | None = None
    formerly: tuple[Former, ...] = ()
    topic_pattern: str | None = None

    @property
    def contents(self) -> list[str]:
        """The columns that come from a record's contents, and not from its coordinates."""
        return [name for name in self.schema.names if name not in self.metadata]


def refused(table: Declaration, field: str, what: str) -> InvalidTable:
    """The error of a declaration whose `field` is at fault."""
    return InvalidTable(f"table {table.name!r}: {field}: {what}")
