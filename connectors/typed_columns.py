"""Row images to typed columns: of all rows at once, and one by one where that fails."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from connectors.columns.faults import (
    MISSING_FIELD,
    NULL_VALUE,
    UNAVAILABLE_VALUE,
    Fault,
    ValueFault,
)
from connectors.columns.to_arrow import to_array
from connectors.columns.unavailable import Placeholder, placeholder
from connectors.envelopes.envelope import ENVELOPES
from connectors.envelopes.images import Images, Row
from connectors.reader_schema import Column, Plan
from connectors.tables.spec import TableSpec

Metadata = Mapping[str, list[Any]]


def typed(
    changes: Images, columns: Plan, metadata: Metadata, table: TableSpec
) -> list[pa.Array] | None:
    """The columns of all rows, without values that were not logged; None if any is at fault.

    `metadata` has a value for each record, and each of its columns.
    """
    is_keyed, unlogged = table.is_keyed, _unlogged(table)
    arrays = _columns(changes, columns, metadata, is_keyed)
    if unlogged is None or (arrays is not None and not _among(changes, columns, arrays, unlogged)):
        return arrays
    if is_keyed:
        _take_missing(changes, columns, unlogged)
        arrays = _columns(changes, columns, metadata, is_keyed)
    is_whole = arrays is not None and not _among(changes, columns, arrays, unlogged)
    return arrays if is_whole else None


def typed_one_by_one(
    changes: Images, columns: Plan, metadata: Metadata, table: TableSpec
) -> list[pa.Array]:
    """The columns of all rows but those of records with a value at fault, which are set aside."""
    changes.set_aside(_culprits(changes, columns, table))
    arrays = _columns(changes, columns, metadata, table.is_keyed)
    assert arrays is not None, "every value was tried by itself"
    return arrays


def _columns(
    changes: Images, columns: Plan, metadata: Metadata, is_keyed: bool
) -> list[pa.Array] | None:
    """The columns of all rows, or None if any value is at fault."""
    truncations = changes.diffs.count(0)
    deleted = changes.diffs.count(-1) if is_keyed else 0
    try:
        return [_column(changes, column, metadata, truncations, deleted) for column in columns]
    except (ValueFault, KeyError):
        return None


def _column(
    changes: Images,
    column: Column,
    metadata: Metadata,
    truncations: int,
    deleted: int,
) -> pa.Array:
    """One column; rows without values may have NULL in it, though its field does not allow it."""
    field, name = column.field, column.field.name
    if column.source == "absent":
        nulls: pa.Array = pa.nulls(len(changes.rows), field.type)
        return nulls
    if column.source == "metadata":
        found = metadata[name]
        pairs = zip(changes.owners, changes.diffs, strict=True)
        values = [found[owner] if diff else None for owner, diff in pairs]
        return to_array(values, field.with_nullable(True), column.convert)
    values = _values(changes.rows, column)
    if field.nullable:
        return to_array(values, field, column.convert)
    excused = truncations
    if not column.is_key:
        excused += deleted + sum(column.index in left for left in changes.missing.values())
    if not excused:
        return to_array(values, field, column.convert)
    array: pa.Array = to_array(values, field.with_nullable(True), column.convert)
    if array.null_count > excused:
        raise ValueFault(NULL_VALUE, "NULL in a column that is not nullable")
    return array


def _values(rows: Sequence[Row], column: Column) -> list[Any]:
    """The values of one column, NULL where a row may lack it (raises KeyError where not)."""
    name = column.field.name
    try:
        return [row[name] for row in rows]
    except KeyError:
        if not column.is_optional:
            raise
    return [row.get(name) for row in rows]


def _unlogged(table: TableSpec) -> Placeholder | None:
    """The placeholder for values that were not logged, where the table's envelope has any."""
    if not ENVELOPES[table.envelope].leaves_out:
        return None
    return placeholder(table.unavailable_value_placeholder)


def _among(
    changes: Images, columns: Plan, arrays: Sequence[pa.Array], unlogged: Placeholder
) -> bool:
    """Whether any row holds the placeholder, though the columns could be made."""
    return any(
        column.source == "contents"
        and unlogged.may_be_in(array)
        and any(unlogged.stands_for(row.get(column.field.name)) for row in changes.rows)
        for column, array in zip(columns, arrays, strict=True)
    )


def _take_missing(changes: Images, columns: Plan, unlogged: Placeholder) -> None:
    """Leave out the values that the database did not log: the row before still has them."""
    for column in columns:
        if column.is_key or column.source != "contents":
            continue
        name = column.field.name
        for index, row in enumerate(changes.rows):
            if changes.diffs[index] == 1 and unlogged.stands_for(row.get(name)):
                changes.rows[index] = {**row, name: None}
                changes.missing[index] = (*changes.missing.get(index, ()), column.index)


def _culprits(changes: Images, columns: Plan, table: TableSpec) -> dict[int, Fault]:
    """One fault of every record that has any: the first column's."""
    envelope, unlogged = ENVELOPES[table.envelope], _unlogged(table)
    found: dict[int, Fault] = {}
    for column in columns:
        if column.source != "contents":
            continue
        for index, (row, diff) in enumerate(zip(changes.rows, changes.diffs, strict=True)):
            left_out = diff == 0 or column.index in changes.missing.get(index, ())
            if left_out or (diff < 0 and table.is_keyed and not column.is_key):
                continue
            if unlogged is not None and unlogged.stands_for(row.get(column.field.name)):
                told = f"the database did not log column {column.field.name!r} (TOAST)"
                fault: Fault | None = Fault(UNAVAILABLE_VALUE, told)
            else:
                fault = _fault(row, column, envelope.image(diff))
            if fault is not None:
                found.setdefault(changes.owners[index], fault)
    return found


def _fault(row: Row, column: Column, image: str) -> Fault | None:
    """The fault of this column of a row image, if it has one."""
    field = column.field
    try:
        to_array(_values([row], column), field, column.convert)
    except KeyError:
        return Fault(MISSING_FIELD, f"{image} has no field {field.name!r}")
    except ValueFault as fault:
        message = f"column {field.name!r} ({field.type}) in {image}: {fault.detail}"
        return Fault(fault.reason, message)
    return None
