"""Resolves a table's columns against one writer's schema, once for all its records.

A table's columns are resolved against the writer's schema as Avro resolves readers and writers:
what the writer has more is left out, a nullable column that it lacks is NULL, and a column whose
type cannot take what it writes makes the schemas incompatible. Without a schema, the table's
declaration alone decides, and a nullable column that a record lacks is NULL. A table may refuse
such records and schemas (`fail_on_missing_field`).
"""

from dataclasses import dataclass, replace
from typing import Literal

import pyarrow as pa

from connectors.columns.encodings import Incompatible, by_declaration
from connectors.columns.faults import INCOMPATIBLE_SCHEMA, Fault
from connectors.columns.to_arrow import Converter
from connectors.columns.writer_schema import Logical
from connectors.envelopes.envelope import ENVELOPES
from connectors.formats.format import FORMATS
from connectors.tables.spec import TableSpec

_SHOWN = 1500


@dataclass(frozen=True, slots=True)
class Column:
    """Column `index` of the table: `convert` makes it out of the images' values named as it is.

    absent: the writer has no such field, so all is NULL. metadata: it comes from coordinates.
    `field` is nullable exactly if a row of the table may have NULL there. `is_optional`: a record
    may lack it, and is NULL there. `is_key`: in a keyed table, it is of the primary key. `written`:
    the kind of its values by the writer's schema, if there is one.
    """

    index: int
    field: pa.Field
    source: Literal["contents", "absent", "metadata"]
    convert: Converter | None = None
    is_optional: bool = False
    is_key: bool = False
    written: str = ""


Plan = tuple[Column, ...]


def plan(
    table: TableSpec, value: Logical | None, key: Logical | None, has_keys: bool
) -> Plan | Fault:
    """The columns of `table` for records whose value and key have these types, where known.

    `has_keys`: those of the primary key come out of the records' keys. A Fault if the writer's
    schema and the table's are incompatible.
    """
    row = ENVELOPES[table.envelope].row(value) if value is not None else None
    columns = []
    for index, field in enumerate(table.schema):
        is_key = table.is_keyed and field.name in table.key
        if is_key:
            field = field.with_nullable(False)
        in_key = has_keys and field.name in table.key
        try:
            column = _column(table, index, field, _struct_of(key, field) if in_key else row)
            is_optional = field.nullable and not table.fail_on_missing_field
            columns.append(replace(column, is_optional=is_optional, is_key=is_key))
        except Incompatible as error:
            writer = key if in_key else row
            return Fault(
                INCOMPATIBLE_SCHEMA,
                f"column {field.name!r}: {error}; the table has {_declared(table)}, "
                f"the writer {writer}"[:_SHOWN],
            )
    return tuple(columns)


def _struct_of(key: Logical | None, field: pa.Field) -> Logical | None:
    """The type of a record's key, as a struct if it is the one column's value itself."""
    if key is None or key.kind == "struct":
        return key
    return Logical("struct", fields={field.name: key})


def _column(table: TableSpec, index: int, field: pa.Field, row: Logical | None) -> Column:
    """Column `index`, whose values are in structs of type `row` (raises Incompatible)."""
    if field.name in table.metadata:
        convert = by_declaration("us", field.type) if pa.types.is_timestamp(field.type) else None
        return Column(index, field, "metadata", convert)
    written = row.fields.get(field.name) if row is not None else None
    form = FORMATS[table.format]
    if row is None:
        declared = ENVELOPES[table.envelope].converter(field)
        return Column(index, field, "contents", declared or form.converter(table, field, None))
    if written is not None:
        convert = form.converter(table, field, written)
        return Column(index, field, "contents", convert, written=written.kind)
    if not field.nullable:
        raise Incompatible("the writer has no such field, and the column is not nullable")
    if table.fail_on_missing_field:
        raise Incompatible("the writer has no such field, which fail_on_missing_field refuses")
    return Column(index, field, "absent")


def _declared(table: TableSpec) -> str:
    return "{" + ", ".join(f"{field.name}: {field.type}" for field in table.schema) + "}"
