"""Upsert: a record's key and value are its row; without a value, the row of the key is deleted.

The columns of the primary key come from the record's key, which may be the one column's value
itself; the others come from the value.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from connectors.declaration import Declaration
from connectors.envelopes.images import Contents, Images, Row, Shape, Stamps
from connectors.envelopes.keys import check_primary_key
from connectors.formats.columns import Converter
from connectors.formats.faults import MISSING_FIELD, NOT_AN_ENVELOPE, NULL_KEY, Fault
from connectors.formats.logical import Logical
from connectors.formats.parsed import Holding


class Upsert:
    """Envelope `upsert`."""

    name = "upsert"
    holds: tuple[Holding, ...] = ("documents", "structs")
    rows_stay = False
    reads_keys = True
    has_before = False
    has_transactions = False
    leaves_out = False
    has_encodings = True

    def check(self, table: Declaration) -> None:
        """Raise InvalidTable unless there is a key of contents, or of the record's key as it is."""
        if len(table.key) != 1 or table.metadata.get(table.key[0]) != "key":
            check_primary_key(table)

    def images(self, contents: Contents) -> Images:
        """The rows that values set, and the keys that records without one delete."""
        return _images(contents.values, contents.keys, contents.shape)

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


def _images(values: Sequence[Any], keys: Sequence[Any], shape: Shape) -> Images:
    """What records with these keys set and delete; a Fault among either stays one."""
    result = Images()
    for owner, (value, key) in enumerate(zip(values, keys, strict=True)):
        row = _keyed(key, shape)
        if isinstance(row, Fault) or isinstance(value, Fault):
            result.faults[owner] = row if isinstance(row, Fault) else value
        elif value is None:
            result.add(owner, -1, dict.fromkeys(shape.names) | row)
        elif type(value) is dict:
            result.add(owner, 1, value | row)
        else:
            result.faults[owner] = Fault(NOT_AN_ENVELOPE, "the value is not an object")
    return result


def _keyed(key: Any, shape: Shape) -> Row | Fault:
    """The key's columns; none where the table takes its key as the bytes that it is."""
    if isinstance(key, Fault):
        return Fault(key.reason, f"the record's key: {key.message}")
    if not shape.key:
        return {}
    if key is None:
        return Fault(NULL_KEY, "the record has no key, so it says of no row what it is")
    if type(key) is not dict:
        if len(shape.key) == 1:
            return {shape.key[0]: key}
        return Fault(NOT_AN_ENVELOPE, f"the record's key is no object with {list(shape.key)}")
    try:
        return {name: key[name] for name in shape.key}
    except KeyError as error:
        return Fault(MISSING_FIELD, f"the record's key has no field {error.args[0]!r}")
