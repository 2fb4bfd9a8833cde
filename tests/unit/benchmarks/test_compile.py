"""Queries over the schema of TPC-DS compile and install; their time is reported, not tested."""

import pytest

from benchmarks.compile import QUERIES, catalog, measure, pool_of

TABLES = catalog()


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_is_compiled_and_installed(name: str) -> None:
    assert all(milliseconds > 0 for milliseconds in measure(QUERIES[name], TABLES, pool_of(TABLES)))
