"""Writes expressions and rows as short texts, for messages."""

import pyarrow as pa

from ivm.dataflow.expressions import Expression
from ivm.dataflow.text import expression_text
from ivm.values.type_names import shown

_LONGEST = 120
_LONGEST_VALUE = 40
_MOST_VALUES = 8


def render(expression: Expression, names: list[str]) -> str:
    """Write `expression` over columns of these names, cut off after 120 characters."""
    text = expression_text(expression, names.__getitem__, shown)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def in_row(message: str, row: pa.RecordBatch) -> str:
    """Append the one row of `row` to a message: at most eight columns, long values cut off.

    Columns without a name are a plan's own, and say nothing to its user.
    """
    named = [(i, name) for i, name in enumerate(row.schema.names) if name]
    values = [f"{name} = {_value(row.column(i)[0])}" for i, name in named]
    if not values:
        return message
    if len(values) > _MOST_VALUES:
        values = [*values[:_MOST_VALUES], "…"]
    return f"{message} for the row ({', '.join(values)})"


def _value(scalar: pa.Scalar) -> str:
    text = "NULL" if not scalar.is_valid else str(scalar)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"
