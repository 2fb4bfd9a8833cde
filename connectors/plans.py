"""How the columns of a table are made of its rows' images, decided once for records of one writer.

A table's columns are resolved against the writer's schema as Avro resolves readers and writers:
what the writer has more is left out, a nullable column that it lacks is NULL, and a column whose
type cannot take what it writes makes the schemas incompatible. Without a schema, the table's
declaration alone decides, and a record that lacks a column is at fault.
"""

from dataclasses import dataclass, replace
from typing import Literal

import pyarrow as pa

from connectors.formats.columns import Converter
from connectors.formats.encodings import (
    Incompatible,
    by_declaration,
    by_schema,
    by_text,
    of_latin_letters,
)
from connectors.formats.faults import INCOMPATIBLE_SCHEMA, Fault
from connectors.formats.logical import Logical
from connectors.tables import TableSpec

# Where a Debezium envelope has the type of a row.
_IMAGE = "after"
_SHOWN = 1500


@dataclass(frozen=True, slots=True)
class Column:
    """Column `index` of the table: `convert` makes it out of the images' values named as it is.

    absent: the writer has no such field, so all is NULL. metadata: it comes from coordinates.
    `field` is nullable exactly if a row of the table may have NULL there. `is_key`: in a keyed
    table, it is of the primary key.
    """

    index: int
    field: pa.Field
    source: Literal["contents", "absent", "metadata"]
    convert: Converter | None = None
    is_key: bool = False


Plan = tuple[Column, ...]


def plan(table: TableSpec, value: Logical | None, key: Logical | None) -> Plan | Fault:
    """The columns of `table` for records whose value and key have these types, where known.

    A Fault if the writer's schema and the table's are incompatible.
    """
    row = _row(table, value)
    columns = []
    for index, field in enumerate(table.schema):
        is_key = table.is_keyed and field.name in table.key
        if is_key:
            field = field.with_nullable(False)
        try:
            column = _column(table, index, field, row, key)
            columns.append(replace(column, is_key=is_key))
        except Incompatible as error:
            writer = key if table.envelope == "upsert" and field.name in table.key else row
            return Fault(
                INCOMPATIBLE_SCHEMA,
                f"column {field.name!r}: {error}; the table has {_declared(table)}, "
                f"the writer {writer}"[:_SHOWN],
            )
    return tuple(columns)


def _row(table: TableSpec, value: Logical | None) -> Logical | None:
    """The type of a row's image, where a schema gives one."""
    if value is None or table.envelope in ("maxwell", "canal", "transactions"):
        return None
    if table.envelope == "debezium":
        image = value.fields.get(_IMAGE)
        return image if image is not None and image.kind == "struct" else None
    return value


def _column(
    table: TableSpec, index: int, field: pa.Field, row: Logical | None, key: Logical | None
) -> Column:
    """Column `index` (raises Incompatible)."""
    if field.name in table.metadata:
        return Column(index, field, "metadata")
    written = row.fields.get(field.name) if row is not None else None
    if table.envelope == "upsert" and field.name in table.key:
        row = key
        is_struct = key is not None and key.kind == "struct"
        written = key.fields.get(field.name) if key is not None and is_struct else key
    if row is None:
        return Column(index, field, "contents", _declared_converter(table, field))
    if written is not None:
        encoding, is_text = table.encodings.get(field.name), table.format == "json"
        convert = by_schema(written, field.type, encoding, is_text)
        return Column(index, field, "contents", convert)
    if not field.nullable:
        raise Incompatible("the writer has no such field, and the column is not nullable")
    return Column(index, field, "absent")


def _declared_converter(table: TableSpec, field: pa.Field) -> Converter:
    """What makes the column where no schema says how it is written."""
    if table.envelope == "canal":
        return of_latin_letters if pa.types.is_binary(field.type) else by_text(field.type)
    if table.format == "csv":
        return by_text(field.type)
    return by_declaration(table.encodings.get(field.name), field.type)


def _declared(table: TableSpec) -> str:
    return "{" + ", ".join(f"{field.name}: {field.type}" for field in table.schema) + "}"
