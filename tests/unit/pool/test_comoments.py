"""Comoments of values for which sums of squares in floats would say nothing."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.nodes import Get, Reduce
from ivm.pool import Pool

DOUBLE = pa.float64()


def pool_of(*types: pa.DataType) -> Pool:
    fields = [pa.field(f"c{i}", t) for i, t in enumerate(types)]
    schema = pa.schema(fields)
    pool = Pool()
    pool.create_input("t", schema, ["c0"])
    other = 1 if len(types) > 1 else None
    comoment = Aggregate("comoment", 0, "m", DOUBLE, True, other)
    pool.install("out", Reduce(Get("t", schema), (), (comoment,)), [])
    return pool


def change(pool: Pool, types: Sequence[pa.DataType], rows: Sequence[Any], diff: int = 1) -> None:
    columns = [
        pa.array(values, t) for values, t in zip(zip(*rows, strict=True), types, strict=True)
    ]
    batch = pa.RecordBatch.from_arrays(columns, names=[f"c{i}" for i in range(len(types))])
    pool.feed("t", batch, np.full(len(rows), diff, np.int64), pool.frontier)
    pool.advance(pool.frontier + 1)


def comoment(values: Sequence[Any], type_: pa.DataType) -> Any:
    pool = pool_of(type_)
    change(pool, [type_], [(v,) for v in values])
    return pool.scan("out").rows["m"].to_pylist()[0]


def true(values: Sequence[Any]) -> float:
    exact = [Fraction(v) for v in values]
    mean = sum(exact, Fraction()) / len(exact)
    return float(sum(((v - mean) ** 2 for v in exact), Fraction()))


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        ([1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16], DOUBLE),
        ([1e16, 1e16 + 2, -3.5], DOUBLE),
        ([5e-324, 0.0, 1e-160], DOUBLE),
        ([1e-162, 3e-162, 0.0], DOUBLE),
        ([1e153, -1e153, 5e-324], DOUBLE),
        ([2**63 - 1, 2**63 - 2, -(2**63)], pa.int64()),
        ([2**64 - 1, 2**64 - 4], pa.uint64()),
        ([Decimal("9" * 38), Decimal("-" + "9" * 38), Decimal(1)], pa.decimal128(38, 0)),
        ([Decimal("0." + "0" * 37 + d) for d in "127"], pa.decimal128(38, 38)),
        ([Decimal("12345.6789"), Decimal("12345.6788")], pa.decimal128(12, 4)),
    ],
)
def test_a_comoment_is_the_float_nearest_to_the_true_one(
    values: list[Any], type_: pa.DataType
) -> None:
    assert comoment(values, type_) == true(values)


def test_what_a_float_cannot_hold_is_an_error_row_until_it_can() -> None:
    pool = pool_of(DOUBLE)
    change(pool, [DOUBLE], [(1e200,), (-1e200,), (1.0,)])
    assert pool.scan("out").errors == 1
    change(pool, [DOUBLE], [(1e200,), (-1e200,)], -1)
    assert pool.scan("out").errors == 0
    assert pool.scan("out").rows["m"].to_pylist() == [0.0]


def test_a_pair_counts_where_both_values_are_there() -> None:
    pool = pool_of(DOUBLE, DOUBLE)
    change(pool, [DOUBLE, DOUBLE], [(1.0, 2.0), (3.0, 8.0), (None, 100.0), (100.0, None)])
    assert pool.scan("out").rows["m"].to_pylist() == [6.0]


def test_what_is_not_finite_leaves_no_trace_when_it_goes() -> None:
    pool = pool_of(DOUBLE, DOUBLE)
    change(pool, [DOUBLE, DOUBLE], [(1.0, 2.0), (float("inf"), 1.0), (1.0, float("nan"))])
    assert str(pool.scan("out").rows["m"].to_pylist()) == "[nan]"
    change(pool, [DOUBLE, DOUBLE], [(float("inf"), 1.0), (1.0, float("nan"))], -1)
    assert pool.scan("out").rows["m"].to_pylist() == [0.0]
