"""Functions of structs, which are rows as values, and the texts of rows: `(1,x)`."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from ivm.dataflow.expressions import Call
from ivm.expressions.python.arrays import row_writer
from ivm.expressions.python.script import Script, constant

Fields = list[Any]


def _of(value: Any) -> Fields:
    return [value]


def _put(values: Fields | None, value: Any) -> Fields:
    """Add a field after those of a row."""
    return [*(values or ()), value]


def _field(call: Call) -> Callable[[Fields], Any]:
    """Give the field at a position from 0."""
    position = constant(call, 1)
    assert isinstance(position, int)
    return lambda values: values[position]


def _text_of(call: Call) -> Callable[[Fields], str]:
    type_ = call.arguments[0].type
    assert isinstance(type_, pa.StructType)
    return row_writer(type_)


CASTS: dict[tuple[str, str], Script] = {
    ("struct", "text"): Script(_text_of, ("struct",), made=True),
}
SCRIPTS: dict[str, Script] = {
    "row_of": Script(_of, ("any",), strict=False),
    "row_put": Script(_put, ("struct", "any"), strict=False),
    "row_field": Script(_field, ("struct", "signed"), nullable=True, made=True, constants=(1,)),
}
