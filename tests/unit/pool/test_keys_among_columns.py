"""An input gives back the rows that it was fed, wherever its key's columns lie among the others."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ivm.dataflow.nodes import Get
from ivm.pool import Pool

FIELDS: list[pa.Field] = [
    pa.field("a", pa.int64()),
    pa.field("b", pa.string(), nullable=False),
    pa.field("c", pa.decimal128(10, 2)),
    pa.field("d", pa.bool_()),
    pa.field("e", pa.string()),
]
SCHEMA = pa.schema(FIELDS)
TEXTS = st.sampled_from(["", "short", "a text that is interned", "and another one"])
ROWS = st.lists(
    st.tuples(
        st.none() | st.integers(-5, 5),
        TEXTS,
        st.none() | st.decimals(-10, 10, places=2),
        st.none() | st.booleans(),
        st.none() | TEXTS,
    ),
    max_size=30,
)


@pytest.mark.parametrize("key", ["b", "e", "da", "ceb", "abcde"])
@given(rows=ROWS, workers=st.integers(1, 3))
def test_rows_come_back_as_they_were_fed(
    key: str, rows: list[tuple[object, ...]], workers: int
) -> None:
    pool = Pool(workers)
    pool.create_input("rows", SCHEMA, list(key))
    pool.install("all", Get("rows", SCHEMA), list(key))
    batch = pa.RecordBatch.from_pylist(
        [dict(zip(SCHEMA.names, row, strict=True)) for row in rows], schema=SCHEMA
    )
    pool.feed("rows", batch, np.ones(len(rows), np.int64), 0)
    pool.advance(1)
    for name in ("rows", "all"):
        found = pool.scan(name)
        assert _expanded(found.rows, found.counts) == _sorted(batch.to_pylist())
    deltas = pool.drain("all")
    assert _expanded(deltas.rows, deltas.diffs) == _sorted(batch.to_pylist())


def _expanded(rows: pa.RecordBatch, counts: np.ndarray) -> list[dict[str, object]]:
    each = zip(rows.to_pylist(), counts.tolist(), strict=True)
    return _sorted([row for row, count in each for _ in range(count)])


def _sorted(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    return sorted(rows, key=repr)
