"""NaN equals itself, and infinities are computed with, in the engine as in its oracle."""

import math
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.aggregates import Aggregate, Order
from ivm.dataflow.delta_join import delta_join
from ivm.dataflow.nodes import Get, Node, Reduce
from ivm.pool import Pool
from tests.oracle import evaluate
from tests.oracle.values import NAN, canonical

FLOAT = pa.float64()
FIELDS: list[pa.Field] = [pa.field("id", pa.int64(), nullable=False), pa.field("x", FLOAT)]
SCHEMA = pa.schema(FIELDS)
samples = Get("samples", SCHEMA)


def both(node: Node, values: list[float | None]) -> Counter[tuple[object, ...]]:
    """What the engine and the oracle have of `node`, which must be the same."""
    rows = [(i, value) for i, value in enumerate(values)]
    pool = Pool()
    pool.create_input("samples", SCHEMA, ["id"])
    pool.install("out", node, [])
    batch = pa.RecordBatch.from_pylist([{"id": i, "x": x} for i, x in rows], schema=SCHEMA)
    pool.feed("samples", batch, np.ones(len(rows), np.int64), 0)
    pool.advance(1)
    found = pool.scan("out")
    columns = [map(canonical, column.to_pylist()) for column in found.rows.columns]
    engine = Counter[tuple[object, ...]]()
    for row, count in zip(zip(*columns, strict=True), found.counts, strict=True):
        engine[row] += int(count)
    assert engine == evaluate(node, {"samples": Counter(rows)}).rows
    return engine


def test_nan_joins_nan_in_a_delta_join() -> None:
    node = delta_join((samples,) * 3, ((1, 3, 5),), (("a", 0), ("b", 2), ("c", 4)))
    assert both(node, [math.nan, 1.0, 2.0]) == {(i, i, i): 1 for i in range(3)}


@pytest.mark.parametrize(
    ("values", "middle"),
    [
        ([math.inf, math.inf], NAN),
        ([1.0, math.inf], math.inf),
        ([1.0, math.nan], NAN),
        ([1.0, math.inf, math.inf], math.inf),
    ],
)
def test_a_percentile_between_two_values_is_computed_as_postgresql_does(
    values: list[float | None], middle: float
) -> None:
    whole = Aggregate("percentile_cont", 1, "out", FLOAT, True, order=(Order(1),), parameter=0.5)
    assert both(Reduce(samples, (), (whole,)), values) == {(middle,): 1}


def test_nan_is_once_in_a_set() -> None:
    whole = Aggregate("set", 1, "out", pa.list_(FLOAT), True, order=(Order(1),))
    assert both(Reduce(samples, (), (whole,)), [math.nan, 1.0, math.nan]) == {((1.0, NAN),): 1}
