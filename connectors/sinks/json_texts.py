"""Rows as JSON texts, made column by column.

The text of a row is, byte for byte, what orjson writes for the object that `json_rows` makes of it;
no Python object is made for a row or, where Arrow can spell a type, for a value.
"""

from collections.abc import Sequence
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from connectors.sinks.json_rows import json_values
from ivm.values.types import JSON

# A row may be long, and many of them longer than 32-bit offsets reach.
TEXT = pa.large_string()


def json_texts(batch: pa.RecordBatch) -> pa.Array:
    """The object of every row, columns in order."""
    if not batch.num_columns:
        return pa.array(["{}"] * batch.num_rows, TEXT)
    names = [orjson.dumps(name).decode() for name in batch.schema.names]
    parts: list[str | pa.Array] = []
    for name, column in zip(names, batch.columns, strict=True):
        parts += [("," if parts else "{") + name + ":", value_texts(column)]
    return join(*parts, "}")


def join(*parts: str | pa.Array) -> pa.Array:
    """These texts one after another, row by row; a string stands in every row."""
    texts: list[Any] = [pa.scalar(p, TEXT) if isinstance(p, str) else p for p in parts]
    found: pa.Array = pc.binary_join_element_wise(*texts, pa.scalar("", TEXT))
    return found


def filled(column: pa.Array, value: Any) -> pa.Array:
    """`column` with `value` in place of NULL."""
    constant: Any = pa.scalar(value, column.type)
    return pc.fill_null(column, constant)


def plain(numbers: pa.Array) -> pa.Array:
    """Integers as texts."""
    return numbers.cast(TEXT)


def encoded(texts: pa.Array) -> list[bytes]:
    """The texts as UTF-8."""
    found: list[Any] = texts.cast(pa.large_binary()).to_pylist()
    return found


def value_texts(column: pa.Array) -> pa.Array:
    """The JSON text of every element; NULL is `null`."""
    if not len(column):
        return pa.array([], TEXT)
    dtype = column.type
    if dtype == JSON and isinstance(column, pa.ExtensionArray):
        column = column.storage
    if pa.types.is_string(column.type):
        texts = _strings(column)
    elif pa.types.is_integer(dtype) or pa.types.is_boolean(dtype):
        texts = column.cast(pa.string()).cast(TEXT)
    elif pa.types.is_date(dtype) or pa.types.is_time(dtype):
        texts = join('"', column.cast(pa.string()).cast(TEXT), '"')
    elif pa.types.is_list(dtype):
        return _texts([orjson.dumps(value) for value in json_values(column)])
    else:
        # Of all these, none has a comma in it.
        return _texts(orjson.dumps(json_values(column))[1:-1].split(b","))
    return filled(texts, "null")


def _strings(column: pa.Array) -> pa.Array:
    """Quoted strings; NULL stays.

    Inside a JSON string a quote has a backslash before it, so `","` stands only between two, or
    where one ends with a quote and a comma.
    """
    strings = filled(column, "")
    if pc.any(pc.ends_with(strings, '",')).as_py():
        values = [orjson.dumps(string)[1:-1] for string in strings.to_pylist()]
    else:
        values = orjson.dumps(strings.to_pylist())[2:-2].split(b'","')
    quoted = join('"', _texts(values), '"')
    if not column.null_count:
        return quoted
    found: pa.Array = pc.if_else(column.is_valid(), quoted, pa.scalar(None, TEXT))
    return found


def _texts(values: Sequence[bytes]) -> pa.Array:
    return pa.array(values, pa.large_binary()).cast(TEXT)
