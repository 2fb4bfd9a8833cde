"""Upsert: a record's key and value are its row; without a value, the row of the key is deleted.

The columns of the primary key come from the record's key, which may be the one column's value
itself; the others come from the value.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from connectors.columns.faults import NOT_AN_ENVELOPE, Fault
from connectors.columns.to_arrow import Converter
from connectors.columns.writer_schema import Logical
from connectors.declaration import Declaration
from connectors.envelopes.images import Contents, Images, Keys, Stamps
from connectors.envelopes.keys import check_primary_key, foreign, row_of_key
from connectors.envelopes.layout import Layout
from connectors.envelopes.recognition import Recognition
from connectors.formats.parsed import Holding


class Upsert:
    """Envelope `upsert`."""

    name = "upsert"
    holds: tuple[Holding, ...] = ("documents", "structs")
    rows_stay = False
    keys: Keys = "required"
    has_before = False
    has_transactions = False
    leaves_out = False
    has_encodings = True
    layout: Layout | None = Layout("upsert")
    recognition = Recognition()

    def check(self, table: Declaration) -> None:
        """Raise InvalidTable unless there is a key of contents, or of the record's key as it is."""
        if len(table.key) != 1 or table.metadata.get(table.key[0]) != "key":
            check_primary_key(table)

    def images(self, contents: Contents) -> Images:
        """The rows that values set, and the keys that records without one delete."""
        return _images(contents)

    def row(self, value: Logical) -> Logical | None:
        """A value is a row, but for its key."""
        return value

    def image(self, diff: int) -> str:
        """The record itself."""
        return "the record"

    def converter(self, field: pa.Field) -> Converter | None:
        """As the format says."""
        return None

    def stamps(self, values: Sequence[Any], table: Declaration) -> Stamps:
        """A row says nothing of when it was made."""
        return Stamps()


def _images(contents: Contents) -> Images:
    """The rows that records with these keys set and delete; a Fault among either stays one."""
    result = Images()
    shape = contents.shape
    keys = contents.keys or [None] * len(contents.values)
    for owner, (value, key) in enumerate(zip(contents.values, keys, strict=True)):
        row = row_of_key(key, shape)
        if isinstance(row, Fault) or isinstance(value, Fault):
            result.faults[owner] = row if isinstance(row, Fault) else value
        elif value is None:
            result.add(owner, -1, dict.fromkeys(shape.names) | row)
        elif type(value) is not dict:
            result.faults[owner] = Fault(NOT_AN_ENVELOPE, "the value is not an object")
        elif not shape.is_row(value):
            result.faults[owner] = foreign(value, shape)
        else:
            result.add(owner, 1, value | row)
    return result
