"""Rows of constant values are read from an arrangement by these, where there is one."""

from collections import Counter
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow import nodes as df
from ivm.dataflow.traversal import walk
from ivm.pool import Pool
from tests.property.shop import rows_of
from views.catalog import Catalog, Table
from views.compile import compile_view

_FIELDS: "list[pa.Field[pa.DataType]]" = [
    pa.field("id", pa.int64(), nullable=False),
    pa.field("n", pa.int64()),
    pa.field("name", pa.string()),
    pa.field("price", pa.decimal128(6, 2)),
    pa.field("at", pa.date32()),
]
SCHEMA = pa.schema(_FIELDS)
CATALOG = Catalog([Table("t", SCHEMA, ())])
ROWS = [
    (1, 1, "a", Decimal("1.50"), 19000),
    (1, None, "b", None, None),
    (2, 1, "a", Decimal("2.00"), 19001),
    (2, 1, None, Decimal("1.50"), 19000),
    (2, 2, "", None, 19001),
]


def scans(query: str, existing: list[str]) -> bool:
    """Whether a view reads the table other than through an arrangement."""
    node = compile_view(query, CATALOG, arranged=existing).node
    return any(
        isinstance(each, df.Filter) and isinstance(each.input, df.Get) for each in walk(node)
    )


def rows(query: str, existing: list[str]) -> list[Counter[tuple[object, ...]]]:
    """The rows of a view installed over `ROWS`, and after every second of them is retracted."""
    view, pool = compile_view(query, CATALOG, arranged=existing), Pool()
    pool.create_input("t", SCHEMA, ())
    columns = [pa.array([r[i] for r in ROWS], f.type) for i, f in enumerate(SCHEMA)]
    batch = pa.RecordBatch.from_arrays(columns, schema=SCHEMA)
    pool.feed("t", batch, np.ones(len(ROWS), np.int64), 0)
    pool.advance(1)
    pool.install("view", view.node, view.key)
    first = pool.scan("view")
    pool.feed("t", batch, np.array([-(i % 2) for i in range(len(ROWS))]), 1)
    pool.advance(2)
    after = pool.scan("view")
    return [rows_of(found.rows, found.counts) for found in (first, after)]


@pytest.mark.parametrize(
    ("condition", "existing"),
    [
        ("id = 2", "t[id]"),
        ("1 = n", "t[n]"),
        ("name = 'a'", "t[name]"),
        ("name = ''", "t[name]"),
        ("price = 1.50", "t[price]"),
        ("at = date '2022-01-08'", "t[at]"),
        ("n = 1 AND id = 2", "t[id, n]"),
        ("id IN (1, 2, 1, 7)", "t[id]"),
        ("(n = 2 OR 1 = n) AND id = 2", "t[id, n]"),
        ("name IN ('a', 'b') AND n IN (1, 2)", "t[n, name]"),
        ("n = 1 AND id = 2", "t[n, id]"),
        ("id = 2 AND name IS NULL", "t[id]"),
        ("id = 2 AND id = 1", "t[id]"),
        ("id = 2 AND (n = 2 OR name = 'a')", "t[id]"),
    ],
)
def test_constants_seek_an_arrangement(condition: str, existing: str) -> None:
    query = f"SELECT * FROM t WHERE {condition}"
    assert scans(query, [])
    assert not scans(query, [existing])
    assert rows(query, [existing]) == rows(query, [])


@pytest.mark.parametrize(
    "condition", ["id > 1", "n IS NULL", "id = n", "id = 1 OR n = 1", "n <> 1"]
)
def test_other_conditions_are_tested_row_by_row(condition: str) -> None:
    assert scans(f"SELECT * FROM t WHERE {condition}", ["t[id]", "t[n]", "t[id, n]"])


def test_a_join_of_rows_that_are_sought_reads_no_table_whole() -> None:
    query = "SELECT b.name FROM t a JOIN t b ON b.id = a.n JOIN t c ON c.id = b.n WHERE a.id = 2"
    assert not scans(query, ["t[id]"])
    assert rows(query, ["t[id]"]) == rows(query, [])
