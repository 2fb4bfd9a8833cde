"""Canal's flat records: `data` holds the rows of one statement, `old` their former values.

`TRUNCATE` truncates; other statements that define tables are ignored.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from connectors.columns.encodings import by_text, of_latin_letters
from connectors.columns.faults import (
    MISSING_FIELD,
    MISSING_IMAGE,
    NOT_AN_ENVELOPE,
    UNKNOWN_OP,
    Fault,
)
from connectors.columns.to_arrow import Converter
from connectors.columns.writer_schema import Logical
from connectors.declaration import Declaration
from connectors.envelopes.hints import of_plain
from connectors.envelopes.images import Contents, Images, Keys, Shape, Stamps
from connectors.envelopes.keys import check_primary_key
from connectors.envelopes.layout import Layout
from connectors.envelopes.recognition import Recognition
from connectors.formats.parsed import Holding

_CHANGES = ("INSERT", "UPDATE", "DELETE")


def _primary_key(value: Mapping[str, Any], key: Any) -> Sequence[str]:
    """The columns that the record lists."""
    names = value.get("pkNames")
    return [str(name) for name in names] if isinstance(names, list) else []


class Canal:
    """Envelope `canal`."""

    name = "canal"
    holds: tuple[Holding, ...] = ("documents",)
    rows_stay = False
    keys: Keys = "unread"
    has_before = True
    has_transactions = False
    leaves_out = False
    has_encodings = False
    layout: Layout | None = Layout(
        "canal",
        (("data",), ("old",)),
        (("type",), ("isDdl",), ("es",), ("ts",)),
        listed=frozenset(("data", "old")),
        has_times=True,
    )
    recognition = Recognition(
        (frozenset(("database", "table", "type", "data", "isDdl")),), "data", key=_primary_key
    )

    def check(self, table: Declaration) -> None:
        """Raise InvalidTable unless there is a primary key."""
        check_primary_key(table)

    def images(self, contents: Contents) -> Images:
        """The rows that records set or add, and those that they take away."""
        return _images(contents.values, contents.shape)

    def row(self, value: Logical) -> Logical | None:
        """Canal writes no schema."""
        return None

    def image(self, diff: int) -> str:
        """The rows of either side are in one place."""
        return "'data'"

    def converter(self, field: pa.Field) -> Converter | None:
        """A value out of the text that stands for it, bytes out of letters."""
        return of_latin_letters if pa.types.is_binary(field.type) else by_text(field.type)

    def stamps(self, values: Sequence[Any], table: Declaration) -> Stamps:
        """The time of each statement."""
        return Stamps(np.array([_time(record) for record in values], np.int64))


def _images(records: Sequence[Any], shape: Shape) -> Images:
    """The row images of records; a Fault among them stays one."""
    result = Images()
    for owner, record in enumerate(records):
        kind = record.get("type") if type(record) is dict else None
        if record is None:
            result.tombstones += 1
        elif kind == "TRUNCATE":
            result.add(owner, 0, shape.blank())
        elif type(record) is dict and record.get("isDdl") is True:
            result.ignored += 1
        else:
            changes = _changes(record, kind, shape)
            if isinstance(changes, Fault):
                result.faults[owner] = changes
            else:
                for diff, row in changes:
                    result.add(owner, diff, row)
    return result


def _time(record: Any) -> int:
    """When the statement ran, or else when it was read; 0 where neither is usable."""
    if type(record) is dict:
        for name in ("es", "ts"):
            found = record.get(name)
            if type(found) is int and 0 < found < 2**63:
                return found
    return 0


def _changes(record: Any, kind: Any, shape: Shape) -> list[tuple[int, dict[str, Any]]] | Fault:
    """The changes that each row of a record's `data` sets, adds or takes away."""
    fault = _fault(record, kind)
    if fault is not None:
        return fault
    changes: list[tuple[int, dict[str, Any]]] = []
    rows: list[dict[str, Any]] = record["data"]
    for index, row in enumerate(rows):
        if kind == "UPDATE":
            before = {**row, **record["old"][index]}
            gone = shape.moved_from(before, row) if shape.is_keyed else before
            if gone is not None:
                changes.append((-1, gone))
        if kind != "DELETE":
            changes.append((1, row))
            continue
        deleted = shape.gone(row)
        if deleted is None:
            return Fault(MISSING_IMAGE, "'data' lacks the primary key")
        changes.append((-1, deleted))
    return changes


def _fault(record: Any, kind: Any) -> Fault | None:
    if isinstance(record, Fault):
        return record
    if type(record) is not dict:
        return Fault(NOT_AN_ENVELOPE, "the record is not an object")
    if "type" not in record:
        return Fault(MISSING_FIELD, f"the record has no field 'type'{of_plain(record)}")
    if kind not in _CHANGES:
        return Fault(UNKNOWN_OP, f"unknown type {str(kind)[:40]!r}")
    data, old = record.get("data"), record.get("old")
    if not data or not _is_rows(data):
        return Fault(MISSING_IMAGE, f"type {kind!r} without an array of objects 'data'")
    if kind == "UPDATE" and not (_is_rows(old) and len(old or ()) == len(data)):
        return Fault(MISSING_IMAGE, "type 'UPDATE' without as many objects in 'old' as in 'data'")
    return None


def _is_rows(value: Any) -> bool:
    return type(value) is list and all(type(row) is dict for row in value)
