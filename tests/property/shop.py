"""A small shop with NULLs in it, and DuckDB as the judge of queries over it."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from ivm.pool import Pool
from views.catalog import Catalog, Table

Row = tuple[Any, ...]
Tables = dict[str, list[Row]]

_ID, _TEXT, _MONEY = pa.int64(), pa.string(), pa.decimal128(12, 2)


def _table(table: str, key: tuple[str, ...], /, **columns: pa.DataType) -> Table:
    """A table whose columns but those of the key are nullable."""
    fields = [pa.field(c, t, c not in key) for c, t in columns.items()]
    return Table(table, pa.schema(fields), key)


CATALOG = Catalog(
    [
        _table("customers", ("id",), id=_ID, name=_TEXT, segment=_TEXT, city=_TEXT),
        _table(
            "orders",
            ("id",),
            id=_ID,
            customer_id=_ID,
            status=_TEXT,
            day=pa.date32(),
            total=_MONEY,
        ),
        _table(
            "items",
            ("order_id", "line"),
            order_id=_ID,
            line=pa.int32(),
            product_id=_ID,
            quantity=pa.int32(),
            price=_MONEY,
        ),
        _table("products", ("id",), id=_ID, category=_TEXT, title=_TEXT, weight=pa.float64()),
        _table("follows", ("src", "dst"), src=_ID, dst=_ID),
    ]
)

_ids = st.integers(1, 5)
_texts = st.sampled_from(["", "a", "ab", "B", "gold", "rome"])
_prices = st.integers(-300, 2000).map(lambda cents: Decimal(cents).scaleb(-2))
_days = st.dates(date(2023, 12, 1), date(2024, 4, 1))
_weights = st.sampled_from([-1.5, 0.0, 0.25, 2.0, 1024.0])


def _rows(*columns: st.SearchStrategy[Any], key: int = 1, size: int = 6) -> Any:
    """Rows whose first `key` columns are unique; the others may be NULL."""
    cells = [c if i < key else st.none() | c for i, c in enumerate(columns)]
    return st.lists(st.tuples(*cells), max_size=size, unique_by=lambda row: row[:key])


tables: st.SearchStrategy[Tables] = st.fixed_dictionaries(
    {
        "customers": _rows(_ids, _texts, _texts, _texts),
        "orders": _rows(_ids, _ids, _texts, _days, _prices),
        "items": _rows(_ids, st.integers(1, 2), _ids, st.integers(0, 4), _prices, key=2, size=8),
        "products": _rows(_ids, _texts, _texts, _weights),
        "follows": _rows(_ids, _ids, key=2, size=8),
    }
)


def arrow(name: str, rows: list[Row]) -> pa.RecordBatch:
    """Rows of the table `name` as Arrow."""
    schema = CATALOG[name].schema
    columns = [pa.array([row[i] for row in rows], f.type) for i, f in enumerate(schema)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def feed(pool: Pool, old: Tables, new: Tables, time: int) -> None:
    """Lead the pool's inputs from one shop to another at `time`, and complete that time."""
    for name, wanted in new.items():
        before, after = Counter(old[name]), Counter(wanted)
        moved = [(row, -n) for row, n in (before - after).items()]
        moved += list((after - before).items())
        if moved:
            diffs = np.array([n for _, n in moved], dtype=np.int64)
            pool.feed(name, arrow(name, [row for row, _ in moved]), diffs, time)
    pool.advance(time + 1)


def rows_of(batch: pa.RecordBatch, counts: Iterable[int]) -> Counter[Row]:
    """A record batch with counts as a multiset."""
    out: Counter[Row] = Counter()
    columns = [[hashable(v) for v in column.to_pylist()] for column in batch.columns]
    for row, n in zip(zip(*columns, strict=True), counts, strict=True):
        out[row] += int(n)
    return out


def judged(query: str, given: Tables) -> Counter[Row]:
    """What DuckDB answers."""
    with duckdb.connect() as connection:
        for name, rows in given.items():
            connection.register(name, pa.Table.from_batches([arrow(name, rows)]))
        rows = connection.execute(query).fetchall()
        return normal(Counter(tuple(map(hashable, row)) for row in rows))


def normal(rows: Mapping[Row, int]) -> Counter[Row]:
    """Rows comparable across number types: exact numbers and floats to four digits."""
    out: Counter[Row] = Counter()
    for row, count in rows.items():
        out[tuple(_normal(value) for value in row)] += count
    return out


def hashable(value: Any) -> Any:
    """A value of a row; lists are tuples."""
    return tuple(map(hashable, value)) if isinstance(value, list) else value


def _normal(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_normal, value))
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return value
    number = float(value)
    return "NaN" if math.isnan(number) else round(number, 4) + 0.0
