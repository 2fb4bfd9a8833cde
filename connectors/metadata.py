"""Columns that come from a record's coordinates instead of its contents.

| kind | value |
| --- | --- |
| key | the record's key, as bytes or as the text that they are in UTF-8 |
| partition, offset, topic | where the record stands |
| timestamp | the record's, of milliseconds |
| headers | a document: an array of `{"key", "value"}`, or `{"key", "base64"}` for what is no text |
"""

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Final, get_args

import orjson
import pyarrow as pa

from connectors.columns.faults import NOT_TEXT, NULL_KEY, NULL_VALUE, OUT_OF_RANGE, Fault
from connectors.declaration import Declaration, Metadata
from connectors.records import Headers, Records
from ivm.values.documents import canonical
from ivm.values.types import JSON

# The years 1 to 9999, which columns of timestamps keep to.
_EARLIEST, _LATEST = -62_135_596_800_000, 253_402_300_799_999
# What Kafka gives a record without a timestamp.
_NO_TIMESTAMP = -1


def coordinates(
    records: Records, table: Declaration
) -> tuple[dict[str, list[Any]], dict[int, Fault]]:
    """The values of each metadata column, one for each record; and the records without a good one.

    Values are as `formats.columns` takes them.
    """
    columns: dict[str, list[Any]] = {}
    faults: dict[int, Fault] = {}
    for column, kind in table.metadata.items():
        field = table.schema.field(column)
        values = list(COORDINATES[kind].values(records, table, field))
        for index, value in enumerate(values):
            if value is None and (not field.nullable or column in table.key):
                reason = NULL_KEY if kind == "key" else NULL_VALUE
                value = Fault(reason, f"column {column!r}: the record has no {kind}")
            if isinstance(value, Fault):
                faults.setdefault(index, value)
                values[index] = None
        columns[column] = values
    return columns, faults


def _keys(records: Records, _: Declaration, field: pa.Field) -> Sequence[Any]:
    keys = records.keys or [None] * len(records)
    if field.type == pa.binary():
        return keys
    return [None if key is None else _text(key) for key in keys]


def _text(key: bytes) -> str | Fault:
    try:
        return key.decode()
    except UnicodeDecodeError as error:
        return Fault(NOT_TEXT, f"the record's key is not UTF-8: {error}")


def _timestamps(records: Records, _: Declaration, field: pa.Field) -> Sequence[Any]:
    return [_instant(ms) for ms in records.timestamps or [_NO_TIMESTAMP] * len(records)]


def _instant(ms: int) -> int | Fault | None:
    if ms == _NO_TIMESTAMP:
        return None
    if _EARLIEST <= ms <= _LATEST:
        return ms * 1000
    return Fault(OUT_OF_RANGE, f"the record's timestamp {ms} is out of range")


def _headers(records: Records, _: Declaration, field: pa.Field) -> Sequence[Any]:
    found = records.headers or [None] * len(records)
    return [None if headers is None else _document(headers) for headers in found]


def _document(headers: Headers) -> str:
    return canonical(orjson.dumps([_header(key, value) for key, value in headers]).decode())


def _header(key: str, value: bytes | None) -> dict[str, str | None]:
    try:
        return {"key": key, "value": None if value is None else value.decode()}
    except UnicodeDecodeError:
        return {"key": key, "base64": b64encode(value or b"").decode()}


@dataclass(frozen=True, slots=True)
class Coordinate:
    """A column's values out of the places of records, and the types that it may have.

    `values` makes one for each record, for a column of these `types`.
    """

    types: tuple[pa.DataType, ...]
    values: Callable[[Records, Declaration, pa.Field], Iterable[Any]]


COORDINATES: Final[Mapping[str, Coordinate]] = {
    "key": Coordinate((pa.binary(), pa.string()), _keys),
    "partition": Coordinate(
        (pa.int32(), pa.int64()),
        lambda records, _, field: repeat(records.partition, len(records)),
    ),
    "offset": Coordinate((pa.int64(),), lambda records, _, field: records.offsets),
    "timestamp": Coordinate((pa.timestamp("us"), pa.timestamp("us", "UTC")), _timestamps),
    "headers": Coordinate((JSON,), _headers),
    "topic": Coordinate(
        (pa.string(),), lambda records, table, field: repeat(table.topic, len(records))
    ),
}
assert COORDINATES.keys() == set(get_args(Metadata)), "each kind is made in one way"
