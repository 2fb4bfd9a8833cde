"""TPC-H as views: all 22 queries at once follow changes of every table."""

from pathlib import Path

import pytest

from benchmarks.tpch.data import QUERIES, generate
from benchmarks.tpch.verify import verify

BATCHES = 5


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tpch") / "0.01"
    generate(folder, 0.01)
    return folder


def test_every_query_answers_as_duckdb_after_each_batch_of_changes(tables: Path) -> None:
    batches: list[None] = []
    verified = verify(tables, QUERIES, BATCHES, lambda: batches.append(None))
    assert len(batches) == 1 + BATCHES
    assert verified.compared == len(QUERIES) * len(batches) == 22 * (1 + BATCHES)
