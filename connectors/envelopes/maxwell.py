"""Maxwell's records: `data` is the row after the change, or the deleted one; `old` former values.

Statements that define tables, and marks of a bootstrap's beginning and end, are ignored.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

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
from connectors.envelopes.positions import of_log
from connectors.envelopes.recognition import Recognition
from connectors.formats.parsed import Holding

_IGNORED = frozenset(
    [
        *("bootstrap-start", "bootstrap-complete", "heartbeat"),
        *("table-create", "table-alter", "table-drop"),
        *("database-create", "database-alter", "database-drop"),
    ]
)


def _primary_key(value: Mapping[str, Any], key: Any) -> Sequence[str]:
    """The columns that the record's key names, as `pk.id`."""
    names = key if isinstance(key, Mapping) else ()
    return [name.removeprefix("pk.") for name in names if name.startswith("pk.")]


class Maxwell:
    """Envelope `maxwell`."""

    name = "maxwell"
    holds: tuple[Holding, ...] = ("documents",)
    rows_stay = False
    keys: Keys = "unread"
    has_before = True
    has_transactions = False
    leaves_out = False
    has_encodings = True
    layout: Layout | None = Layout(
        "maxwell", (("data",), ("old",)), (("type",), ("ts",), ("position",)), has_times=True
    )
    recognition = Recognition(
        (frozenset(("database", "table", "type", "data")),), "data", key=_primary_key
    )

    def check(self, table: Declaration) -> None:
        """Raise InvalidTable unless there is a primary key."""
        check_primary_key(table)

    def images(self, contents: Contents) -> Images:
        """The rows that records set or add, and those that they take away."""
        return _images(contents.values, contents.shape)

    def row(self, value: Logical) -> Logical | None:
        """Maxwell writes no schema."""
        return None

    def image(self, diff: int) -> str:
        """The rows of either side are in one place."""
        return "'data'"

    def converter(self, field: pa.Field) -> Converter | None:
        """As the format says."""
        return None

    def stamps(self, values: Sequence[Any], table: Declaration) -> Stamps:
        """The time of each record, and its position."""
        return Stamps(_timestamps(values), _positions(values))


def _images(records: Sequence[Any], shape: Shape) -> Images:
    """The row images of records; a Fault among them stays one."""
    result = Images()
    for owner, record in enumerate(records):
        kind = record.get("type") if type(record) is dict else None
        data = record.get("data") if type(record) is dict else None
        if record is None:
            result.tombstones += 1
        elif type(kind) is str and kind in _IGNORED:
            result.ignored += 1
        elif type(data) is not dict:
            result.faults[owner] = _fault(record)
        elif kind in ("insert", "bootstrap-insert"):
            result.add(owner, 1, data)
        elif kind == "delete":
            _delete(result, owner, data, shape)
        elif kind == "update" and type(record.get("old")) is dict:
            before = {**data, **record["old"]}
            gone = shape.moved_from(before, data) if shape.is_keyed else before
            if gone is not None:
                result.add(owner, -1, gone)
            result.add(owner, 1, data)
        else:
            result.faults[owner] = _fault(record)
    return result


def _timestamps(records: Sequence[Any]) -> NDArray[np.int64]:
    """The `ts` of each record, in milliseconds; 0 where it has none that is usable."""
    found = [record.get("ts") if type(record) is dict else None for record in records]
    return np.array([_millis(ts) for ts in found], np.int64)


def _positions(records: Sequence[Any]) -> NDArray[np.uint64] | None:
    """The `position` of each record, as `envelopes.positions` has it of MySQL; None without any."""
    found = [record.get("position") if type(record) is dict else None for record in records]
    if not any(type(position) is str for position in found):
        return None
    order = np.array([_position(position) for position in found], np.uint64)
    return order if order.any() else None


def _position(position: Any) -> tuple[int, int]:
    file, _, place = position.rpartition(":") if type(position) is str else ("", "", "")
    is_number = place.isascii() and place.isdigit() and len(place) < 20
    return of_log(file, int(place)) if is_number else (0, 0)


def _millis(ts: Any) -> int:
    return ts * 1000 if type(ts) is int and 0 <= ts < 2**50 else 0


def _delete(result: Images, owner: int, data: dict[str, Any], shape: Shape) -> None:
    gone = shape.gone(data)
    if gone is None:
        result.faults[owner] = Fault(MISSING_IMAGE, "'data' lacks the primary key")
    else:
        result.add(owner, -1, gone)


def _fault(record: Any) -> Fault:
    if isinstance(record, Fault):
        return record
    if type(record) is not dict:
        return Fault(NOT_AN_ENVELOPE, "the record is not an object")
    if "type" not in record:
        return Fault(MISSING_FIELD, f"the record has no field 'type'{of_plain(record)}")
    kind = record["type"]
    if kind not in ("insert", "bootstrap-insert", "update", "delete"):
        return Fault(UNKNOWN_OP, f"unknown type {str(kind)[:40]!r}")
    wrong = "data" if type(record.get("data")) is not dict else "old"
    return Fault(MISSING_IMAGE, f"type {kind!r} without an object {wrong!r}")
