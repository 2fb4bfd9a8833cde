"""The spec of a declared table: its topic, and the way from a record to typed rows.

A `TableSpec` is complete: decoding needs nothing else, so it travels to executors and into files
as it is.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, Self

import pyarrow as pa
import pyarrow.compute as pc

from connectors.declaration import Csv, DeadLetter, Declaration, Former
from connectors.envelopes.envelope import ENVELOPES
from connectors.errors import InvalidTable
from connectors.formats.format import FORMATS
from connectors.streams import stream_name
from connectors.tables.connector import CONNECTORS
from connectors.tables.validate import check
from ivm.values.types import INTERVAL, JSON, UUID

if TYPE_CHECKING:
    Connector = str
    Format = str
    Envelope = str
else:  # so that schemas and messages of the API list the names
    Connector = Literal[*CONNECTORS]
    Format = Literal[*FORMATS]
    Envelope = Literal[*ENVELOPES]

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
TYPES = tuple(_NAMED)
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


@dataclass(frozen=True, slots=True)
class TableSpec(Declaration):
    """A declaration that can be kept: records can be decoded by it, and rows be taken back.

    Raises InvalidTable for what contradicts itself (see `connectors.tables.validate`), or an
    unsupported type.
    """

    def __post_init__(self) -> None:
        check(self)
        for column in self.schema:
            type_name(column.type)

    @property
    def is_keyed(self) -> bool:
        """Whether a change sets or deletes the row of its primary key, whatever stood there."""
        return not self.rows_stay and self.replica_identity == "default"

    @property
    def rows_stay(self) -> bool:
        """Whether rows are added and never taken away, as its envelope says."""
        return ENVELOPES[self.envelope].rows_stay

    @property
    def is_remote(self) -> bool:
        """Whether its topic is a broker's, on one of the operator's connections."""
        return CONNECTORS[self.connector].is_remote

    @property
    def is_written(self) -> bool:
        """Whether the service writes its topic, with rows that are posted."""
        return CONNECTORS[self.connector].is_written

    def stream(self, topic: str) -> Self:
        """The table as that topic is read: one of that topic alone, where this has a pattern."""
        if self.topic_pattern is None:
            return self
        former = [replace(one, below=one.topics.get(topic, {}), topics={}) for one in self.formerly]
        return replace(
            self,
            name=stream_name(self.name, topic),
            topic=topic,
            topic_pattern=None,
            formerly=tuple(former),
        )

    def to_json(self) -> dict[str, Any]:
        """A JSON object that `from_json` turns into an equal spec."""
        start: Any = self.start
        if isinstance(start, dict) and "offsets" in start:
            start = {"offsets": {str(p): offset for p, offset in start["offsets"].items()}}
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        return plain | {
            "topic": self.topic or None,
            "columns": _columns(plain.pop("schema")),
            "key": list(self.key),
            "metadata": dict(self.metadata),
            "start": start,
            "encodings": dict(self.encodings),
            "formerly": [
                {
                    "columns": _columns(former.schema),
                    "encodings": dict(former.encodings),
                    "below": _ends(former.below),
                    "topics": {topic: _ends(below) for topic, below in former.topics.items()},
                }
                for former in self.formerly
            ],
            "csv": asdict(self.csv),
            "dead_letter": self.dead_letter and asdict(self.dead_letter),
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        """The spec of `to_json`'s object; a field with a default may be missing.

        Raises InvalidTable.
        """
        rest = dict(value)
        schema = _schema(rest.pop("columns"))
        rest["topic"] = rest["topic"] or ""
        rest["key"] = tuple(rest["key"])
        rest["start"] = start_of(rest.get("start", "earliest"))
        rest["formerly"] = tuple(_former_of(former, schema) for former in rest.get("formerly", ()))
        rest["csv"] = Csv(**rest.get("csv", {}))
        if (letter := rest.get("dead_letter")) is not None:
            rest["dead_letter"] = DeadLetter(**letter)
        return cls(schema=schema, **rest)


def _columns(schema: pa.Schema) -> list[dict[str, Any]]:
    return [{"name": f.name, "type": type_name(f.type), "nullable": f.nullable} for f in schema]


def _schema(columns: list[dict[str, Any]]) -> pa.Schema:
    return pa.schema(
        [pa.field(c["name"], type_of(c["type"]), nullable=c["nullable"]) for c in columns]
    )


def _former_of(value: dict[str, Any], schema: pa.Schema) -> Former:
    """A former table out of JSON; a registry from when columns were but added has their number."""
    columns = value["columns"]
    then = pa.schema(list(schema)[:columns]) if isinstance(columns, int) else _schema(columns)
    topics = {topic: _below(ends) for topic, ends in value.get("topics", {}).items()}
    return Former(then, value["encodings"], _below(value["below"]), topics)


def _ends(below: Mapping[int, int]) -> dict[str, int]:
    return {str(partition): end for partition, end in below.items()}


def _below(ends: Mapping[str, int]) -> dict[int, int]:
    return {int(partition): end for partition, end in ends.items()}


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
