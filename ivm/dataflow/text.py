"""Texts of expressions, aggregates, window calls and orders; `$i` is column i, as in `sum($1)`.

>>> orders_text([Order(2, descending=True), Order(0)])
'($2 desc, $0)'
>>> aggregate_text(Aggregate("sum", 1, "total", pa.int64(), nullable=True))
'sum($1)'
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, assert_never

import pyarrow as pa

from ivm.dataflow.aggregates import (
    UP_TO_PEERS,
    Aggregate,
    Calendar,
    End,
    Frame,
    Order,
    WindowCall,
)
from ivm.dataflow.expressions import Call, Column, Expression, Literal

_INFIX = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "modulo": "%",
    "eq": "=",
    "ne": "<>",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "and": "and",
    "or": "or",
    "like": "like",
    "ilike": "ilike",
    "is_distinct": "is distinct from",
    "is_not_distinct": "is not distinct from",
}


def expression_text(
    expression: Expression,
    column: Callable[[int], str],
    type_text: Callable[[pa.DataType], str] = str,
) -> str:
    """Write an expression in the manner of SQL, columns by `column` and types by `type_text`."""
    match expression:
        case Column():
            return column(expression.index)
        case Literal(value=None):
            return "NULL"
        case Literal(value=str() as value):
            return f"'{value}'"
        case Literal(value=value):
            return str(value)
        case Call():
            return _text_of_call(expression, column, type_text)
        case _:
            assert_never(expression)


def _text_of_call(
    call: Call, column: Callable[[int], str], type_text: Callable[[pa.DataType], str]
) -> str:
    arguments = [expression_text(a, column, type_text) for a in call.arguments]
    if call.function == "cast":
        return f"cast({arguments[0]} as {type_text(call.type)})"
    if call.function not in _INFIX:
        return f"{call.function}({', '.join(arguments)})"
    operands = [
        f"({text})" if isinstance(a, Call) and a.function in _INFIX else text
        for a, text in zip(call.arguments, arguments, strict=True)
    ]
    return f" {_INFIX[call.function]} ".join(operands)


def columns_text(columns: Iterable[int]) -> str:
    """Write columns by number, as in `($2, $0)`."""
    return f"({', '.join(f'${i}' for i in columns)})"


def order_text(column: str, descending: bool, nulls_first: bool) -> str:
    """Write one column of an order, as in `$2 desc nulls first`."""
    return f"{column}{' desc' if descending else ''}{' nulls first' if nulls_first else ''}"


def orders_text(order: Iterable[Order]) -> str:
    """Write an order, as in `($2 desc, $0)`."""
    parts = (order_text(f"${o.column}", o.descending, o.nulls_first) for o in order)
    return f"({', '.join(parts)})"


def aggregate_text(a: Aggregate) -> str:
    """Write an aggregate over numbered columns, as in `sum($1)`."""
    return call_text(
        f"{a.function}(",
        [f"${c}" for c in (a.column, a.other) if c is not None],
        a.parameter,
        [order_text(f"${o.column}", o.descending, o.nulls_first) for o in a.order],
        None if a.where is None else f"${a.where}",
    )


def call_text(
    opening: str,
    columns: Sequence[str],
    parameter: float | str | None,
    order: Sequence[str],
    where: str | None,
) -> str:
    """Write a call that begins with `opening`, which includes the parenthesis."""
    given = [*columns, *([] if parameter is None else [repr(parameter)])]
    by = f" order {', '.join(order)}" if order else ""
    return f"{opening}{', '.join(given) or '*'}{by}){'' if where is None else f' where {where}'}"


def window_call_text(call: WindowCall) -> str:
    """Write a call over a window of numbered columns."""
    second = call.default if call.other is None else call.other
    read = (call.column, second, call.varies, call.where)
    return framed_text(call, *(None if c is None else f"${c}" for c in read))


class Framed(Protocol):
    """The parts of a window call beside the columns that it reads."""

    @property
    def function(self) -> str: ...
    @property
    def count(self) -> int: ...
    @property
    def frame(self) -> Frame: ...
    @property
    def skips_nulls(self) -> bool: ...
    @property
    def parameter(self) -> str | None: ...


def framed_text(
    call: Framed, argument: str | None, second: str | None, varies: str | None, where: str | None
) -> str:
    """Write a call over a window, with its frame unless that is the default."""
    given = [part for part in (argument, second) if part is not None]
    if call.function in ("lag", "lead", "nth_value", "ntile"):
        given.insert(1 if argument is not None else 0, varies or str(call.count))
    if call.function == "count" and not given:
        given = ["*"]
    if call.parameter is not None:
        given.append(repr(call.parameter))
    skipping = " without NULLs" if call.skips_nulls else ""
    condition = "" if where is None else f" where {where}"
    text = f"{call.function}({', '.join(given)}{skipping}){condition}"
    frame = call.frame
    if frame == UP_TO_PEERS:
        return text
    left_out = "" if frame.exclude == "no others" else f" without {frame.exclude}"
    ends = f"{_end(frame.start, 'first')} to {_end(frame.end, 'last')}"
    return f"{text} {frame.unit} {ends}{left_out}"


def _end(end: End, unbounded: str) -> str:
    if isinstance(end, Calendar):
        return f"{end.months:+} months {end.micros:+}"
    return unbounded if end is None else f"{end:+}" if end else "here"
