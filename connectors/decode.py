"""Records of one table's topic to typed updates: pure, so it runs on any executor and in any test.

A record is taken whole or not at all: either all its row images are typed, or the record is
rejected with the reason. Cutting the records into batches in another way gives the same updates.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from connectors.envelopes.debezium import Images, Row, images, timestamps, unwrapped
from connectors.formats.columns import to_array
from connectors.formats.faults import MISSING_FIELD, Fault, ValueFault
from connectors.formats.json import parse, parse_exactly
from connectors.tables import TableSpec

# Columns that travel beside a table's own, under names that no column has.
DIFF, OFFSET, TS_MS = "\0diff", "\0offset", "\0ts_ms"


@dataclass(frozen=True, slots=True)
class RejectedRecord:
    """A record that gave no updates: its offset, one of `REASONS`, a message, and its bytes."""

    offset: int
    reason: str
    message: str
    value: bytes


@dataclass(frozen=True, slots=True)
class Decoded:
    """Record `offsets[i]` (ascending) changes row `i` of `rows` by `diffs[i]`.

    `rows` has the table's schema; `ts_ms` is the envelopes' (0: none). `tombstones` were ignored.
    """

    rows: pa.RecordBatch
    diffs: NDArray[np.int64]
    offsets: NDArray[np.int64]
    ts_ms: NDArray[np.int64]
    rejected: tuple[RejectedRecord, ...]
    tombstones: int


def decode(values: Sequence[bytes], offsets: Sequence[int], table: TableSpec) -> Decoded:
    """Decode the records `values`, which stand at `offsets` (ascending, as many)."""
    parsed = parse(values)
    envelopes = unwrapped(parsed)
    changes = images(envelopes)
    columns = _columns(changes.rows, table.schema)
    if columns is None and any(pa.types.is_decimal128(field.type) for field in table.schema):
        changes = images(unwrapped(_exact(parsed, values)))
        columns = _columns(changes.rows, table.schema)
    if columns is None:
        _set_aside(changes, _culprits(changes, table.schema))
        columns = _columns(changes.rows, table.schema)
        assert columns is not None, "every value was tried by itself"
    owners = np.array(changes.owners, np.int64)
    return Decoded(
        pa.RecordBatch.from_arrays(columns, schema=table.schema),
        np.array(changes.diffs, np.int64),
        np.asarray(offsets, np.int64)[owners],
        timestamps(envelopes)[owners],
        tuple(
            RejectedRecord(offsets[owner], fault.reason, fault.message, values[owner])
            for owner, fault in sorted(changes.faults.items())
        ),
        changes.tombstones,
    )


def _columns(rows: list[Row], schema: pa.Schema) -> list[pa.Array] | None:
    """The columns of `rows`, or None if any value is at fault."""
    try:
        return [to_array([row[field.name] for row in rows], field) for field in schema]
    except (ValueFault, KeyError):
        return None


def _exact(parsed: list[Any], values: Sequence[bytes]) -> list[Any]:
    """The records with numbers as they are written, since a decimal must not be a float."""
    return [
        record if isinstance(record, Fault) else parse_exactly(value, record)
        for record, value in zip(parsed, values, strict=True)
    ]


def _culprits(changes: Images, schema: pa.Schema) -> dict[int, Fault]:
    """One fault of every record that has any: the first column's."""
    found: dict[int, Fault] = {}
    for field in schema:
        if _columns(changes.rows, pa.schema([field])) is not None:
            continue
        for row, diff, owner in zip(changes.rows, changes.diffs, changes.owners, strict=True):
            fault = _fault(row, field, "after" if diff > 0 else "before")
            if fault is not None:
                found.setdefault(owner, fault)
    return found


def _fault(row: Row, field: pa.Field, image: str) -> Fault | None:
    """What is wrong with this column of a row image."""
    try:
        to_array([row[field.name]], field)
    except KeyError:
        return Fault(MISSING_FIELD, f"{image!r} has no field {field.name!r}")
    except ValueFault as fault:
        message = f"column {field.name!r} ({field.type}) in {image!r}: {fault.detail}"
        return Fault(fault.reason, message)
    return None


def _set_aside(changes: Images, faults: dict[int, Fault]) -> None:
    """Take the images of the records at fault out of `changes`."""
    kept = [i for i, owner in enumerate(changes.owners) if owner not in faults]
    changes.rows = [changes.rows[i] for i in kept]
    changes.diffs = [changes.diffs[i] for i in kept]
    changes.owners = [changes.owners[i] for i in kept]
    changes.faults |= faults
