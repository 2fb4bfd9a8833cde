"""The changes that the benchmark of the whole path produces are what its sources declare."""

from itertools import islice

import pytest

from api.models import SourceBody
from benchmarks.pipeline.records import ITEMS, SOURCES, changes, declaration, stock
from connectors.decode import decode
from connectors.records import Decoded, Records

ROWS = (20, 100, 300)


def decoded(table: str, *, stocked: bool) -> Decoded:
    given = stock(*ROWS) if stocked else islice(changes(*ROWS, seed=1), 2_000)
    values = [
        before + (b"1}" if topic == ITEMS else b"") + after
        for topic, _, before, after in given
        if topic == table
    ]
    spec = SourceBody.model_validate(declaration(table, "bench")).spec(table, "stall")
    return decode(Records(values, range(len(values)), 0), spec)


@pytest.mark.parametrize("table", SOURCES)
def test_each_record_sets_a_row(table: str) -> None:
    for stocked in (True, False):
        found = decoded(table, stocked=stocked)
        assert found.rejected == ()
        assert found.rows.num_rows > 0
        assert set(found.diffs.tolist()) == {1}


@pytest.mark.parametrize("table", SOURCES)
def test_a_change_is_of_a_row_in_stock(table: str) -> None:
    there = set(decoded(table, stocked=True).rows["id"].to_pylist())
    assert set(decoded(table, stocked=False).rows["id"].to_pylist()) <= there
