"""What a correlated subquery keeps, in rows: as much as a join on the same condition finds."""

import numpy as np
import pyarrow as pa
import pytest

from ivm.pool import Pool
from views.catalog import Catalog, Table
from views.compile import compile_view

EVENTS = pa.schema(
    [pa.field(name, pa.int64(), nullable=False) for name in ("id", "device", "at", "reading")]
)
CATALOG = Catalog([Table("events", EVENTS, ("id",))])
ROWS = 2_000
BEFORE = {
    "an aggregate": "select e.id, (select max(p.reading) from events p"
    " where p.device = e.device and p.at < e.at) from events e",
    "the last one": "select e.id, x.reading from events e, lateral (select p.reading from events p"
    " where p.device = e.device and p.at < e.at order by p.at desc limit 1) x",
    "a filtered aggregate": "select e.id from events e where e.reading > (select avg(p.reading)"
    " from events p where p.device = e.device and p.at between e.at - 100 and e.at)",
    "a union": "select e.id, (select count(*) from (select p.id from events p"
    " where p.device = e.device and p.at < e.at union all select p.id from events p"
    " where p.device = e.device and p.at > e.at + 100) x) from events e",
}


@pytest.mark.parametrize("how", BEFORE)
def test_a_subquery_meets_the_rows_of_its_key_alone(how: str) -> None:
    """Half of the rows have their device in common with another one; all times differ."""
    view = compile_view(BEFORE[how], CATALOG)
    pool = Pool()
    pool.create_input("events", EVENTS, ["id"])
    pool.install("v", view.node, view.key)
    numbers = np.arange(ROWS)
    columns = [pa.array(c) for c in (numbers, numbers // 2, numbers * 7 % ROWS, numbers % 10)]
    events = pa.RecordBatch.from_arrays(columns, schema=EVENTS)
    pool.feed("events", events, np.ones(ROWS, np.int64), 0)
    pool.advance(1)
    assert max(info.records for info in pool.arrangements()) <= 4 * ROWS


def test_an_error_in_a_subquery_shows_the_columns_of_its_rows_alone() -> None:
    query = "select id from events where at > (select max(10 / reading) from events)"
    view = compile_view(query, CATALOG)
    pool = Pool()
    pool.create_input("events", EVENTS, ["id"])
    pool.install("v", view.node, view.key)
    events = pa.record_batch([[1], [2], [3], [0]], schema=EVENTS)
    pool.feed("events", events, np.ones(1, np.int64), 0)
    pool.advance(1)
    (message,) = pool.drain("v").errors.column(0).to_pylist()
    assert message == "division by zero in 10 / reading for the row (reading = 0)"
