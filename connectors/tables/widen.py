"""Columns that are added to a declared table: rows from before have NULL in them."""

from dataclasses import replace

import pyarrow as pa

from connectors.declaration import refused
from connectors.formats.format import FORMATS
from connectors.tables.spec import TableSpec


def ordered(known: TableSpec, spec: TableSpec) -> TableSpec:
    """`spec` with its columns in the order of `known`, those that it has more behind them."""
    schema = spec.schema
    common = [schema.field(name) for name in known.schema.names if name in schema.names]
    more = [field for field in schema if field.name not in known.schema.names]
    return replace(spec, schema=pa.schema([*common, *more]), added=known.added)


def wider(known: TableSpec, spec: TableSpec) -> TableSpec | None:
    """`known` with the columns that `spec` has more; None if they differ in anything else.

    New columns may have encodings. Raises InvalidTable for columns that rows and records from
    before cannot do without.
    """
    spec = ordered(known, spec)
    new = [field for field in spec.schema if field.name not in known.schema.names]
    old = {name: unit for name, unit in spec.encodings.items() if name in known.schema.names}
    schema = pa.schema([spec.schema.field(i) for i in range(len(spec.schema) - len(new))])
    if not new or replace(spec, schema=schema, encodings=old, on_error=known.on_error) != known:
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
    if FORMATS[known.format].holds == "columns":
        raise refused(
            known, "columns", f"records of format {known.format!r} have as many fields as columns"
        )
    if known.fail_on_missing_field:
        raise refused(known, "columns", "fail_on_missing_field refuses the records from before")
    if known.resolution == "transaction":
        raise refused(
            known, "columns", "with resolution 'transaction' records wait that were read without it"
        )


def is_widened(narrow: pa.Schema, spec: TableSpec) -> bool:
    """Whether a table of `spec` had the schema `narrow` at some time."""
    count = len(narrow)
    fields = list(spec.schema)
    return fields[:count] == list(narrow) and all(f.name in spec.added for f in fields[count:])


def widened(rows: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Rows of the first columns of `schema`, with NULL in the others."""
    nulls = [pa.nulls(len(rows), field.type) for field in list(schema)[rows.num_columns :]]
    return pa.RecordBatch.from_arrays([*rows.columns, *nulls], schema=schema)
