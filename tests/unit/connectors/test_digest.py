"""The digest of a view's state: a sum over its rows, whatever way it came about."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.sinks.digest import row_hashes, weight
from ivm.values.types import UUID, arrow_array


@dataclass(frozen=True)
class Drained:
    rows: pa.RecordBatch
    times: Any
    diffs: Any
    errors: pa.RecordBatch
    error_times: Any
    error_diffs: Any


def drained(rows: list[tuple[Any, Any, int]], errors: list[tuple[str, int]] = []) -> Drained:  # noqa: B006
    return Drained(
        pa.RecordBatch.from_pydict(
            {
                "a": pa.array([r[0] for r in rows], pa.string()),
                "n": pa.array([r[1] for r in rows], pa.int64()),
            }
        ),
        np.zeros(len(rows), np.uint64),
        np.array([r[2] for r in rows], np.int64),
        pa.RecordBatch.from_pydict({"error": pa.array([e[0] for e in errors], pa.string())}),
        np.zeros(len(errors), np.uint64),
        np.array([e[1] for e in errors], np.int64),
    )


values = st.tuples(
    st.none() | st.text(max_size=5), st.none() | st.integers(0, 3), st.integers(-2, 2)
)


@given(st.lists(values), st.integers(0, 10))
def test_grouping_and_order_do_not_matter(rows: list[tuple[Any, Any, int]], at: int) -> None:
    parts = weight(drained(rows[:at][::-1])) + weight(drained(rows[at:]))
    assert weight(drained(rows)) == parts % 2**64


def test_what_is_taken_back_leaves_nothing() -> None:
    assert weight(drained([("x", 1, 2), ("x", 1, -2)])) == 0


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        (pa.string(), ["", "a", "b", "ab", "ba", "aa", "\0", None]),
        (pa.binary(), [b"", b"\0", b"\0\0", None]),
        (pa.int8(), [0, 1, -1, None]),
        (pa.bool_(), [True, False, None]),
        (pa.decimal128(38, 2), [Decimal(0), Decimal("0.01"), Decimal("-0.01"), None]),
        (pa.float64(), [0.0, 1.0, 1.5, None]),
        (UUID, [b"\0" * 16, b"\1" * 16, None]),
        (pa.list_(pa.int8()), [[], [0], [0, 0], [None], None]),
    ],
    ids=str,
)
def test_values_have_hashes_of_their_own(dtype: pa.DataType, values: list[Any]) -> None:
    batch = pa.RecordBatch.from_arrays([arrow_array(values, dtype)], ["v"])
    hashes = row_hashes(batch).tolist()
    assert len(set(hashes)) == len(values)
    assert row_hashes(batch.slice(1)).tolist() == hashes[1:]


def test_the_hash_is_the_same_in_every_process() -> None:
    assert weight(drained([("customer", 7, 1)], [("division by zero", 1)])) == 16523110554558928417


def test_columns_have_their_places() -> None:
    batch = pa.RecordBatch.from_pydict({"a": [1], "b": [2]})
    assert row_hashes(batch) != row_hashes(batch.select(["b", "a"]))
