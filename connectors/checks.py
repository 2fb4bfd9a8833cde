"""What a table's declaration must satisfy, beyond the types of its fields.

Each check raises InvalidTable with the field at fault and what to do about it. Together they keep
out every table whose records could only be rejected, or whose rows could not be taken back.
"""

import re
from typing import TYPE_CHECKING

import pyarrow as pa

from connectors.errors import InvalidTable
from ivm.types import INTERVAL, JSON

if TYPE_CHECKING:
    from connectors.tables import TableSpec

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,248}")
_CHANGE_LOGS = ("debezium", "maxwell", "canal")
# The formats that each envelope can come in, and those that a file topic can hold.
_FORMATS = {
    "debezium": ("json", "avro"),
    "upsert": ("json", "avro"),
    "append": ("json", "avro", "csv", "bytes"),
    "transactions": ("json", "avro"),
    "maxwell": ("json",),
    "canal": ("json",),
}
_FILE_FORMATS = ("json", "csv", "bytes")
_COUNTED = ("ms", "us", "ns")


def check(spec: "TableSpec") -> None:
    """Raise InvalidTable unless all that `spec` declares fits together."""
    _check_columns(spec)
    _check_topic(spec)
    _check_envelope(spec)
    _check_key(spec)
    _check_metadata(spec)
    _check_start(spec)
    _check_encodings(spec)
    _check_text(spec)


def _refuse(spec: "TableSpec", field: str, what: str) -> InvalidTable:
    return InvalidTable(f"table {spec.name!r}: {field}: {what}")


def _choose(spec: "TableSpec", field: str, accepted: tuple[str, ...], why: str = "") -> None:
    value = getattr(spec, field)
    if value not in accepted:
        choice = " or ".join(repr(name) for name in accepted)
        raise _refuse(spec, field, f"{value!r} is not possible{why}; choose {choice}")


def _check_columns(spec: "TableSpec") -> None:
    names = spec.schema.names
    if not spec.name or not _NAME.fullmatch(spec.topic):
        raise InvalidTable(f"table {spec.name!r} with topic {spec.topic!r}: not a usable name")
    if not names or len(set(names)) != len(names):
        raise _refuse(spec, "columns", "they must be present and distinct")
    if any("\0" in name for name in names):
        raise _refuse(spec, "columns", "a name holds a NUL")


def _check_topic(spec: "TableSpec") -> None:
    _choose(spec, "connector", ("files", "kafka"))
    _choose(spec, "on_error", ("stall", "quarantine"))
    letter = spec.dead_letter
    if letter is not None and not _NAME.fullmatch(letter.topic):
        raise _refuse(spec, "dead_letter.topic", f"{letter.topic!r} is no name of a topic")
    if letter is not None and (letter.connection, letter.topic) == (spec.connection, spec.topic):
        raise _refuse(spec, "dead_letter.topic", "records would come back; name another topic")
    if spec.connector == "kafka":
        if not spec.connection:
            raise _refuse(spec, "connection", "connector 'kafka' needs the name of a connection")
        return
    if spec.connection is not None:
        raise _refuse(spec, "connection", "file topics have none; leave it out")
    _choose(spec, "format", _FILE_FORMATS, " in a file topic, which holds lines")
    if spec.envelope == "upsert":
        raise _refuse(
            spec, "envelope", "'upsert' needs records with keys; choose connector 'kafka'"
        )


def _check_envelope(spec: "TableSpec") -> None:
    _choose(spec, "envelope", tuple(_FORMATS))
    _choose(spec, "format", _FORMATS[spec.envelope], f" with envelope {spec.envelope!r}")
    _choose(spec, "replica_identity", ("default", "full"))
    _choose(spec, "resolution", ("batch", "transaction", "record"))
    if spec.replica_identity == "full" and spec.envelope not in _CHANGE_LOGS:
        raise _refuse(
            spec, "replica_identity", f"envelope {spec.envelope!r} has no images before changes"
        )
    if spec.resolution == "transaction" and spec.envelope != "debezium":
        raise _refuse(spec, "resolution", "'transaction' needs envelope 'debezium'")
    if (spec.resolution == "transaction") != (spec.transaction_topic is not None):
        raise _refuse(
            spec,
            "transaction_topic",
            "resolution 'transaction' needs the topic of Debezium's transaction metadata, and no "
            "other resolution has one",
        )
    if spec.transaction_topic is not None and not _NAME.fullmatch(spec.transaction_topic):
        raise _refuse(spec, "transaction_topic", "not a usable name")


def _check_key(spec: "TableSpec") -> None:
    key = spec.key
    if len(set(key)) != len(key) or not set(key) <= set(spec.schema.names):
        raise _refuse(spec, "key", f"{list(key)} is not a set of columns")
    sources = {spec.metadata.get(column) for column in key}
    if spec.envelope in ("append", "transactions"):
        if key and not {"partition", "offset"} <= sources:
            raise _refuse(
                spec,
                "key",
                "nothing keeps appended rows apart but their place; leave the key empty, or take "
                "the columns with metadata 'partition' and 'offset'",
            )
        return
    if not key:
        raise _refuse(spec, "key", f"envelope {spec.envelope!r} needs the columns of a primary key")
    if sources == {"key"} and len(key) == 1 and spec.envelope == "upsert":
        return
    if sources != {None}:
        raise _refuse(
            spec,
            "key",
            "a primary key comes from the record's contents; only envelope 'upsert' may have as "
            "its one key column that with metadata 'key'",
        )


def _check_metadata(spec: "TableSpec") -> None:
    if not spec.metadata:
        return
    if spec.replica_identity == "full":
        raise _refuse(
            spec,
            "metadata",
            "with replica_identity 'full' a row is taken back by its contents, and the record that "
            "takes it back has other coordinates; choose replica_identity 'default'",
        )
    for column, kind in spec.metadata.items():
        if column not in spec.schema.names:
            raise _refuse(spec, "metadata", f"{column!r} is not a column")
        if kind not in _METADATA_TYPES:
            raise _refuse(
                spec, "metadata", f"{kind!r} is unknown; choose from {sorted(_METADATA_TYPES)}"
            )
        if spec.connector == "files" and kind in ("key", "timestamp", "headers"):
            raise _refuse(spec, "metadata", f"records of file topics have no {kind}")
        dtype, accepted = spec.schema.field(column).type, _METADATA_TYPES[kind]
        if dtype not in accepted and not (kind == "timestamp" and pa.types.is_timestamp(dtype)):
            choice = " or ".join(map(str, accepted))
            raise _refuse(spec, "metadata", f"{column!r} takes {kind!r}, so its type is {choice}")
    if len(spec.metadata) == len(spec.schema) and spec.format in ("csv", "bytes"):
        raise _refuse(spec, "columns", f"format {spec.format!r} needs a column for the contents")


_METADATA_TYPES: dict[str, tuple[pa.DataType, ...]] = {
    "key": (pa.binary(), pa.string()),
    "partition": (pa.int32(), pa.int64()),
    "offset": (pa.int64(),),
    "timestamp": (pa.timestamp("us"), pa.timestamp("us", "UTC")),
    "headers": (JSON,),
    "topic": (pa.string(),),
}


def _check_start(spec: "TableSpec") -> None:
    start = spec.start
    if start == "earliest":
        return
    if spec.connector == "files":
        raise _refuse(spec, "start", "a file topic is read from 'earliest'")
    if start == "latest":
        return
    match start:
        case {"timestamp": int(ms), **rest} if ms >= 0 and not rest:
            return
        case {"offsets": dict(offsets), **rest} if offsets and not rest:
            if all(type(n) is int and n >= 0 for pair in offsets.items() for n in pair):
                return
    raise _refuse(
        spec,
        "start",
        f"{start!r} is none of 'earliest', 'latest', {{'offsets': {{partition: offset}}}}, "
        "{'timestamp': milliseconds since the epoch}",
    )


def _check_encodings(spec: "TableSpec") -> None:
    if spec.encodings and (spec.format not in ("json", "avro") or spec.envelope == "canal"):
        raise _refuse(spec, "encodings", "there is no choice with this format and envelope")
    for column, encoding in spec.encodings.items():
        if column not in spec.schema.names or column in spec.metadata:
            raise _refuse(spec, "encodings", f"{column!r} is not a column of the record's contents")
        dtype = spec.schema.field(column).type
        if pa.types.is_decimal128(dtype):
            accepted: tuple[str, ...] = ("base64",)
        elif pa.types.is_timestamp(dtype) or pa.types.is_time64(dtype) or dtype == INTERVAL:
            accepted = _COUNTED
        else:
            raise _refuse(spec, "encodings", f"{column!r} ({dtype}) has one encoding only")
        if encoding not in accepted:
            choice = " or ".join(repr(name) for name in accepted)
            raise _refuse(
                spec, "encodings", f"{encoding!r} for {column!r} ({dtype}); choose {choice}"
            )


def _check_text(spec: "TableSpec") -> None:
    contents = [f for f in spec.schema if f.name not in spec.metadata]
    if spec.format == "bytes" and (
        len(contents) != 1 or contents[0].type not in (pa.binary(), pa.string())
    ):
        raise _refuse(
            spec,
            "columns",
            "format 'bytes' needs one column of type binary or utf8, besides those of metadata",
        )
    if spec.format != "csv":
        return
    for name, sign in (("delimiter", spec.csv.delimiter), ("quote", spec.csv.quote)):
        if len(sign) != 1 or sign in "\r\n\0":
            raise _refuse(spec, f"csv.{name}", f"{sign!r} is not one character")
    if spec.csv.delimiter == spec.csv.quote:
        raise _refuse(spec, "csv.quote", "it is the delimiter too")
