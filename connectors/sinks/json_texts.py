"""Rows as JSON texts, made natively out of the buffers of their columns.

The text of a row is, byte for byte, what orjson writes for the object that `json_rows` makes of it;
no Python object is made for a row or, where its type has a form of its own, for a value.
"""

from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from connectors.sinks.json_rows import json_values
from connectors.sinks.native.cells import Cells, constant
from connectors.sinks.native.lines import column as written
from ivm.values.types import JSON

# A row may be long, and many of them longer than 32-bit offsets reach.
TEXT = pa.large_string()

# The counts of years with four digits: days of all, and microseconds from the year 1000 on, as
# Arrow writes those before with fewer.
_DAYS = -719_162, 2_932_896
_MOMENTS = -30_610_224_000_000_000, 253_402_300_799_999_999

_NULL = b"null"


def json_texts(batch: pa.RecordBatch) -> pa.Array:
    """The object of every row, columns in order."""
    return written(row_cells(batch), batch.num_rows).view(TEXT)


def row_cells(batch: pa.RecordBatch) -> list[Cells]:
    """The cells of the object of every row, columns in order."""
    cells: list[Cells] = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        cells += (
            constant((b"," if cells else b"{") + orjson.dumps(name) + b":"),
            value_cells(column),
        )
    return [*cells, constant(b"}")] if cells else [constant(b"{}")]


def value_cells(column: pa.Array) -> Cells:
    """The JSON text of every element; NULL is `null`."""
    dtype: Any = column.type
    if dtype == JSON and isinstance(column, pa.ExtensionArray):
        column = column.storage
    if pa.types.is_timestamp(dtype):
        column = column.cast(pa.timestamp("us", dtype.tz and "UTC"))
    form = _form(column)
    if form is not None:
        return Cells(form, column, absent=_NULL)
    if not len(column):
        texts = []
    elif pa.types.is_list(dtype):
        texts = [orjson.dumps(value) for value in json_values(column)]
    else:
        texts = orjson.dumps(json_values(column))[1:-1].split(b",")  # none has a comma in it
    return Cells("verbatim", pa.array(texts, pa.large_binary()))


def _form(column: pa.Array) -> str | None:
    """The native form of a column, if it has one."""
    dtype: Any = column.type
    if pa.types.is_string(dtype):
        return "text"
    if pa.types.is_integer(dtype):
        return "natural" if dtype == pa.uint64() else "integer"
    if pa.types.is_boolean(dtype):
        return "truth"
    if pa.types.is_decimal128(dtype):
        return "decimal" if dtype.scale >= 0 else None
    if pa.types.is_date32(dtype):
        return "date" if _are_within(column.view(pa.int32()), *_DAYS) else None
    if dtype == pa.time64("us"):
        return "time"
    if pa.types.is_timestamp(dtype):
        form = "zoned" if dtype.tz else "naive"
        return form if _are_within(column.view(pa.int64()), *_MOMENTS) else None
    return None


def _are_within(column: pa.Array, least: int, most: int) -> bool:
    found: Any = pc.min_max(column).as_py()
    return found["min"] is None or (least <= found["min"] and found["max"] <= most)
