"""What a declared table is: which topic carries its changes and how they become typed rows.

A `TableSpec` is complete: decoding needs nothing else, so it travels to executors and into files
as it is.
"""

import re
from dataclasses import dataclass
from typing import Any, Literal, Self

import pyarrow as pa
import pyarrow.compute as pc

from connectors.errors import InvalidTable
from ivm.types import INTERVAL, JSON, UUID

OnError = Literal["quarantine", "stall"]

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
    if pa.types.is_decimal128(dtype) or _ZONED.fullmatch(str(dtype)):
        return str(dtype)
    raise InvalidTable(f"type {dtype} is not supported in a table")


def type_of(name: str) -> pa.DataType:
    """The type that `type_name` calls `name` (raises InvalidTable)."""
    if name in _NAMED:
        return _NAMED[name]
    if match := _DECIMAL.fullmatch(name):
        precision, scale = int(match[1]), int(match[2])
        if 1 <= precision <= 38 and scale <= precision:
            return pa.decimal128(precision, scale)
    if match := _ZONED.fullmatch(name):
        return _zoned(match[1])
    if match := _LIST.fullmatch(name):
        return pa.list_(type_of(match[1]))
    raise InvalidTable(
        f"type {name!r} is not supported; choose from {sorted(_NAMED)}, "
        "decimal128(p, s), timestamp[us, tz=UTC], list<utf8>"
    )


@dataclass(frozen=True, slots=True)
class TableSpec:
    """One table: its topic, its columns in order, and the columns of its primary key.

    `on_error` says what a record that cannot be decoded does: it is put aside (`quarantine`),
    or the whole pipeline waits before it (`stall`).
    Raises InvalidTable when names are empty or repeated, or a type is not supported.
    """

    name: str
    topic: str
    schema: pa.Schema
    key: tuple[str, ...]
    format: Literal["json"] = "json"
    envelope: Literal["debezium"] = "debezium"
    on_error: OnError = "quarantine"

    def __post_init__(self) -> None:
        names = self.schema.names
        if not self.name or not _is_file_name(self.topic):
            raise InvalidTable(f"table {self.name!r} with topic {self.topic!r}: not a usable name")
        if not names or len(set(names)) != len(names):
            raise InvalidTable(f"table {self.name!r}: columns must be present and distinct")
        if any("\0" in name for name in names):
            raise InvalidTable(f"table {self.name!r}: a column's name holds a NUL")
        if not self.key or len(set(self.key)) != len(self.key) or not set(self.key) <= set(names):
            raise InvalidTable(f"table {self.name!r}: key {list(self.key)} is not a set of columns")
        for field in self.schema:
            type_name(field.type)

    def to_json(self) -> dict[str, Any]:
        """A JSON object that `from_json` turns into an equal spec."""
        return {
            "name": self.name,
            "topic": self.topic,
            "columns": [
                {"name": f.name, "type": type_name(f.type), "nullable": f.nullable}
                for f in self.schema
            ],
            "key": list(self.key),
            "format": self.format,
            "envelope": self.envelope,
            "on_error": self.on_error,
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        """The spec of `to_json`'s object (raises InvalidTable)."""
        fields = [
            pa.field(c["name"], type_of(c["type"]), nullable=c["nullable"])
            for c in value["columns"]
        ]
        rest = {k: v for k, v in value.items() if k not in ("columns", "key")}
        return cls(schema=pa.schema(fields), key=tuple(value["key"]), **rest)


def _zoned(zone: str) -> pa.DataType:
    dtype = pa.timestamp("us", tz=zone)
    instant: Any = pa.scalar(0, dtype)
    try:
        pc.local_timestamp(instant)
    except pa.ArrowInvalid as error:
        raise InvalidTable(f"time zone {zone!r} is not known here; UTC always is") from error
    return dtype


def _is_file_name(text: str) -> bool:
    return bool(re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,248}", text))
