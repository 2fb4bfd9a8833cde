"""Bytes as they are, in one column of a table."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from connectors.columns.faults import NOT_TEXT, Fault
from connectors.columns.to_arrow import Converter, converter
from connectors.columns.writer_schema import UNDESCRIBED, Logical
from connectors.declaration import Declaration, refused
from connectors.formats.parsed import Contents, Holding, Parsed, Reader
from connectors.formats.schemas import SchemaText
from connectors.records import Records


class Bytes:
    """Format `bytes`."""

    name = "bytes"
    reason = NOT_TEXT
    holds: Holding = "columns"
    is_line = True
    needs_registry = False
    has_encodings = False

    def check(self, table: Declaration) -> None:
        """Raise InvalidTable unless one column takes all that a record holds."""
        types = [table.schema.field(name).type for name in table.contents]
        if len(types) != 1 or types[0] not in (pa.binary(), pa.string()):
            raise refused(
                table,
                "columns",
                "format 'bytes' needs one column of type binary or utf8, besides those of metadata",
            )

    def parse(self, records: Records, reader: Reader) -> Parsed:
        """A dict of the one column for each record, or a Fault where it is no text."""
        (name,) = reader.table.contents
        contents = records.contents(reader.part)
        if reader.table.schema.field(name).type == pa.binary():
            return Parsed([None if content is None else {name: content} for content in contents])
        return Parsed([None if content is None else _text(content, name) for content in contents])

    def opening(self, content: bytes, reader: Reader) -> None:
        """Nothing that is decoded natively."""

    def described(self, schema: Sequence[SchemaText]) -> Logical:
        """Nothing: values are not read by a registered schema."""
        return UNDESCRIBED

    def exact(self, contents: Contents, values: Sequence[Any]) -> None:
        """No byte is lost."""

    def converter(self, table: Declaration, field: pa.Field, written: Logical | None) -> Converter:
        """The bytes themselves."""
        return converter(field.type)


def _text(content: bytes, name: str) -> Any:
    try:
        return {name: content.decode()}
    except UnicodeDecodeError as error:
        return Fault(NOT_TEXT, f"not UTF-8: {error}")
