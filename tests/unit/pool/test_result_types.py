"""Aggregates and window calls in the type that they are asked for: rounded to it, or refused."""

import math
import struct
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.aggregates import Aggregate, Frame, Order, WindowCall
from ivm.dataflow.nodes import Get, Node, Reduce, Window
from ivm.errors import Unsupported
from ivm.pool import Pool

INT, TEXT, SINGLE, DOUBLE = pa.int64(), pa.string(), pa.float32(), pa.float64()
MONEY = pa.decimal128(12, 2)
FIELDS: list[pa.Field] = [
    pa.field("id", INT, nullable=False),
    pa.field("name", TEXT),
    pa.field("pay", MONEY),
    pa.field("weight", DOUBLE),
    pa.field("height", SINGLE),
    pa.field("age", INT),
    pa.field("sure", pa.bool_()),
]
SCHEMA = pa.schema(FIELDS)
given = Get("given", SCHEMA)
ID, NAME, PAY, WEIGHT, HEIGHT, AGE, SURE = range(7)


def _pool() -> Pool:
    pool = Pool()
    pool.create_input("given", SCHEMA, ["id"])
    return pool


def _reduced(function: Any, column: int | None, type_: pa.DataType, **more: Any) -> Reduce:
    return Reduce(given, (), (Aggregate(function, column, "a", type_, True, **more),))


def _windowed(function: Any, column: int | None, type_: pa.DataType, **more: Any) -> Window:
    return Window(
        given, (), (Order(ID),), (WindowCall(function, column, "w", type_, True, **more),)
    )


def _answer(node: Node, *rows: dict[str, Any]) -> tuple[list[Any], int]:
    """The last column's values, and how many rows are in error."""
    pool = _pool()
    pool.install("out", node, [])
    batch = pa.RecordBatch.from_pylist([*rows], schema=SCHEMA)
    pool.feed("given", batch, np.ones(len(rows), np.int64), 0)
    pool.advance(1)
    found = pool.scan("out")
    return found.rows.columns[-1].to_pylist(), found.errors


def _single(value: float) -> float:
    rounded: float = struct.unpack("<f", struct.pack("<f", value))[0]
    return rounded


THREE = [{"id": i, "weight": 0.1, "height": 0.1} for i in (1, 2, 2**53)]


@pytest.mark.parametrize("make", [_reduced, _windowed])
@pytest.mark.parametrize(
    ("function", "column", "exact"),
    [
        ("sum", HEIGHT, 3 * _single(0.1)),
        ("avg", HEIGHT, _single(0.1)),
        ("sum", WEIGHT, 0.1 * 3),
        ("sum", ID, float(2**53 + 3)),
    ],
)
def test_a_sum_in_single_precision_is_rounded_to_it(
    make: Any, function: str, column: int, exact: float
) -> None:
    frame = {} if make is _reduced else {"frame": Frame("rows", None, None)}
    (answer, *_), errors = _answer(make(function, column, SINGLE, **frame), *THREE)
    assert (answer, errors) == (_single(exact), 0)
    pool = _pool()
    pool.install("out", make(function, column, SINGLE, **frame), ["a" if not frame else "w"])
    pool.feed("given", pa.RecordBatch.from_pylist(THREE, schema=SCHEMA), np.ones(3, np.int64), 0)
    pool.advance(1)
    key = {"a" if not frame else "w": answer}
    assert pool.peek("out", key).rows.num_rows > 0


def test_a_sum_beyond_single_precision_is_an_error() -> None:
    sum_of_heights = _reduced("sum", HEIGHT, SINGLE)
    large, larger = ({"id": i, "height": 3e38} for i in (1, 2))
    assert _answer(sum_of_heights, large) == ([_single(3e38)], 0)
    assert _answer(sum_of_heights, large, larger) == ([], 1)
    infinite = {"id": 3, "height": float("inf")}
    assert _answer(sum_of_heights, large, infinite) == ([float("inf")], 0)


REFUSED: dict[str, Node] = {
    "a count in a short integer": _reduced("count", None, pa.int8()),
    "a count as text": _reduced("count", None, TEXT),
    "a sum of floats as an integer": _reduced("sum", WEIGHT, INT),
    "a sum of floats as a decimal": _reduced("sum", WEIGHT, MONEY),
    "a sum of decimals as a float": _reduced("sum", PAY, DOUBLE),
    "a sum of decimals as an integer": _reduced("sum", PAY, INT),
    "a sum without a sign": _reduced("sum", ID, pa.uint64()),
    "a sum of texts": _reduced("sum", NAME, INT),
    "a comoment as an integer": _reduced("comoment", WEIGHT, INT),
    "bits of an integer in a narrower one": _reduced("bit_or", ID, pa.int32()),
    "bits of a float": _reduced("bit_xor", WEIGHT, DOUBLE),
    "bits of a truth": _reduced("bit_and", SURE, pa.bool_()),
    "a least value of another type": _reduced("min", ID, MONEY),
    "a first value of another type": _reduced("first", ID, TEXT, order=(Order(ID),)),
    "a list of another type": _reduced("list", ID, pa.list_(TEXT)),
    "a percentile of another type": _reduced("percentile_disc", ID, TEXT, parameter=0.5),
    "a percentile beyond the values": _reduced("percentile_disc", NAME, TEXT, parameter=5.0),
    "a percentile before the values": _reduced("percentile_disc", NAME, TEXT, parameter=-1.0),
    "a percentile between integers": _reduced("percentile_cont", ID, DOUBLE, parameter=0.5),
    "an aggregate that there is not": _reduced("median", ID, INT),
    "a row number as text": _windowed("row_number", None, TEXT),
    "a rank in per cent as an integer": _windowed("percent_rank", None, INT),
    "no bucket": _windowed("ntile", None, INT, count=0),
    "a neighbour of another type": _windowed("lag", ID, TEXT),
    "a neighbour with a default of another type": _windowed("lag", ID, INT, default=NAME),
    "a greatest value of another type in a window": _windowed("max", ID, TEXT),
    "a count in a short integer in a window": _windowed("count", ID, pa.int8()),
    "a window function that there is not": _windowed("median", ID, INT),
    "a neighbour of no column": _windowed("lag", None, INT),
    "a percentile at a text": _reduced("percentile_disc", ID, INT, parameter="a"),
    "a frame to a text": _windowed("count", None, INT, frame=Frame("rows", "a", 0)),  # type: ignore[arg-type]
    "a frame to no number": _windowed("count", None, INT, frame=Frame("rows", math.nan, 0)),
    "a frame to half a row": _windowed("count", None, INT, frame=Frame("rows", -0.5, 0)),
    "a frame of half an integer": _windowed("count", None, INT, frame=Frame("range", -0.5, 0)),
    "a frame by what there is not": _windowed("count", None, INT, frame=Frame("hours")),  # type: ignore[arg-type]
    "a distance without an order": Window(
        given, (), (), (WindowCall("count", None, "w", INT, False, Frame("range", -1, 0)),)
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_have_the_type_is_refused(case: str) -> None:
    pool = _pool()
    with pytest.raises(Unsupported):
        pool.install("out", REFUSED[case], [])
    assert pool.names == {"given"}


def _reduced_without_null(function: Any, column: int, **more: Any) -> Reduce:
    kind = SCHEMA.field(column).type
    kind = pa.list_(kind) if function in ("list", "set") else kind
    return Reduce(given, (ID,), (Aggregate(function, column, "a", kind, False, **more),))


def _windowed_without_null(function: Any, column: int, **more: Any) -> Window:
    call = WindowCall(function, column, "w", SCHEMA.field(column).type, False, **more)
    return Window(given, (), (Order(ID),), (call,))


BEFORE, AFTER = Frame("rows", None, -1), Frame("rows", 1, None)
MAYBE_NULL: dict[str, Node] = {
    **{
        f"{function} of what may be NULL": _reduced_without_null(function, WEIGHT)
        for function in ("sum", "avg", "comoment", "min", "max", "first", "percentile_cont")
    },
    "bits of what may be NULL": _reduced_without_null("bit_and", AGE),
    "a comoment with what may be NULL": Reduce(
        given, (), (Aggregate("comoment", ID, "a", DOUBLE, False, other=WEIGHT),)
    ),
    "a text of what may be NULL": _reduced_without_null("join", NAME),
    "a list of some rows": _reduced_without_null("list", ID, where=SURE),
    **{
        f"{function} of what may be NULL over a window": _windowed_without_null(function, WEIGHT)
        for function in ("lag", "first_value", "nth_value", "sum", "avg", "comoment", "min", "max")
    },
    "a neighbour that there may not be": _windowed_without_null("lag", ID),
    "a neighbour with a default that may be NULL": _windowed_without_null("lead", ID, default=AGE),
    "a second value that there may not be": _windowed_without_null("nth_value", ID, count=2),
    "a first value of the rows before": _windowed_without_null("first_value", ID, frame=BEFORE),
    "a sum of the rows after": _windowed_without_null("sum", ID, frame=AFTER),
    "a greatest value of the rows before": _windowed_without_null("max", ID, frame=BEFORE),
}


@pytest.mark.parametrize("case", MAYBE_NULL)
def test_what_may_be_null_is_refused_as_what_is_not(case: str) -> None:
    pool = _pool()
    with pytest.raises(Unsupported, match="may be NULL"):
        pool.install("out", MAYBE_NULL[case], [])
    assert pool.names == {"given"}


NEVER_NULL: dict[str, Node] = {
    **{
        f"{function} of what is not NULL": _reduced_without_null(function, ID)
        for function in ("count", "sum", "avg", "min", "max", "first", "percentile_disc", "list")
    },
    "a list in which NULL may be": _reduced_without_null("list", WEIGHT),
    "a count of what may be NULL": Reduce(
        given, (), (Aggregate("count", WEIGHT, "a", INT, False),)
    ),
    "a neighbour with a default": _windowed_without_null("lag", ID, default=ID),
    "the row as its own neighbour": _windowed_without_null("lag", ID, count=0),
    "a last value up to the row": _windowed_without_null("last_value", ID),
    "a first value as the first one": _windowed_without_null("nth_value", ID, count=1),
    "a sum from the row on": _windowed_without_null("sum", ID, frame=Frame("rows", 0, None)),
    "a count of the rows before": _windowed_without_null("count", ID, frame=BEFORE),
}


@pytest.mark.parametrize("case", NEVER_NULL)
def test_what_is_never_null_may_be_said_to_be_so(case: str) -> None:
    (answer, *others), errors = _answer(NEVER_NULL[case], {"id": 1})
    assert answer is not None
    assert (others, errors) == ([], 0)
