"""What may be added to a declared table: columns, which are NULL in rows from before, and units.

A unit is added where it says what was taken for granted, that counts of time are in microseconds.
Records from before an addition are read as they were then, whenever that is, so that a replay comes
to the same rows.
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


def wider(known: TableSpec, spec: TableSpec) -> TableSpec | None:
    """`known` with what `spec` has more; None if that is nothing, or they differ in anything else.

    New columns may have encodings, and others the one that they have had. Raises InvalidTable for
    columns that rows and records from before cannot do without.
    """
    spec = ordered(known, spec)
    new = [field for field in spec.schema if field.name not in known.schema.names]
    schema = pa.schema([spec.schema.field(i) for i in range(len(spec.schema) - len(new))])
    old = {name: unit for name, unit in spec.encodings.items() if name in known.schema.names}
    said = {n for n, unit in old.items() if n not in known.encodings and unit == _TAKEN}
    rest = {name: unit for name, unit in old.items() if name not in said}
    if replace(spec, schema=schema, encodings=rest, on_error=known.on_error) != known:
        return None
    if not new and not said:
        return None
    _check(known, new)
    return replace(spec, on_error=known.on_error)


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


def since(known: TableSpec, spec: TableSpec, ends: Mapping[int, int]) -> TableSpec:
    """`spec`, which is wider, from `ends` on: the offset of each partition after the last record.

    What `known` has read was read by it.
    """
    before = Former(len(known.schema), dict(known.encodings), dict(ends))
    return replace(spec, formerly=(*known.formerly, before))


def ages(table: TableSpec, records: Records) -> Iterator[tuple[int, int, TableSpec]]:
    """Consecutive stretches of records, by index, and the table as it was declared for each."""
    start = 0
    for former in table.formerly:
        stop = bisect_left(records.offsets, former.below.get(records.partition, 0))
        if stop > start:
            names = table.schema.names[: former.columns]
            schema = pa.schema([table.schema.field(name) for name in names])
            encodings = former.encodings
            yield start, stop, replace(table, schema=schema, encodings=encodings, formerly=())
            start = stop
    if start < len(records) or not start:
        yield start, len(records), table


def is_widened(narrow: pa.Schema, spec: TableSpec) -> bool:
    """Whether a table of `spec` had the schema `narrow` at some time."""
    counts = {len(spec.schema), *(former.columns for former in spec.formerly)}
    return len(narrow) in counts and list(spec.schema)[: len(narrow)] == list(narrow)


def widened(rows: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Rows of the first columns of `schema`, with NULL in the others."""
    nulls = [pa.nulls(len(rows), field.type) for field in list(schema)[rows.num_columns :]]
    return pa.RecordBatch.from_arrays([*rows.columns, *nulls], schema=schema)
