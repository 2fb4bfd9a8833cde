"""Of rows that many share the key of, a cluster sends the sums, wherever these say as much."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ivm.cluster.pool import ClusterPool
from ivm.dataflow.aggregates import Aggregate, AggregateFunction
from ivm.dataflow.nodes import Distinct, Get, Node, Reduce, project
from ivm.pool import Pool
from tests.property.members import Threads

INT, MONEY = pa.int64(), pa.decimal128(12, 2)
SALES_FIELDS: list[pa.Field] = [
    pa.field("id", INT, nullable=False),
    pa.field("city", pa.string(), nullable=False),
    pa.field("pieces", INT),
    pa.field("amount", MONEY),
    pa.field("weight", pa.float64()),
]
SALES = pa.schema(SALES_FIELDS)
sales = Get("sales", SALES)
ROWS = 4_000
BYTES_OF_A_ROW = 8 * (2 + 2)
"""The words of a key and a number, of a time and a diff."""


def aggregate(function: AggregateFunction, column: int | None, type_: pa.DataType) -> Aggregate:
    return Aggregate(function, column, f"{function}_{column}", type_, nullable=True)


count = aggregate("count", None, INT)
COUNTS = Reduce(sales, (1,), (count,))
SUMS = Reduce(
    sales,
    (1,),
    (
        count,
        aggregate("count", 2, INT),
        aggregate("sum", 2, pa.decimal128(38, 0)),
        aggregate("avg", 2, pa.float64()),
        aggregate("sum", 3, pa.decimal128(38, 2)),
    ),
)
FLOATS = Reduce(sales, (1,), (count, aggregate("sum", 4, pa.float64())))
LEAST = Reduce(sales, (1,), (aggregate("min", 2, INT),))
CITIES = Distinct(project(sales, (1,)))


def rows(first: int, count: int, pieces: int = 1) -> pa.RecordBatch:
    """Sales in three cities; every seventh without its pieces, every fifth without its amount."""
    numbers = range(first, first + count)
    columns: dict[str, list[Any]] = {
        "id": [*numbers],
        "city": [f"a city with number {i % 3}" for i in numbers],
        "pieces": [None if i % 7 == 0 else pieces * (i % 100 - 40) for i in numbers],
        "amount": [None if i % 5 == 0 else Decimal(i - 2_000) / 100 for i in numbers],
        "weight": [i / 7 for i in numbers],
    }
    return pa.RecordBatch.from_pydict(columns, SALES)


def feed(pool: Pool | ClusterPool, batch: pa.RecordBatch, diff: int) -> None:
    pool.feed("sales", batch, np.full(batch.num_rows, diff), pool.frontier)
    pool.advance(pool.frontier + 1)


@pytest.fixture
def pool() -> Iterator[ClusterPool]:
    with Threads(3) as made:
        made.create_input("sales", SALES, ["id"])
        yield made


@pytest.fixture
def alone() -> Pool:
    made = Pool()
    made.create_input("sales", SALES, ["id"])
    return made


def found(pool: Pool | ClusterPool) -> list[dict[str, Any]]:
    """The rows of the dataflow `found`, in the order of their keys."""
    return sorted(pool.scan("found").rows.to_pylist(), key=lambda row: str(row["city"]))


@pytest.mark.parametrize("node", [COUNTS, SUMS, FLOATS, LEAST, CITIES])
def test_groups_are_those_of_one_process_as_rows_come_and_go(
    pool: ClusterPool, alone: Pool, node: Node
) -> None:
    for each in (pool, alone):
        each.install("found", node, ["city"])
    changes = [(0, ROWS, 1), (100, 1_000, -1), (0, 100, -1), (1_100, ROWS - 1_100, -1)]
    for first, many, diff in changes:
        for each in (pool, alone):
            feed(each, rows(first, many), diff)
        assert found(pool) == found(alone)
    assert found(pool) == []


def test_sums_beyond_a_word_are_those_of_one_process(pool: ClusterPool, alone: Pool) -> None:
    for each in (pool, alone):
        each.install("found", SUMS, ["city"])
        feed(each, rows(0, ROWS, pieces=(1 << 63) // 60), 1)
    assert found(pool) == found(alone)
    assert max(abs(row["sum_2"]) for row in found(pool)) > 1 << 63


def sent_bytes(pool: ClusterPool, node: Node) -> int:
    """The bytes that members send each other for many rows of three keys."""
    pool.install("found", node, ["city"])
    feed(pool, rows(0, 100), 1)  # so that what is sent once has been
    before = sum(share.sent_bytes for share in pool.shares())
    feed(pool, rows(100, ROWS), 1)
    return sum(share.sent_bytes for share in pool.shares()) - before


@pytest.mark.parametrize("node", [COUNTS, SUMS, CITIES])
def test_a_key_that_many_rows_share_does_not_travel_with_each(
    pool: ClusterPool, node: Node
) -> None:
    assert sent_bytes(pool, node) < ROWS * BYTES_OF_A_ROW / 20


@pytest.mark.parametrize("node", [FLOATS, LEAST])
def test_what_cannot_be_added_up_travels_as_it_is(pool: ClusterPool, node: Node) -> None:
    assert sent_bytes(pool, node) > ROWS * BYTES_OF_A_ROW / 2


def test_rows_of_keys_of_their_own_travel_as_they_are(pool: ClusterPool) -> None:
    by_pieces = Reduce(project(sales, (0, 2)), (0,), (count,))
    moved = Reduce(project(by_pieces, (1, 0)), (1,), (aggregate("sum", 0, pa.decimal128(38, 0)),))
    pool.install("found", moved, None)
    feed(pool, rows(0, ROWS), 1)
    deltas = pool.drain("found")
    assert len(deltas.diffs) == ROWS
