"""Lines `crc32 json`: records of files that are read after any crash, and after damage."""

import zlib
from typing import Any

import orjson


def checked_line(record: dict[str, Any]) -> bytes:
    """The line of `record`, which `read_checked` reads."""
    body = orjson.dumps(record)
    return b"%08x %s\n" % (zlib.crc32(body), body)


def read_checked(line: bytes) -> dict[str, Any] | None:
    """The record of one line, or None if it is torn or damaged."""
    checksum, _, body = line.partition(b" ")
    if not body.endswith(b"\n") or checksum != b"%08x" % zlib.crc32(body[:-1]):
        return None
    record: dict[str, Any] = orjson.loads(body)
    return record
