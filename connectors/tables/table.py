"""A table as its pool knows it, and its rows as the pool is given them."""

from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa

from connectors.streams import table_of
from connectors.tables.interval_keys import normal_keys
from connectors.tables.spec import TableSpec


class Table(NamedTuple):
    """A table as its pool knows it: its name, its columns, and its primary key, if it has one."""

    name: str
    schema: pa.Schema
    key: tuple[str, ...]

    @classmethod
    def of(cls, spec: TableSpec) -> "Table":
        """The table of which `spec` is, or is a stream."""
        return cls(table_of(spec.name), spec.schema, spec.key)

    @property
    def owner_key(self) -> Sequence[str]:
        """The columns by which rows of the input are known, and owned: without a key, all."""
        return self.key or self.schema.names


def normal_rows(spec: TableSpec, rows: pa.RecordBatch) -> pa.RecordBatch:
    """The rows of a table, with keys by which others are looked up in their normal form."""
    return normal_keys(rows, spec.key) if spec.is_keyed else rows
