"""Output columns have the names that PostgreSQL gives them."""

import pyarrow as pa
import pytest

from tests.postgres import Judge, emptied
from views.catalog import Catalog, Table
from views.compile import compile_view

COLUMNS: dict[str, pa.DataType] = {
    "id": pa.int64(),
    "x": pa.string(),
    "a": pa.list_(pa.int64()),
}
TABLE = Table("t", pa.schema(COLUMNS), ())
ITEMS = (
    "id", "t.id", "id AS n", "(id)", "id + 1", "-id", "id::text", "id::int + 1", "(id + 1)::int",
    "1::bigint", "CAST(1.5 AS numeric(4, 2))", "'1'::float8", "'{1}'::int[]", "date '2024-01-01'",
    "interval '1 day'", "true", "NULL", "'x'", "a[1]", "a[1:2]", "x || 'y'", "x LIKE 'a'",
    "upper(x)", "ceiling(1.5)", "char_length(x)", "substring(x, 1)", "max(id) OVER ()",
    "row_number() OVER ()", "coalesce(x, 'y')", "nullif(id, 1)", "greatest(id, 1)", "2 ^ 3",
    "CASE WHEN id > 1 THEN 2 END", "CASE WHEN id > 1 THEN 2 ELSE id END",
    "(CASE WHEN id > 1 THEN 2 END)::text", "(SELECT id)", "(SELECT max(id) FROM t)",
    "(SELECT 1 UNION SELECT 2)", "(VALUES (1))", "EXISTS (SELECT 1)", "ARRAY[1]", "ARRAY(SELECT 1)",
    "ROW(1, 2)", "'{}'::jsonb -> 'a'", "('{}'::jsonb -> 'a')::int", "'$'::jsonpath",
    "extract(year FROM date '2024-01-01')", "timestamptz '2024-01-01' AT TIME ZONE 'UTC'",
    "x COLLATE \"C\"", "id = 1", "id IN (1, 2)", "id IS NULL", "to_char(id, '9')", "sqrt(2)",
    "|/ 2", "position('a' IN x)", "trim(x)", "trim(leading 'a' from x)",
    "overlay(x placing 'y' from 1)",
)  # fmt: skip
AGGREGATES = (
    "count(*)", "var_samp(id)", "variance(id)", "stddev(id)", "bool_and(true)", "every(true)",
    "corr(id, id)", "regr_count(id, id)", "string_agg(x, ',')", "array_agg(id)",
    "count(*) FILTER (WHERE id > 1)", "percentile_disc(0.5) WITHIN GROUP (ORDER BY id)",
    "sum(id)::int", "max(id) + 1", "jsonb_agg(id)",
)  # fmt: skip


@pytest.fixture(scope="module")
def database(judge: Judge) -> Judge:
    """PostgreSQL with the table."""
    emptied(judge).execute("CREATE TABLE t (id bigint, x text, a bigint[])")
    return judge


@pytest.mark.parametrize("item", [*ITEMS, *AGGREGATES])
def test_a_column_is_named_as_in_postgresql(database: Judge, item: str) -> None:
    query = f"SELECT {item} FROM t"
    description = database.execute(query.encode()).description
    assert description is not None
    assert compile_view(query, Catalog([TABLE])).schema.names == [c.name for c in description]
