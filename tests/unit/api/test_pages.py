"""Pages and look-ups of values that JSON, Python or a comparison has trouble with."""

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from api.errors import TooManyCopies
from api.pages import matching, page
from api.values import parse
from connectors.sinks.json_rows import json_values
from ivm.results import Snapshot

NAN = math.nan
DAYS, MICROSECONDS = 3_000_000, 3_000_000 * 86_400_000_000
HARD: dict[str, tuple[pa.DataType, list[Any]]] = {
    "floats": (pa.float64(), [-math.inf, -0.5, 0.0, 1e300, math.inf, NAN, None]),
    "single floats": (pa.float32(), [-1.5, math.inf, NAN, None]),
    "dates": (pa.date32(), [-DAYS, -800_000, 0, DAYS, None]),
    "timestamps": (pa.timestamp("us"), [-MICROSECONDS, -1, 0, MICROSECONDS, None]),
    "instants": (pa.timestamp("us", "UTC"), [-MICROSECONDS, 0, MICROSECONDS, None]),
}


@pytest.fixture(params=list(HARD.values()), ids=list(HARD))
def column(request: pytest.FixtureRequest) -> "pa.Array[Any]":
    """Values of a column in ascending order."""
    dtype, values = request.param
    made: pa.Array[Any] = pa.array(values, dtype)
    return made


def _snapshot(column: "pa.Array[Any]") -> Snapshot:
    rows = pa.RecordBatch.from_arrays([column.take(pa.array(range(len(column))[::-1]))], ["c"])
    return Snapshot(1, rows, np.ones(len(column), np.int64), 0)


def test_each_row_is_on_one_page(column: "pa.Array[Any]") -> None:
    table = matching(_snapshot(column), {})
    seen: list[object] = []
    cursor = None
    for _ in range(len(column)):
        found = page(table, ["c"], 1, cursor)
        seen += [row["c"] for row in found.rows]
        cursor = found.next
    assert seen == json_values(column)
    assert cursor is None


def test_a_row_is_found_by_the_text_that_is_answered(column: "pa.Array[Any]") -> None:
    for text in json_values(column.drop_null()):
        value = parse(str(text), pa.field("c", column.type))
        table = matching(_snapshot(column), {"c": value})
        assert [row["c"] for row in page(table, ["c"], 10, None).rows] == [text]


def test_a_page_of_too_many_copies_is_refused_with_the_way_out() -> None:
    rows = pa.record_batch([pa.array([1, 2])], names=["c"])
    snapshot = Snapshot(1, rows, np.array([2**62, 2**62]), 0)
    with pytest.raises(TooManyCopies, match=r"9,223,372,036,854,775,808 copies.*count\(\*\)"):
        page(matching(snapshot, {}), ["c"], 10, None)
    few = Snapshot(1, rows, np.array([2, 1]), 0)
    assert page(matching(few, {}), ["c"], 10, None).rows == [{"c": 1}, {"c": 1}, {"c": 2}]
