"""Expressions and rows as short text, for messages."""

import pyarrow as pa

from ivm.expressions import Call, Column, Expression, Literal

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
}
_LONGEST = 120
_LONGEST_VALUE = 40
_MOST_VALUES = 8


def render(expression: Expression, names: list[str]) -> str:
    """`expression` over columns of these names, cut off after 120 characters."""
    text = _render(expression, names)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _render(expression: Expression, names: list[str]) -> str:
    match expression:
        case Column(index=index):
            return names[index]
        case Literal(value=None):
            return "NULL"
        case Literal(value=str() as value):
            return f"'{value}'"
        case Literal(value=value):
            return str(value)
        case Call(function="cast", arguments=(argument,), type=type_):
            return f"cast({_render(argument, names)} as {type_})"
        case Call(function=function, arguments=arguments) if function in _INFIX:
            return f" {_INFIX[function]} ".join(_operand(a, names) for a in arguments)
        case Call(function=function, arguments=arguments):
            return f"{function}({', '.join(_render(a, names) for a in arguments)})"


def _operand(expression: Expression, names: list[str]) -> str:
    text = _render(expression, names)
    infix = isinstance(expression, Call) and expression.function in _INFIX
    return f"({text})" if infix else text


def in_row(message: str, row: pa.RecordBatch) -> str:
    """`message` with the one row of `row`: its first columns, long values cut off."""
    values = [f"{name} = {_value(row.column(i)[0])}" for i, name in enumerate(row.schema.names)]
    if not values:
        return message
    if len(values) > _MOST_VALUES:
        values = [*values[:_MOST_VALUES], "…"]
    return f"{message} for the row ({', '.join(values)})"


def _value(scalar: pa.Scalar) -> str:
    text = "NULL" if not scalar.is_valid else str(scalar)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"
