"""Python functions over rows: how often they are called, and what their faults become."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.expressions import Call, Column, Literal
from ivm.dataflow.nodes import Consolidate, Filter, FlatMap, Get, Negate, Node, RowFunction, Union
from ivm.errors import PoolFailed
from ivm.pool import Pool
from ivm.results import Deltas

INT = pa.int64()
ROWS = pa.schema([pa.field("a", INT, nullable=False)])
source = Get("t", ROWS)
Answer = tuple[pa.RecordBatch, Any]


def batch(values: list[int]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array(values, INT)], schema=ROWS)


def maintained(node: Node) -> Pool:
    pool = Pool()
    pool.create_input("t", ROWS, ["a"])
    pool.install("out", node, ["a"])
    return pool


def change(pool: Pool, values: list[int], diffs: list[int]) -> Deltas:
    pool.feed("t", batch(values), np.array(diffs, np.int64), pool.frontier)
    pool.advance(pool.frontier + 1)
    return pool.drain("out")


def recording(seen: list[list[int | None]]) -> RowFunction:
    """The identity, which appends the rows of each call to `seen`."""

    def function(rows: pa.RecordBatch) -> Answer:
        seen.append(rows["a"].to_pylist())
        return rows, np.arange(rows.num_rows)

    return function


def refusing(bad: set[int]) -> RowFunction:
    """The identity, which raises if there is a row of `bad`."""

    def function(rows: pa.RecordBatch) -> Answer:
        found = sorted(bad & set(rows["a"].to_pylist()))
        if found:
            raise ValueError(f"no {found[0]}")
        return rows, np.arange(rows.num_rows)

    return function


def test_the_function_is_called_once_for_a_vector_of_rows() -> None:
    seen: list[list[int | None]] = []
    pool = maintained(FlatMap(source, recording(seen), ROWS))
    change(pool, list(range(10_000)), [1] * 10_000)
    assert [len(rows) for rows in seen] == [4096, 4096, 1808]


def test_the_function_is_not_called_for_rows_that_consolidate_away() -> None:
    seen: list[list[int | None]] = []
    large = Filter(source, Call("gt", (Column(0, INT, False), Literal(1, INT)), pa.bool_(), False))
    difference = Consolidate(Union((source, Negate(large))))
    pool = maintained(FlatMap(difference, recording(seen), ROWS))
    change(pool, [1, 2, 3], [1, 1, 1])
    assert seen == [[1]]


def test_a_row_at_fault_is_an_error_and_the_rows_beside_it_are_not() -> None:
    pool = maintained(FlatMap(source, refusing({3, 700}), ROWS))
    deltas = change(pool, list(range(1000)), [1] * 1000)
    assert deltas.rows["a"].to_pylist() == [i for i in range(1000) if i not in {3, 700}]
    assert deltas.errors["error"].to_pylist() == ["ValueError: no 3", "ValueError: no 700"]


def test_the_error_goes_with_its_row() -> None:
    pool = maintained(FlatMap(source, refusing({3}), ROWS))
    change(pool, [3, 4], [1, 1])
    deltas = change(pool, [3], [-1])
    assert (deltas.errors["error"].to_pylist(), deltas.error_diffs.tolist()) == (
        ["ValueError: no 3"],
        [-1],
    )


def test_rows_take_the_count_of_the_row_that_they_come_from() -> None:
    def doubled(rows: pa.RecordBatch) -> Answer:
        indices = np.repeat(np.arange(rows.num_rows), 2)
        return rows.take(indices), indices

    deltas = change(maintained(FlatMap(source, doubled, ROWS)), [1, 2], [1, 3])
    assert (deltas.rows["a"].to_pylist(), deltas.diffs.tolist()) == ([1, 2], [2, 6])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda rows: (rows, [1]), "integers from 0 to 0"),
        (lambda rows: (rows, [-1]), "integers from 0 to 0"),
        (lambda rows: (rows, [0.5]), "integers from 0 to 0"),
        (lambda rows: (rows, []), "1 rows and indices of shape (0,)"),
        (lambda rows: (rows.to_pylist(), [0]), "answered list, not a RecordBatch"),
        (lambda rows: rows, "unpack"),
        (lambda rows: (rows.rename_columns(["b"]), [0]), "column 'b' was given"),
    ],
)
def test_an_answer_that_does_not_fit_is_the_error_of_its_row(
    function: Callable[[pa.RecordBatch], Any], message: str
) -> None:
    deltas = change(maintained(FlatMap(source, function, ROWS)), [7], [1])
    assert deltas.rows.num_rows == 0
    assert message in deltas.errors["error"][0].as_py()


def interrupted_at(value: int) -> RowFunction:
    """The identity, which is interrupted where it meets `value`."""

    def function(rows: pa.RecordBatch) -> Answer:
        if value in rows["a"].to_pylist():
            raise KeyboardInterrupt
        return rows, np.arange(rows.num_rows)

    return function


def test_a_pool_whose_step_was_interrupted_serves_readers_alone() -> None:
    pool = maintained(FlatMap(source, interrupted_at(2), ROWS))
    change(pool, [1], [1])
    with pytest.raises(KeyboardInterrupt):
        change(pool, [2], [1])
    with pytest.raises(PoolFailed, match="KeyboardInterrupt"):
        change(pool, [3], [1])
    assert pool.scan("out").rows["a"].to_pylist() == [1]


def test_a_dataflow_whose_installation_was_interrupted_is_not_there() -> None:
    pool = maintained(
        Filter(source, Call("gt", (Column(0, INT, False), Literal(0, INT)), pa.bool_(), False))
    )
    change(pool, [2], [1])
    with pytest.raises(KeyboardInterrupt):
        pool.install("interrupted", FlatMap(source, interrupted_at(2), ROWS), ["a"])
    assert pool.names == {"t", "out"}
    assert change(pool, [3], [1]).rows["a"].to_pylist() == [3]
