"""Typed rows to JSON values that keep them exactly.

Integers, booleans and finite floats are JSON numbers and booleans; decimals are strings with all
their digits; dates, times and timestamps are ISO 8601 strings (a zone's instant ends in `Z`);
intervals are PostgreSQL's texts; a UUID is its text, a document the text of its canonical form;
binary is base64; the floats that JSON lacks are "NaN", "Infinity" and "-Infinity"; lists are
arrays.
"""

import math
from base64 import b64encode
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ivm.values.interval_text import spelled
from ivm.values.types import INTERVAL, UUID, Interval

# Up to this scale, no decimal is cast to a string with an exponent.
_PLAIN_SCALE = 6


def json_rows(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    """One object per row, columns in order."""
    names = batch.schema.names
    columns = [json_values(column) for column in batch.columns]
    if not columns:
        return [{} for _ in range(batch.num_rows)]
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def json_values(column: pa.Array) -> list[Any]:
    """The JSON value of every element; NULL is None."""
    dtype = column.type
    if isinstance(column, pa.ListArray):
        return _arrays(column)
    if pa.types.is_timestamp(dtype):
        instants: pa.Array = column.cast(pa.timestamp("us", dtype.tz and "UTC"))
        texts = pc.strftime(instants, format="%Y-%m-%dT%H:%M:%S")
        suffix = "Z" if dtype.tz is not None else ""
        return [None if text is None else text + suffix for text in texts.to_pylist()]
    if pa.types.is_decimal(dtype) and dtype.scale > _PLAIN_SCALE:
        return [None if value is None else format(value, "f") for value in column.to_pylist()]
    if pa.types.is_decimal(dtype) or pa.types.is_date(dtype) or pa.types.is_time(dtype):
        column = column.cast(pa.string())
    values = column.to_pylist()
    if dtype == INTERVAL:
        return [None if v is None else spelled(Interval(v[0], v[1], v[2] // 1000)) for v in values]
    if dtype == UUID:
        return [None if v is None else str(v) for v in values]
    if pa.types.is_binary(dtype):
        return [None if v is None else b64encode(v).decode() for v in values]
    if pa.types.is_floating(dtype) and not pc.all(pc.is_finite(column)).as_py():
        return [_number(v) for v in values]
    return values


def _arrays(column: "pa.ListArray[Any]") -> list[Any]:
    elements, ends = json_values(column.values), column.offsets.to_pylist()
    return [
        elements[start:end] if valid else None
        for start, end, valid in zip(ends, ends[1:], column.is_valid().to_pylist(), strict=False)
    ]


def _number(value: float | None) -> float | str | None:
    if value is None or math.isfinite(value):
        return value
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"
