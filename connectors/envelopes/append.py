"""Append: every record is a row, and none is ever taken away."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from connectors.columns.faults import NOT_AN_ENVELOPE, NULL_RECORD, Fault
from connectors.columns.to_arrow import Converter
from connectors.columns.writer_schema import Logical
from connectors.declaration import Declaration
from connectors.envelopes.images import Contents, Images, Keys, Shape, Stamps
from connectors.envelopes.keys import check_no_key, foreign
from connectors.envelopes.layout import Layout
from connectors.envelopes.recognition import Recognition
from connectors.formats.parsed import Holding


class Append:
    """Envelope `append`."""

    name = "append"
    holds: tuple[Holding, ...] = ("documents", "structs", "columns")
    rows_stay = True
    keys: Keys = "unread"
    has_before = False
    has_transactions = False
    leaves_out = False
    has_encodings = True
    layout: Layout | None = Layout("append")
    recognition = Recognition()

    def check(self, table: Declaration) -> None:
        """Raise InvalidTable for a key other than a record's place."""
        check_no_key(table)

    def images(self, contents: Contents) -> Images:
        """A row for each value."""
        return _images(contents.values, contents.shape)

    def row(self, value: Logical) -> Logical | None:
        """A value is a row."""
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


def _images(values: Sequence[Any], shape: Shape) -> Images:
    """A row for each value; a Fault among them stays one."""
    if all(type(value) is dict and shape.is_row(value) for value in values):
        return Images(list(values), [1] * len(values), list(range(len(values))))
    result = Images()
    for owner, value in enumerate(values):
        if type(value) is dict and not shape.is_row(value):
            result.faults[owner] = foreign(value, shape)
        elif type(value) is dict:
            result.add(owner, 1, value)
        elif isinstance(value, Fault):
            result.faults[owner] = value
        elif value is None:
            result.faults[owner] = Fault(NULL_RECORD, "the record has no value, so it is no row")
        else:
            result.faults[owner] = Fault(NOT_AN_ENVELOPE, "the value is not an object")
    return result
