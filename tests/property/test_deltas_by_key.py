"""Deltas fold both ways: summed they give the rows, and by key (`+` sets, `-` deletes) too."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ivm.pool import Pool
from ivm.results import Deltas
from views.catalog import Catalog, Table
from views.compile import compile_view

SCHEMA = pa.schema([(name, pa.int64()) for name in ("id", "part", "amount")])
CATALOG = Catalog((Table("t", SCHEMA, ("id",)),))
QUERIES = {
    "rows": "SELECT id, part, amount FROM t",
    "groups": "SELECT part AS id, count(*) AS n, sum(amount) AS amount FROM t GROUP BY part",
    "largest": "SELECT DISTINCT ON (part) part AS id, amount FROM t ORDER BY part, amount DESC, id",
    "outer": "SELECT a.id, b.amount FROM t a LEFT JOIN t b ON b.id = a.part",
}

Row = tuple[int, ...]
# For each time, the keys that change and their new part and amount, None where the row goes.
Histories = list[dict[int, tuple[int, int] | None]]
histories = st.lists(
    st.dictionaries(
        st.integers(0, 5), st.none() | st.tuples(st.integers(0, 3), st.integers(-9, 9)), max_size=6
    ),
    min_size=1,
    max_size=8,
)


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES.keys())
@pytest.mark.parametrize("key", [["id"], None], ids=["arranged", "changes alone"])
@given(history=histories, stops=st.sets(st.integers(0, 7)), workers=st.integers(1, 2))
@settings(max_examples=25, deadline=None)
def test_deltas_fold_by_key_and_by_sums(
    query: str, key: list[str] | None, history: Histories, stops: set[int], workers: int
) -> None:
    """Whether the deltas of one time are drained, or those of several together."""
    pool = Pool(workers)
    pool.create_input("t", SCHEMA, ["id"])
    node = compile_view(query, CATALOG, ["id"]).node
    pool.install("followed", node, key)
    pool.install("right", node, ["id"])
    by_key: dict[int, Row] = {}
    sums: Counter[Row] = Counter()
    held: dict[int, Row] = {}
    for time, changes in enumerate(history):
        _feed(pool, held, changes, time)
        if time in stops or time == len(history) - 1:
            pool.advance(time + 1)
            _fold(pool.drain("followed"), by_key, sums)
            right = Counter(_rows(pool.scan("right").rows))
            assert Counter(by_key.values()) == right
            assert Counter({row: n for row, n in sums.items() if n}) == right


def _feed(
    pool: Pool, held: dict[int, Row], changes: dict[int, tuple[int, int] | None], time: int
) -> None:
    updates: list[tuple[Row, int]] = []
    for key, new in changes.items():
        if key in held:
            updates.append((held.pop(key), -1))
        if new is not None:
            held[key] = (key, *new)
            updates.append((held[key], 1))
    columns = [pa.array([row[i] for row, _ in updates], pa.int64()) for i in range(3)]
    rows = pa.RecordBatch.from_arrays(columns, schema=SCHEMA)
    pool.feed("t", rows, np.array([diff for _, diff in updates], np.int64), time)


def _rows(batch: pa.RecordBatch) -> list[Row]:
    return list(zip(*(column.to_pylist() for column in batch.columns), strict=True))


def _fold(deltas: Deltas, by_key: dict[int, Row], sums: Counter[Row]) -> None:
    for row, diff in zip(_rows(deltas.rows), deltas.diffs.tolist(), strict=True):
        sums[row] += diff
        if diff > 0:
            by_key[row[0]] = row
        else:
            by_key.pop(row[0], None)
