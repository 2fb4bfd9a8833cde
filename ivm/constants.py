"""Constants: expressions without columns, evaluated by the engine's own kernels.

So a folded expression has the value that it would have had in a row.

>>> total = Call("add", (Literal(2, pa.int64()), Literal(3, pa.int64())), pa.int64(), False)
>>> evaluated(total).value
5
>>> read("2024-02-29", pa.date32()).value
datetime.date(2024, 2, 29)
"""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import pyarrow as pa

from ivm.dataflow.expressions import Call, Expression, Literal, Value
from ivm.errors import Unsupported
from ivm.expressions.program import evaluate

_ONE_ROW = pa.RecordBatch.from_pydict({"one": [True]})
_CACHED_TEXTS = 4096  # texts of constants whose values are kept
_DAY_MICROS = 86_400_000_000


def evaluated(expression: Expression) -> Literal | None:
    """Evaluate an expression without columns to a literal of its type.

    Gives None if it is an error, is not supported, or has a value that no literal holds, such as a
    date after the year 9999.
    """
    try:
        rows, errors = evaluate(_ONE_ROW.schema, [], [("x", expression)], _ONE_ROW)
    except Unsupported:
        return None
    if errors:
        return None
    try:
        return Literal(_value(rows["x"][0]), expression.type)
    except (ValueError, ArithmeticError):
        return None


def computed(expression: Call) -> Expression:
    """Replace an expression without columns by its literal, if it has one."""
    return evaluated(expression) or expression


@lru_cache(_CACHED_TEXTS)
def read(text: str, kind: pa.DataType) -> Expression:
    """Read a quoted constant as a value of type `kind`, as a cast from text does.

    Gives the cast itself for a value that no literal holds; raises ValueError for no value at all.
    """
    given = Literal(text, pa.string())
    if kind == given.type:
        return given
    whole = Call("cast", (given,), kind, False)
    constant = evaluated(whole)
    if constant is None and not _is_value(whole):
        raise ValueError(text)
    return constant or whole


def _is_value(expression: Expression) -> bool:
    """Tell whether an expression has a value, if perhaps none that a literal holds."""
    there = Call("is_not_null", (expression,), pa.bool_(), False)
    return evaluated(there) is not None


def _value(scalar: Any) -> Value | None:
    """Convert a scalar of Arrow to the value of a literal (raises ValueError, OverflowError)."""
    if not scalar.is_valid:
        return None
    if isinstance(scalar.type, pa.StructType):
        raise ValueError("no literal is a row")
    if isinstance(scalar.type, pa.ListType):
        return tuple(_value(element) for element in scalar)
    if pa.types.is_time(scalar.type) and scalar.value >= _DAY_MICROS:
        raise OverflowError("24:00 is no time of Python's")
    value: Value = scalar.as_py()
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC)
    return value
