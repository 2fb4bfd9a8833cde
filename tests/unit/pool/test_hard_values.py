"""What is hard on state: counts below zero, sums beyond 128 bits, rows of very many words.

And on arithmetic: a continuous percentile rounds its product before the sum, as PostgreSQL does;
numbers of rows may be more than a machine word counts.
"""

import math
import sys
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.aggregates import Aggregate, Order, WindowCall
from ivm.dataflow.nodes import Get, Iterate, Node, Recursive, Reduce, TopK, Union, Window, project
from ivm.pool import Pool

HUGE = pa.decimal128(38, 0)
FIELDS: list[pa.Field] = [
    pa.field("id", pa.int64(), nullable=False),
    pa.field("amount", HUGE),
]
SCHEMA = pa.schema(FIELDS)
sales = Get("sales", SCHEMA)
NINES, NEGATIVE = Decimal("9" * 38), Decimal("-" + "9" * 38)


def _pool(function: str, type_: pa.DataType) -> Pool:
    pool = Pool()
    pool.create_input("sales", SCHEMA, ["id"])
    whole = Aggregate(function, 1, "out", type_, True)  # type: ignore[arg-type]
    pool.install("out", Reduce(sales, (), (whole,)), [])
    return pool


def _feed(pool: Pool, amounts: list[Decimal], diff: int = 1) -> None:
    rows = [{"id": i, "amount": amount} for i, amount in enumerate(amounts)]
    batch = pa.RecordBatch.from_pylist(rows, schema=SCHEMA)
    pool.feed("sales", batch, np.full(len(rows), diff, np.int64), pool.frontier)
    pool.advance(pool.frontier + 1)


def _answer(pool: Pool) -> tuple[list[Any], int]:
    found = pool.scan("out")
    return found.rows.column("out").to_pylist(), found.errors


def test_a_group_whose_rows_come_after_their_retraction_has_the_right_sum() -> None:
    pool = _pool("sum", HUGE)
    _feed(pool, [Decimal(5)])
    _feed(pool, [Decimal(7)], diff=-1)
    _feed(pool, [Decimal(7)])
    assert _answer(pool) == ([Decimal(5)], 0)


@pytest.mark.parametrize(
    ("diffs", "answer"),
    [((2, -1), [(1, 0)]), ((1, -1), []), ((3, -2), [(1, -10)]), ((-2, 3), [(1, 40)])],
)
def test_counts_below_zero_are_netted_within_a_loop_as_they_are_outside(
    diffs: tuple[int, int], answer: list[tuple[int, int]]
) -> None:
    pool = Pool()
    pool.create_input("sales", SCHEMA, ["id"])
    whole = (
        Aggregate("count", None, "n", pa.int64(), False),
        Aggregate("sum", 1, "sum", HUGE, True),
    )
    none = Recursive("none", SCHEMA)
    within = Reduce(Union((sales, none)), (), whole)
    pool.install("outside", Reduce(sales, (), whole), [])
    pool.install("within", Iterate((("none", none), ("within", within)), "within"), [])
    for amount, diff in zip((10, 20), diffs, strict=True):
        _feed(pool, [Decimal(amount)], diff)
    for name in ("outside", "within"):
        found = pool.scan(name).rows.to_pylist()
        assert [(row["n"], row["sum"]) for row in found] == answer, name


@pytest.mark.parametrize("copies", [2, 3, 4, 100])
@pytest.mark.parametrize("value", [NINES, NEGATIVE])
def test_a_sum_beyond_its_type_is_an_error_until_it_is_back_in_range(
    copies: int, value: Decimal
) -> None:
    pool = _pool("sum", HUGE)
    _feed(pool, [value] * copies)
    assert _answer(pool) == ([], 1)
    _feed(pool, [value] * (copies - 1), diff=-1)
    assert _answer(pool) == ([value], 0)


def test_an_average_is_right_where_the_sum_is_beyond_any_type() -> None:
    pool = _pool("avg", HUGE)
    _feed(pool, [NEGATIVE] * 7)
    _feed(pool, [NINES])
    assert _answer(pool) == ([Decimal("-74999999999999999999999999999999999999")], 0)


MOST = sys.float_info.max
MEASURED = pa.schema([FIELDS[0], pa.field("measure", pa.float64())])


@pytest.mark.parametrize(
    ("function", "values", "answer"),
    [
        ("sum", [MOST, MOST], ([], 1)),
        ("sum", [-MOST, -MOST], ([], 1)),
        ("sum", [MOST, MOST, -MOST], ([MOST], 0)),
        ("sum", [MOST, math.inf], ([math.inf], 0)),
        ("avg", [MOST, MOST], ([MOST], 0)),
        ("avg", [-MOST] * 3, ([-MOST], 0)),
        ("avg", [MOST, -math.inf], ([-math.inf], 0)),
    ],
)
def test_finite_floats_have_a_finite_sum_or_an_error(
    function: str, values: list[float], answer: tuple[list[float], int]
) -> None:
    pool = Pool()
    pool.create_input("measures", MEASURED, ["id"])
    whole = Aggregate(function, 1, "out", pa.float64(), True)  # type: ignore[arg-type]
    pool.install("out", Reduce(Get("measures", MEASURED), (), (whole,)), [])
    rows = [{"id": i, "measure": value} for i, value in enumerate(values)]
    batch = pa.RecordBatch.from_pylist(rows, schema=MEASURED)
    pool.feed("measures", batch, np.ones(len(values), np.int64), 0)
    pool.advance(1)
    assert _answer(pool) == answer


FAR = [-(1 << 80), -(1 << 63), (1 << 63) - 1, 1 << 63, 1 << 80]
BEYOND = [(1 << 63) - 1, 1 << 63, 1 << 80]


def _called(function: str, count: int, type_: pa.DataType = HUGE) -> Node:
    column = None if function == "ntile" else 1
    call = WindowCall(function, column, "out", type_, True, count=count)  # type: ignore[arg-type]
    return Window(sales, (), (Order(0),), (call,))


@pytest.mark.parametrize(
    ("node", "answer"),
    [
        *((_called("lag", away), [None] * 3) for away in FAR),
        *((_called("lead", away), [None] * 3) for away in FAR),
        *((_called("nth_value", count), [None] * 3) for count in BEYOND),
        *((_called("ntile", count, pa.int64()), [1, 2, 3]) for count in BEYOND),
        *((project(TopK(sales, (), (Order(0),), 1, offset), (1,)), []) for offset in BEYOND),
        *((project(TopK(sales, (), (Order(0),), limit), (1,)), [5, 6, 7]) for limit in BEYOND),
    ],
)
def test_numbers_of_rows_beyond_any_are_as_good_as_others(node: Node, answer: list[Any]) -> None:
    pool = Pool()
    pool.create_input("sales", SCHEMA, ["id"])
    pool.install("out", node, [])
    _feed(pool, [Decimal(5), Decimal(6), Decimal(7)])
    found = pool.scan("out")
    assert (found.rows.column(found.rows.num_columns - 1).to_pylist(), found.errors) == (answer, 0)


def test_an_average_that_scaling_takes_beyond_its_type_is_an_error() -> None:
    pool = _pool("avg", pa.decimal128(38, 6))
    _feed(pool, [Decimal(10**34), Decimal(10**34)])
    assert _answer(pool) == ([], 1)


def test_many_copies_of_a_great_value_add_up() -> None:
    pool = _pool("avg", HUGE)
    _feed(pool, [NINES, Decimal(1)], diff=2**40)
    assert _answer(pool) == ([Decimal(5 * 10**37)], 0)


def test_a_key_and_values_of_three_hundred_words_are_reduced_in_a_loop() -> None:
    fields: list[pa.Field[Any]] = [pa.field(f"c{i}", HUGE, nullable=False) for i in range(100)]
    schema = pa.schema(fields)
    pool = Pool()
    pool.create_input("wide", schema, ["c0"])
    key = tuple(range(50))
    own = Recursive("x", pa.schema(fields[:50]))
    counts = tuple(Aggregate("count", i, f"n{i}", pa.int64(), False) for i in range(100))
    padded = project(own, (*key, *key))
    body = project(Reduce(Union((Get("wide", schema), padded)), key, counts), key)
    pool.install("out", Iterate((("x", body),), "x"), [])
    row = pa.RecordBatch.from_pylist([{f.name: Decimal(i) for i, f in enumerate(fields)}], schema)
    pool.feed("wide", row, np.array([1]), 0)
    pool.advance(1)
    assert pool.scan("out").rows.to_pylist() == [{f"c{i}": Decimal(i) for i in range(50)}]


def test_a_percentile_rounds_each_operation_on_every_machine() -> None:
    schema = pa.schema([FIELDS[0], pa.field("x", pa.float64())])
    between = Aggregate("percentile_cont", 1, "p", pa.float64(), nullable=True, parameter=0.7)
    pool = Pool()
    pool.create_input("points", schema, ["id"])
    pool.install("p", Reduce(Get("points", schema), (), (between,)), [])
    rows = pa.RecordBatch.from_pydict({"id": [0, 1], "x": [-1e16, 0.2]}, schema)
    pool.feed("points", rows, np.ones(2, np.int64), 0)
    pool.advance(1)
    assert pool.scan("p").rows["p"].to_pylist() == [-1e16 + 0.7 * (0.2 + 1e16)]
