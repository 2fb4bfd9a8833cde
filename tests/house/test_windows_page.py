"""Every query of docs/windows.md answers as the page says, at the page's moment."""

import json
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ivm.pool import Pool
from tests.house.test_docs import catalog, examples
from views.compile import compile_view
from views.lowering.temporal_filter import CLOCK

NOW = datetime(2026, 7, 1, 10, 30, tzinfo=UTC)
TABLES, QUERIES = examples("windows.md")


def read(value: Any, kind: pa.DataType) -> Any:
    """A value of the page as Arrow takes it."""
    is_moment = pa.types.is_timestamp(kind) and value is not None
    return datetime.fromisoformat(value) if is_moment else value


def written(value: Any) -> Any:
    """A value as the page shows it."""
    return str(value) if isinstance(value, date) else value


@pytest.fixture(scope="module")
def pool() -> Pool:
    """A pool with the page's tables and its moment."""
    made = Pool()
    made.create_input(CLOCK.name, CLOCK.schema, ["now"])
    moment = pa.record_batch([pa.array([NOW], CLOCK.schema.types[0])], schema=CLOCK.schema)
    made.feed(CLOCK.name, moment, np.ones(1, np.int64), 0)
    for table in catalog(TABLES).tables:
        made.create_input(table.name, table.schema, list(table.key))
        columns = zip(*TABLES[table.name]["rows"], strict=True)
        arrays = [
            pa.array([read(v, f.type) for v in column], f.type)
            for column, f in zip(columns, table.schema, strict=True)
        ]
        batch = pa.RecordBatch.from_arrays(arrays, schema=table.schema)
        made.feed(table.name, batch, np.ones(batch.num_rows, np.int64), 0)
    made.advance(1)
    return made


@pytest.mark.parametrize(("query", "rows"), QUERIES)
def test_a_query_answers_as_the_page_says(pool: Pool, query: str, rows: list[Any]) -> None:
    view = compile_view(query, catalog(TABLES))
    pool.install(query, view.node, view.key)
    found = pool.scan(query)
    assert not found.errors
    answer = [[written(v) for v in row.values()] for row in found.rows.to_pylist()]
    assert sorted(answer, key=json.dumps) == sorted(rows, key=json.dumps)
