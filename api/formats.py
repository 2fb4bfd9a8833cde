"""Formats of answers with rows, chosen by the header Accept."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from api.errors import NotAcceptable
from connectors.sinks.json_rows import json_rows

JSON = "application/json"
_SPECIAL = frozenset(',"\r\n')


def _ndjson(rows: pa.RecordBatch) -> bytes:
    return b"".join(orjson.dumps(row) + b"\n" for row in json_rows(rows))


def _csv(rows: pa.RecordBatch) -> bytes:
    """RFC 4180 with a header; NULL is empty and an empty text quoted, as COPY writes them."""
    lines = [rows.schema.names, *(row.values() for row in json_rows(rows))]
    return "".join(",".join(map(_field, line)) + "\r\n" for line in lines).encode()


def _field(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    is_plain = text and not _SPECIAL.intersection(text)
    return text if is_plain else '"' + text.replace('"', '""') + '"'


def _arrow(rows: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_batch(rows)
    return sink.getvalue().to_pybytes()


def _parquet(rows: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_batches([rows]), sink)
    return sink.getvalue().to_pybytes()


WRITERS: Mapping[str, Callable[[pa.RecordBatch], bytes]] = {
    "application/x-ndjson": _ndjson,
    "text/csv": _csv,
    "application/vnd.apache.arrow.stream": _arrow,
    "application/vnd.apache.parquet": _parquet,
}
"""Writers of rows by media type; JSON has the answer's other members too."""


def accepted(header: str) -> str:
    """The media type of an answer with rows that a header Accept prefers (raises NotAcceptable).

    >>> accepted("text/csv, */*;q=0.1"), accepted("*/*")
    ('text/csv', 'application/json')
    """
    return preferred(header, (JSON, *WRITERS))


def preferred(header: str, offered: Sequence[str]) -> str:
    """The one of the offered media types that a header Accept prefers, or else the first.

    Raises NotAcceptable where none will do.

    >>> preferred("text/*;q=0.5, image/png", ["text/html", "image/png"])
    'image/png'
    """
    ranges = [part.partition(";") for part in header.lower().split(",") if part.strip()]
    for media, _, parameters in sorted(ranges, key=lambda part: -_quality(part[2])):
        wanted = media.strip()
        if _quality(parameters) <= 0:
            continue
        for one in offered:
            if wanted in ("*/*", one.partition("/")[0] + "/*", one):
                return one
    if not ranges:
        return offered[0]
    raise NotAcceptable(f"no answer is {header}; there are {', '.join(offered)}")


def _quality(parameters: str) -> float:
    for one in parameters.split(";"):
        name, _, value = one.strip().partition("=")
        if name == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0
