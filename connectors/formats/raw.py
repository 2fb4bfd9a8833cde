"""Bytes as they are, in one column of a table."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from connectors.formats.faults import NOT_TEXT, Fault
from connectors.formats.parsed import Parsed


def parse(contents: Sequence[bytes | None], name: str, dtype: pa.DataType) -> Parsed:
    """A dict with the value of column `name` for each record, or a Fault where it is no text."""
    if dtype == pa.binary():
        return Parsed([None if content is None else {name: content} for content in contents])
    return Parsed([None if content is None else _text(content, name) for content in contents])


def _text(content: bytes, name: str) -> Any:
    try:
        return {name: content.decode()}
    except UnicodeDecodeError as error:
        return Fault(NOT_TEXT, f"not UTF-8: {error}")
