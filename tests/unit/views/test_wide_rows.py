"""Rows of many columns with NULLs, of which each 64 have a mask of their own."""

import random
from collections import Counter
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ivm.errors import Unsupported
from ivm.pool import Pool
from tests.oracle import evaluate
from tests.property.shop import Row
from views.catalog import Catalog, Table
from views.compile import compile_view

WIDTH = 500
TYPES = (pa.int64(), pa.string(), pa.decimal128(10, 2))
SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        *(pa.field(f"c{i}", TYPES[i % 3], nullable=i % 7 > 0) for i in range(1, WIDTH)),
    ]
)
CATALOG = Catalog([Table("wide", SCHEMA, ("id",))])
ALL = ", ".join(SCHEMA.names)
QUERIES = {
    "all columns": "select * from wide",
    "filtered": "select * from wide where c129 is null or c450 > 1 or c64 = 'b'",
    "computed": f"select {', '.join(f'coalesce(c{i}, 0) + 1 as d{i}' for i in range(3, WIDTH, 3))} "
    "from wide",
    "nulls made": f"select {', '.join(f'nullif(c{i}, c{i - 3}) as d{i}' for i in range(5, WIDTH))} "
    "from wide",
    "distinct": f"select distinct {', '.join(SCHEMA.names[2:])} from wide",
    "joined": "select a.*, b.c499 as x, b.c66 as y from wide a join wide b on a.c65 = b.c65",
    "outer joined": f"select a.id, {', '.join(f'b.{name} as b_{name}' for name in SCHEMA.names)} "
    "from wide a left join wide b on a.c129 = b.c129 and a.id < b.id",
    "grouped": f"select {', '.join(SCHEMA.names[100:300])}, count(c499), max(c498), min(c65) "
    f"from wide group by {', '.join(SCHEMA.names[100:300])}",
    "top": "select * from wide order by c130 desc nulls last, id limit 3",
    "numbered": "select *, row_number() over (partition by c64 order by c129 nulls first, id) "
    "from wide",
    "except all": f"select {ALL} from wide except all select {ALL} from wide where c67 is null",
    "recursive": f"with recursive r as (select {ALL} from wide where id = 0 union "
    "select w.* from wide w join r on w.id = r.id + 1) select * from r",
}


def value(kind: pa.DataType, chance: random.Random) -> Any:
    if kind == pa.int64():
        return chance.randrange(3)
    return (
        chance.choice(["a", "b", "a long text of the row"]) if kind == pa.string() else Decimal(2)
    )


def row(number: int, chance: random.Random) -> Row:
    fields = list(SCHEMA)[1:]
    absent = [f.nullable and chance.random() < 0.3 for f in fields]
    values = (None if a else value(f.type, chance) for a, f in zip(absent, fields, strict=True))
    return (number, *values)


def feed(pool: Pool, rows: list[Row], diff: int) -> None:
    columns = [pa.array(c, f.type) for c, f in zip(zip(*rows, strict=True), SCHEMA, strict=True)]
    batch = pa.RecordBatch.from_arrays(columns, schema=SCHEMA)
    pool.feed("wide", batch, np.full(len(rows), diff, np.int64), pool.frontier)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_views_of_many_columns_with_nulls_follow_their_rows(query: str, workers: int) -> None:
    chance, pool = random.Random(5), Pool(workers)
    pool.create_input("wide", SCHEMA, ["id"])
    view = compile_view(query, CATALOG)
    pool.install("view", view.node, view.key)
    rows = [row(i, chance) for i in range(30)]
    summed = Counter[Row]()
    held = Counter[Row]()
    for added, removed in ((rows[:20], []), (rows[20:], rows[5:10]), ([], rows[:5])):
        for part, diff in ((added, 1), (removed, -1)):
            if part:
                feed(pool, part, diff)
                held.update(dict.fromkeys(part, diff))
        pool.advance(pool.frontier + 1)
        deltas = pool.drain("view")
        columns = [c.to_pylist() for c in deltas.rows.columns]
        for each, diff in zip(zip(*columns, strict=True), deltas.diffs, strict=True):
            summed[each] += int(diff)
        expected = evaluate(view.node, {"wide": +held})
        assert {r: n for r, n in summed.items() if n} == dict(expected.rows)


def test_a_row_is_looked_up_by_a_column_beyond_the_first_masks() -> None:
    chance, pool = random.Random(6), Pool()
    pool.create_input("wide", SCHEMA, ["c400"])
    rows = [row(i, chance) for i in range(20)]
    feed(pool, rows, 1)
    pool.advance(1)
    found = Counter(pool.peek("wide", {"c400": None}).rows.column("id").to_pylist())
    assert found == Counter(r[0] for r in rows if r[400] is None)


def test_a_table_wider_than_rows_are_says_that_fewer_columns_may_be_declared() -> None:
    wider = pa.schema([pa.field(f"c{i}", pa.decimal128(20, 2)) for i in range(1000)])
    with pytest.raises(Unsupported, match=r"2,014 words.* declare or select fewer columns"):
        Pool().create_input("wider", wider, ["c0"])
