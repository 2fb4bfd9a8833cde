"""Posted rows: the bodies of writes, read as the records that a table's topic keeps.

A body is rows, or changes `{"insert": row}`, `{"update": row}`, `{"delete": row}`: in a table with
a primary key the first two both set the row of its key, and a deletion needs the key alone.
"""

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson
import pyarrow as pa

from api import exact_json
from api.errors import BadRows, UnsupportedMedia
from connectors.decode import decode
from connectors.records import Records
from connectors.sinks.json_rows import json_rows
from connectors.tables.spec import TableSpec

SETS, DELETES = ("insert", "update"), "delete"


def records_of(body: bytes, media: str, spec: TableSpec, are_changes: bool) -> list[bytes]:
    """The records of a body of a media type (raises BadRows, UnsupportedMedia).

    Numbers keep the digits that they are written with.
    """
    kind = media.partition(";")[0].strip().lower()
    read = READERS.get(kind)
    if read is None:
        raise UnsupportedMedia(f"a body of {kind or 'no type'}; write {', '.join(READERS)}")
    make = _change if are_changes else _row
    known = frozenset(spec.schema.names)
    return [
        make(row, f"row {number}", spec, known) for number, row in enumerate(read(body, spec), 1)
    ]


def _row(row: Any, place: str, spec: TableSpec, known: frozenset[str]) -> bytes:
    """The record of a row."""
    if not isinstance(row, dict):
        raise BadRows(f"{place} is not an object with the table's columns")
    if not known.issuperset(row):
        unknown = ", ".join(sorted(set(row) - known))
        raise BadRows(
            f"{place}: the table has no column {unknown}; it has {', '.join(spec.schema.names)}"
        )
    return _record(row, place)


def _change(change: Any, place: str, spec: TableSpec, known: frozenset[str]) -> bytes:
    """The record of a change."""
    if not isinstance(change, dict) or len(change) != 1 or not {*SETS, DELETES}.issuperset(change):
        raise BadRows(
            f'{place} is no change; write {{"insert": row}}, {{"update": row}} or {{"delete": row}}'
        )
    [(kind, row)] = change.items()
    if not spec.key and kind != "insert":
        raise BadRows(f"{place}: rows of a table without a primary key stay; insert them only")
    if kind != DELETES:
        return _row(row, place, spec, known)
    _row(row, place, spec, known)
    return _record({name: row.get(name) for name in spec.key} | {"__deleted": "true"}, place)


def _record(row: Mapping[str, Any], place: str) -> bytes:
    try:
        return orjson.dumps(row)
    except orjson.JSONEncodeError as error:
        raise BadRows(f"{place}: {error}") from error


def _parsed(text: bytes | str, place: str) -> Any:
    try:
        return exact_json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadRows(f"{place} is no JSON: {error}") from error


def _json(body: bytes, spec: TableSpec) -> Sequence[Any]:
    found = _parsed(body, "the body")
    return found if isinstance(found, list) else [found]


def _ndjson(body: bytes, spec: TableSpec) -> Iterator[Any]:
    lines = [line for line in body.splitlines() if line.strip()]
    return (_parsed(line, f"row {number}") for number, line in enumerate(lines, 1))


def _csv(body: bytes, spec: TableSpec) -> Sequence[Any]:
    """Rows of lines below a header, which names their columns."""
    header, *lines = body.splitlines() or [b""]
    names = [name.strip().strip('"') for name in header.decode(errors="replace").split(",")]
    if len(set(names)) != len(names) or not set(names) <= set(spec.schema.names):
        raise BadRows(
            f"the header {', '.join(names)} must name columns of the table, each once: "
            f"{', '.join(spec.schema.names)}"
        )
    schema = pa.schema([spec.schema.field(name) for name in names])
    form = replace(spec, format="csv", envelope="append", connector="files", key=(), schema=schema)
    found = decode(Records(lines, range(len(lines))), form)
    if found.rejected:
        first = found.rejected[0]
        raise BadRows(f"row {first.offset + 1}: {first.message}. No row was written")
    return json_rows(found.rows)


def _arrow(body: bytes, spec: TableSpec) -> Sequence[Any]:
    try:
        table = pa.ipc.open_stream(io.BytesIO(body)).read_all()
        known = [name for name in table.schema.names if name in spec.schema.names]
        fields = [spec.schema.field(name) for name in known]
        typed = table.select(known).cast(pa.schema([field.with_nullable(True) for field in fields]))
    except (pa.ArrowException, OSError) as error:
        raise BadRows(f"the body is no Arrow IPC stream of the table's columns: {error}") from error
    if len(known) < table.num_columns:
        unknown = ", ".join(set(table.schema.names) - set(known))
        raise BadRows(f"the table has no column {unknown}")
    return [row for batch in typed.to_batches() for row in json_rows(batch)]


READERS: Mapping[str, Callable[[bytes, TableSpec], Sequence[Any] | Iterator[Any]]] = {
    "application/json": _json,
    "application/x-ndjson": _ndjson,
    "text/csv": _csv,
    "application/vnd.apache.arrow.stream": _arrow,
}
"""Readers of rows by media type."""
