"""Pages and look-ups of values that JSON, Python or a comparison has trouble with."""

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

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
