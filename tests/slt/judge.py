"""PostgreSQL's side: it executes statements, says what tables hold, and answers queries."""

from dataclasses import dataclass
from typing import Any

import psycopg
import pyarrow as pa

from ivm.constants import read
from ivm.dataflow.expressions import Literal
from ivm.values.types import INTERVAL, JSON
from tests.postgres import Judge
from tests.slt.script import Query
from tests.slt.values import lines
from views.catalog import Table
from views.types import parse_type

_TABLES = """
SELECT c.relname, array_agg(a.attname ORDER BY a.attnum),
       array_agg(format_type(a.atttypid, a.atttypmod) ORDER BY a.attnum),
       array_agg(a.attnotnull ORDER BY a.attnum),
       (SELECT array_agg(a.attname ORDER BY array_position(i.indkey::int[], a.attnum::int))
        FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
        WHERE i.indrelid = c.oid AND i.indisprimary)
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
GROUP BY c.oid, c.relname ORDER BY c.oid
"""


@dataclass(frozen=True, slots=True)
class PostgreSQL:
    """The judge, with the tables of one script."""

    connection: Judge

    def execute(self, sql: str) -> str | None:
        """Run a statement; if it fails, the answer is why."""
        try:
            self.connection.execute(sql.encode())
        except psycopg.Error as error:
            return str(error.diag.message_primary)
        return None

    def tables(self) -> list[Table]:
        """The tables that were created, in that order."""
        return [
            Table(
                name,
                pa.schema(
                    pa.field(column, parse_type(kind), not required)
                    for column, kind, required in zip(columns, kinds, not_null, strict=True)
                ),
                tuple(key or ()),
            )
            for name, columns, kinds, not_null, key in self._rows(_TABLES)
        ]

    def rows(self, table: Table) -> list[tuple[Any, ...]]:
        """What a table holds."""
        return [
            tuple(_value(v, f.type) for v, f in zip(row, table.schema, strict=True))
            for row in self._rows(f'SELECT * FROM "{table.name}"')
        ]

    def answer(self, query: Query) -> tuple[str, ...]:
        """The lines that the file has of a query."""
        try:
            return lines(query.types, self._rows(query.sql))
        except (psycopg.DataError, psycopg.errors.CardinalityViolation) as error:
            return (f"ERROR {error.diag.message_primary}",)

    def refuses(self, sql: str) -> bool:
        """Whether it refuses a query, too."""
        try:
            self._rows(sql)
        except psycopg.Error:
            return True
        return False

    def _rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(sql.encode()).fetchall()


def _value(value: Any, kind: pa.DataType) -> Any:
    """A value of the judge's as Arrow takes it."""
    if value is None:
        return None
    if isinstance(value, list):
        return tuple(value)
    if kind not in (JSON, INTERVAL):
        return value
    constant = read(value, kind)
    assert isinstance(constant, Literal)
    return constant.value
