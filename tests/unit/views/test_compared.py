"""Comparisons with an aggregate of a whole table: the rows and errors of a test of all pairs."""

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ivm.pool import Pool
from views.catalog import Catalog, Table
from views.compile import CompiledView, compile_view
from views.lowering import joins

MONEY = pa.decimal128(38, 2)
FIELDS: list[pa.Field] = [pa.field("id", pa.int64(), nullable=False), pa.field("cost", MONEY)]
VALUES = pa.schema(FIELDS)
CATALOG = Catalog([Table(name, VALUES, ("id",)) for name in ("a", "b")])
ABOVE = "SELECT id, cost FROM a WHERE cost > (SELECT avg(cost) FROM b)"
BELOW = "SELECT id FROM a WHERE (SELECT avg(cost) FROM b) >= cost"
HUGE = Decimal(10) ** 20  # no numeric(38, 20), which an average is
CHANGES: list[tuple[str, int, Decimal | None, int]] = [
    ("a", 1, Decimal(5), 1),
    ("a", 2, HUGE, 1),
    ("b", 1, Decimal(3), 1),
    ("a", 3, None, 1),
    ("a", 4, Decimal(4), 1),
    ("b", 2, Decimal(6), 1),
    ("b", 3, None, 1),
    ("a", 5, -HUGE, 2),
    ("b", 1, Decimal(3), -1),
    ("a", 4, Decimal(4), -1),
    ("a", 2, HUGE, -1),
    ("b", 2, Decimal(6), -1),
    ("a", 6, Decimal(0), -1),
    ("b", 4, Decimal(-1), 1),
]


def answers(view: CompiledView, step: int) -> list[tuple[Any, list[int], int]]:
    """What the view has after each `step` changes, which come at times of their own."""
    pool, found = Pool(), []
    for name in ("a", "b"):
        pool.create_input(name, VALUES, ["id"])
    pool.install("v", view.node, None)
    pool.install("kept", view.node, view.key)
    for first in range(0, len(CHANGES), step):
        for time, (table, id_, cost, diff) in enumerate(CHANGES[first : first + step], first):
            row = pa.RecordBatch.from_pylist([{"id": id_, "cost": cost}], schema=VALUES)
            pool.feed(table, row, np.array([diff]), time)
        pool.advance(first + step)
        rows = pool.scan("kept")
        found.append((rows.rows.to_pylist(), rows.counts.tolist(), rows.errors))
    return found


@pytest.mark.parametrize("step", [1, 3, len(CHANGES)])
@pytest.mark.parametrize("query", [ABOVE, BELOW])
def test_rows_and_errors_are_those_of_pairs(
    query: str, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed = compile_view(query, CATALOG)
    monkeypatch.setattr(joins, "compared", lambda *_: None)
    paired = compile_view(query, CATALOG)
    assert passed.node != paired.node
    assert answers(passed, step) == answers(paired, step)


def test_a_bound_that_moves_costs_the_rows_that_it_passes() -> None:
    """Each of 2,000 bounds passes one of 2,000 rows: of pairs, four million would be tested."""
    view = compile_view(BELOW.replace("avg", "max"), CATALOG)
    pool, rows = Pool(), 2_000
    for name in ("a", "b"):
        pool.create_input(name, VALUES, ["id"])
    pool.install("v", view.node, None)
    batch = pa.record_batch(
        [pa.array(range(rows)), pa.array(range(rows)).cast(MONEY)], schema=VALUES
    )
    pool.feed("a", batch, np.ones(rows, np.int64), 0)
    pool.advance(1)
    assert len(pool.drain("v").diffs) == 0
    times = np.arange(1, rows + 1, dtype=np.uint64)
    pool.feed("b", batch, np.ones(rows, np.int64), times)
    pool.advance(rows + 1)
    passed = pool.drain("v")
    assert passed.rows.column("id").to_pylist() == list(range(rows))
    assert passed.times.tolist() == times.tolist()
    assert set(passed.diffs.tolist()) == {1}
