"""Rows that Debezium's transformation `ExtractNewRecordState` leaves of its envelopes.

| record | says |
| --- | --- |
| a row, `__deleted` "false" or absent | sets the row of its key |
| a row, `__deleted` "true" or `__op` "d" (`rewrite`) | deletes the row of its key |
| no value (`tombstone`, and after a delete in `rewrite-with-tombstone`) | deletes it too |

These are the forms of `delete.tombstone.handling.mode`, and of `delete.handling.mode` before it.
With `drop` nothing says that a row was deleted. The columns of the primary key come from the
record's key, as Debezium writes it, since a record without a value has nothing else; where there
is no key, from the row. Other fields that the transformation adds (`__table`, `__lsn`,
`__source_ts_ms`) are fields as any. None is taken for a position in the database's log: a deletion
without a value has none, so that a part of a log that is read again must be applied as a whole.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from connectors.columns.faults import MISSING_FIELD, NOT_AN_ENVELOPE, UNKNOWN_OP, Fault
from connectors.columns.to_arrow import Converter
from connectors.columns.writer_schema import Logical
from connectors.declaration import Declaration
from connectors.envelopes.images import Contents, Images, Keys, Row, Shape, Stamps
from connectors.envelopes.keys import check_primary_key, foreign, row_of_key
from connectors.envelopes.layout import Layout
from connectors.envelopes.recognition import Recognition
from connectors.formats.parsed import Holding

_DELETED, _OP = "__deleted", "__op"
_IS_DELETED = {None: False, "false": False, "true": True, False: False, True: True}
_DELETES = {None: False, "c": False, "r": False, "u": False, "d": True}


class Flat:
    """Envelope `flat`."""

    name = "flat"
    holds: tuple[Holding, ...] = ("documents", "structs")
    rows_stay = False
    keys: Keys = "preferred"
    has_before = False
    has_transactions = False
    leaves_out = True
    has_encodings = True
    layout: Layout | None = Layout("flat", marks=((_DELETED,), (_OP,)))
    recognition = Recognition((frozenset((_DELETED,)), frozenset((_OP,))))

    def check(self, table: Declaration) -> None:
        """Raise InvalidTable unless there is a primary key."""
        check_primary_key(table)

    def images(self, contents: Contents) -> Images:
        """The rows that records set, and the keys that they delete."""
        result = Images()
        shape, keys = contents.shape, contents.keys
        for owner, value in enumerate(contents.values):
            key = _key(value, keys[owner] if keys is not None else None, shape)
            if isinstance(value, Fault):
                result.faults[owner] = value
            elif isinstance(key, Fault):
                result.faults[owner] = key
            elif value is None:
                result.add(owner, -1, shape.blank() | key)
            elif (deletes := _deletes(value)) is None:
                result.faults[owner] = _unknown(value)
            elif deletes:
                result.add(owner, -1, shape.blank() | key)
            elif not shape.is_row(value):
                result.faults[owner] = foreign(value, shape)
            else:
                result.add(owner, 1, value | key)
        return result

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
        """Nothing that every record has."""
        return Stamps()


def _key(value: Any, key: Any, shape: Shape) -> Row | Fault:
    """The columns of the primary key, out of the record's key or else of its row."""
    if key is not None or value is None:
        return row_of_key(key, shape)
    if type(value) is not dict:
        return Fault(NOT_AN_ENVELOPE, "the value is not an object")
    for name in shape.key:
        if value.get(name) is None:
            return Fault(MISSING_FIELD, f"neither the record's key nor its row has {name!r}")
    return {name: value[name] for name in shape.key}


def _deletes(value: Any) -> bool | None:
    """Whether a row was deleted; None if its marks say nothing that is known."""
    try:
        return _IS_DELETED[value.get(_DELETED)] or _DELETES[value.get(_OP)]
    except (KeyError, TypeError, AttributeError):
        return None


def _unknown(value: Any) -> Fault:
    if type(value) is not dict:
        return Fault(NOT_AN_ENVELOPE, "the value is not an object")
    marks = {name: value[name] for name in (_DELETED, _OP) if name in value}
    return Fault(UNKNOWN_OP, f"{str(marks)[:80]} is neither of a row that is there nor of one gone")
