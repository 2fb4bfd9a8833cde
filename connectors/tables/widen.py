"""Changes of a declared table in place: columns are added, widened or dropped, units told.

Added columns are NULL in rows from before; widened ones hold the same values as another type. A
unit is added where it says what was taken for granted, that counts of time are in microseconds.
Records from before a change are read as they were then, whenever that is, and their rows brought
through all changes since, so that a replay comes to the same rows.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import replace

import pyarrow as pa

from connectors.declaration import Former, refused
from connectors.formats.format import FORMATS
from connectors.records import Records
from connectors.tables.spec import TableSpec

# The unit of counts of time whose encoding is not declared.
_TAKEN = "us"


def ordered(known: TableSpec, spec: TableSpec) -> TableSpec:
    """`spec` with its columns in the order of `known`, those that it has more behind them."""
    schema = spec.schema
    common = [schema.field(name) for name in known.schema.names if name in schema.names]
    more = [field for field in schema if field.name not in known.schema.names]
    return replace(spec, schema=pa.schema([*common, *more]), formerly=known.formerly)


def altered(known: TableSpec, spec: TableSpec) -> TableSpec | None:
    """`known` with the columns of `spec`; None if they are the same, or anything else differs.

    New and widened columns may have encodings, and others the one that they have had. Raises
    InvalidTable for columns that rows and records from before cannot do without.
    """
    if spec.key != known.key:
        return None
    spec = ordered(known, spec)
    before, after = ({f.name: f for f in table.schema} for table in (known, spec))
    kept = [name for name in before if name in after and before[name] == after[name]]
    changed = [name for name in after if name in before and name not in kept]
    old, new = (
        {name: unit for name, unit in table.encodings.items() if name in kept}
        for table in (known, spec)
    )
    said = {n for n, unit in new.items() if n not in old and unit == _TAKEN}
    as_it_was = replace(
        spec, schema=known.schema, encodings=known.encodings, on_error=known.on_error
    )
    if as_it_was != known or {n: unit for n, unit in new.items() if n not in said} != old:
        return None
    if not all(is_wider(before[name], after[name]) for name in changed):
        return None
    if len(kept) == len(before) == len(after) and not said:
        return None
    _check(known, [field for name, field in after.items() if name not in before])
    if len(kept) < len(before) and FORMATS[known.format].holds == "columns":
        raise refused(known, "columns", f"records of format {known.format!r} hold them in order")
    return replace(spec, on_error=known.on_error)


def is_wider(before: pa.Field, after: pa.Field) -> bool:
    """Whether a column holds every value that it has held, and says the same by each."""
    if before.nullable and not after.nullable:
        return False
    old, new = before.type, after.type
    if old == new:
        return True
    if pa.types.is_signed_integer(old) or pa.types.is_unsigned_integer(old):
        return _holds_integers(old, new)
    if pa.types.is_decimal(old) and pa.types.is_decimal(new):
        return bool(
            new.scale >= old.scale and new.precision - new.scale >= old.precision - old.scale
        )
    return bool(pa.types.is_float32(old) and pa.types.is_float64(new))


def _holds_integers(old: pa.DataType, new: pa.DataType) -> bool:
    signed = pa.types.is_signed_integer(old)
    if pa.types.is_decimal(new):
        digits = len(str(2 ** (old.bit_width - signed)))
        return bool(new.precision - new.scale >= digits)
    if not pa.types.is_integer(new):
        return False
    if signed == pa.types.is_signed_integer(new):
        return bool(new.bit_width > old.bit_width)
    return not signed and bool(new.bit_width > old.bit_width)


def _check(known: TableSpec, new: list[pa.Field]) -> None:
    for field in new:
        if not field.nullable:
            raise refused(
                known,
                "columns",
                f"{field.name!r} is new, and rows from before have NULL there: let it be nullable",
            )
    if new and FORMATS[known.format].holds == "columns":
        raise refused(
            known, "columns", f"records of format {known.format!r} have as many fields as columns"
        )
    if new and known.fail_on_missing_field:
        raise refused(known, "columns", "fail_on_missing_field refuses the records from before")
    if known.resolution == "transaction":
        raise refused(
            known, "columns", "with resolution 'transaction' records wait that were read otherwise"
        )


def since(known: TableSpec, spec: TableSpec, ends: Mapping[str, Mapping[int, int]]) -> TableSpec:
    """`spec`, which `altered` gave, from `ends` on.

    They are by topic the offset after each partition's last record. What `known` has read was read
    by it.
    """
    encodings = dict(known.encodings)
    if known.topic_pattern is None:
        before = Former(known.schema, encodings, dict(ends.get(known.topic, {})))
    else:
        before = Former(known.schema, encodings, {}, {topic: dict(e) for topic, e in ends.items()})
    return replace(spec, formerly=(*known.formerly, before))


def ages(table: TableSpec, records: Records) -> Iterator[tuple[int, int, int, TableSpec]]:
    """Consecutive stretches of records, by index, and the table as it was declared for each.

    Between them stands the age: how many changes came before.
    """
    start = 0
    for age, former in enumerate(table.formerly):
        stop = bisect_left(records.offsets, former.below.get(records.partition, 0))
        if stop > start:
            then = replace(table, schema=former.schema, encodings=former.encodings, formerly=())
            yield start, stop, age, then
            start = stop
    if start < len(records) or not start:
        yield start, len(records), len(table.formerly), table


def schemas(spec: TableSpec) -> list[pa.Schema]:
    """The table's columns at each age, the present ones last."""
    return [*(former.schema for former in spec.formerly), spec.schema]


def brought(rows: pa.RecordBatch, spec: TableSpec, age: int) -> pa.RecordBatch:
    """Rows of an age as they are now, through all changes since: dropped values do not return."""
    for schema in schemas(spec)[age + 1 :]:
        columns = [
            rows.column(field.name).cast(field.type)
            if field.name in rows.schema.names
            else pa.nulls(len(rows), field.type)
            for field in schema
        ]
        rows = pa.RecordBatch.from_arrays(columns, schema=schema)
    return rows
