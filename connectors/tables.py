"""What a declared table is: which topic carries its changes and how they become typed rows.

A `TableSpec` is complete: decoding needs nothing else, so it travels to executors and into files
as it is.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, Self, TypedDict

import pyarrow as pa
import pyarrow.compute as pc

from connectors.checks import check
from connectors.errors import InvalidTable
from ivm.types import INTERVAL, JSON, UUID

OnError = Literal["quarantine", "stall"]
Format = Literal["json", "avro", "csv", "bytes"]
Envelope = Literal["debezium", "upsert", "append", "maxwell", "canal", "transactions"]
Metadata = Literal["key", "partition", "offset", "timestamp", "headers", "topic"]
Resolution = Literal["batch", "transaction", "record"]
ReplicaIdentity = Literal["default", "full"]
Encoding = Literal["ms", "us", "ns", "base64"]

_NAMED: dict[str, pa.DataType] = {
    "bool": pa.bool_(),
    "int8": pa.int8(),
    "int16": pa.int16(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "uint8": pa.uint8(),
    "uint16": pa.uint16(),
    "uint32": pa.uint32(),
    "uint64": pa.uint64(),
    "float32": pa.float32(),
    "float64": pa.float64(),
    "utf8": pa.string(),
    "binary": pa.binary(),
    "date32": pa.date32(),
    "time64[us]": pa.time64("us"),
    "timestamp[us]": pa.timestamp("us"),
    "timestamp[us, tz=UTC]": pa.timestamp("us", "UTC"),
    "interval": INTERVAL,
    "uuid": UUID,
    "json": JSON,
}
_NAMES = {dtype: name for name, dtype in _NAMED.items()}
_DECIMAL = re.compile(r"decimal128\((\d{1,2}), ?(\d{1,2})\)")
_ZONED = re.compile(r"timestamp\[us, tz=([A-Za-z0-9_+:/-]+)\]")
_LIST = re.compile(r"list<(.*)>")


def type_name(dtype: pa.DataType) -> str:
    """The name of a supported column type, as in `decimal128(12, 2)` (raises InvalidTable)."""
    if dtype in _NAMES:
        return _NAMES[dtype]
    if isinstance(dtype, pa.ListType):
        return f"list<{type_name(dtype.value_type)}>"
    if pa.types.is_decimal128(dtype):
        return str(dtype)
    raise InvalidTable(f"type {dtype} is not supported in a table")


def type_of(name: str) -> pa.DataType:
    """The type that `type_name` calls `name` (raises InvalidTable).

    A timestamp with any zone is an instant, and those are in UTC: SQL has one type for them.
    """
    if name in _NAMED:
        return _NAMED[name]
    if match := _DECIMAL.fullmatch(name):
        precision, scale = int(match[1]), int(match[2])
        if 1 <= precision <= 38 and scale <= precision:
            return pa.decimal128(precision, scale)
    if match := _ZONED.fullmatch(name):
        _check_zone(match[1])
        return pa.timestamp("us", "UTC")
    if match := _LIST.fullmatch(name):
        return pa.list_(type_of(match[1]))
    raise InvalidTable(
        f"type {name!r} is not supported; choose from {sorted(_NAMED)}, "
        "decimal128(p, s), list<utf8>"
    )


class StartOffsets(TypedDict):
    """Begin at these offsets, by partition; partitions that are not named begin at their first."""

    offsets: dict[int, int]


class StartTimestamp(TypedDict):
    """Begin at the first record of this time (milliseconds since the epoch) or later."""

    timestamp: int


Start = Literal["earliest", "latest"] | StartOffsets | StartTimestamp


@dataclass(frozen=True, slots=True)
class Csv:
    """How a line of format `csv` is cut into fields; one that reads `null`, unquoted, is NULL."""

    delimiter: str = ","
    quote: str = '"'
    null: str = ""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A topic that gets a copy of every record that is put aside."""

    connection: str
    topic: str


@dataclass(frozen=True, slots=True)
class TableSpec:
    """One table: its topic, how records are read, its columns, and those of its primary key.

    `connection` names one of the operator's connections. `metadata` says which columns come from
    a record's coordinates, and from which. `start` is where a topic that was never read begins.
    `resolution`: what gets a logical time of its own; `transaction_topic` has the boundaries of
    transactions, for resolution "transaction". `replica_identity` "full" promises that the
    images before changes are whole; with "default" only their key is. `encodings`: how counts and
    decimals without a schema are to be read, where it is not as `formats.columns` says.
    `on_error` says what a record that cannot be decoded does: the whole pipeline waits before it
    (`stall`), or it is put aside (`quarantine`). A copy of what is put aside goes to the topic
    `dead_letter`, if there is one.
    Raises InvalidTable for what contradicts itself (see `connectors.checks`), or an unsupported
    type.
    """

    name: str
    topic: str
    schema: pa.Schema
    key: tuple[str, ...]
    connector: Literal["files", "kafka"] = "files"
    connection: str | None = None
    format: Format = "json"
    envelope: Envelope = "debezium"
    replica_identity: ReplicaIdentity = "default"
    metadata: Mapping[str, Metadata] = field(default_factory=dict)
    start: Start = "earliest"
    resolution: Resolution = "batch"
    transaction_topic: str | None = None
    encodings: Mapping[str, Encoding] = field(default_factory=dict)
    csv: Csv = field(default_factory=Csv)
    on_error: OnError = "stall"
    dead_letter: DeadLetter | None = None

    def __post_init__(self) -> None:
        check(self)
        for column in self.schema:
            type_name(column.type)

    @property
    def is_keyed(self) -> bool:
        """Whether a change sets or deletes the row of its primary key, whatever stood there."""
        rows_stay = self.envelope in ("append", "transactions")
        return not rows_stay and self.replica_identity == "default"

    def to_json(self) -> dict[str, Any]:
        """A JSON object that `from_json` turns into an equal spec."""
        start: Any = self.start
        if isinstance(start, dict) and "offsets" in start:
            start = {"offsets": {str(p): offset for p, offset in start["offsets"].items()}}
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        columns = [
            {"name": f.name, "type": type_name(f.type), "nullable": f.nullable}
            for f in plain.pop("schema")
        ]
        return plain | {
            "columns": columns,
            "key": list(self.key),
            "metadata": dict(self.metadata),
            "start": start,
            "encodings": dict(self.encodings),
            "csv": asdict(self.csv),
            "dead_letter": self.dead_letter and asdict(self.dead_letter),
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        """The spec of `to_json`'s object, also of one that lacks what has a default.

        Raises InvalidTable.
        """
        rest = dict(value)
        columns = [
            pa.field(c["name"], type_of(c["type"]), nullable=c["nullable"])
            for c in rest.pop("columns")
        ]
        rest["key"] = tuple(rest["key"])
        rest["start"] = start_of(rest.get("start", "earliest"))
        rest["csv"] = Csv(**rest.get("csv", {}))
        if (letter := rest.get("dead_letter")) is not None:
            rest["dead_letter"] = DeadLetter(**letter)
        return cls(schema=pa.schema(columns), **rest)


def start_of(value: Any) -> Any:
    """`value`, a start out of JSON, whose partitions are strings there."""
    if isinstance(value, dict) and isinstance(offsets := value.get("offsets"), dict):
        numbers = {int(p) if str(p).isdecimal() else p: offset for p, offset in offsets.items()}
        return {**value, "offsets": numbers}
    return value


def _check_zone(zone: str) -> None:
    instant: Any = pa.scalar(0, pa.timestamp("us", tz=zone))
    try:
        pc.local_timestamp(instant)
    except pa.ArrowInvalid as error:
        raise InvalidTable(f"time zone {zone!r} is not known here; UTC always is") from error
