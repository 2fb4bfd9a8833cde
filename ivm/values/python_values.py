"""Converts Python values to Arrow arrays, exactly: keys of look-ups, constants and literals.

Arrow cuts the fraction off a number that should be an integer, and the time off a date; it takes
a mapping for a list, and sixteen letters for a UUID. So each value must first be one of its type;
of those Arrow refuses what is out of range.

>>> column_of([1, None], pa.field("n", pa.float64())).to_pylist()
[1.0, None]
"""

import uuid
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from math import inf
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as kinds

from ivm.errors import SchemaMismatch
from ivm.values.types import INTERVAL, JSON, UUID, arrow_array

_SINGLES_END = float(2**128 - 2**103)  # the least number whose nearest float32 is infinite


def column_of(values: Sequence[Any], field: pa.Field) -> pa.Array:
    """Convert values to an array of `field`'s type, in which None is NULL.

    Beside what Arrow itself answers with for the type these are taken: scalars of Arrow's of that
    very type, and NumPy's; integers for floats and decimals that are exactly they; a float for the
    float32 that is nearest; the days or microseconds since 1970 for dates and timestamps, which go
    beyond Python's; a timedelta for an interval; 16 bytes for a UUID. Raises SchemaMismatch naming
    the column for all others.

    >>> column_of([1, None], pa.field("x", pa.float64())).to_pylist()
    [1.0, None]
    """
    type_ = field.type
    try:
        for value in values:
            if value is not None and not _is_one(value, type_):
                raise TypeError(f"{value!r} does not fit")
        return arrow_array(values, type_)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise SchemaMismatch(f"column {field.name!r} is {type_}: {error}") from None


def fits_single(value: float) -> bool:
    """Tell whether the nearest float32 is infinite only if `value` is.

    >>> fits_single(1e38), fits_single(1e39)
    (True, False)
    """
    return not _SINGLES_END <= abs(value) < inf


def batch_of(rows: Sequence[Sequence[Any]], schema: pa.Schema) -> pa.RecordBatch:
    """Convert rows, each with a value for each column, as `column_of` does.

    >>> schema = pa.schema([pa.field("id", pa.int64()), pa.field("name", pa.string())])
    >>> batch_of([(1, "a"), (2, None)], schema).to_pylist()
    [{'id': 1, 'name': 'a'}, {'id': 2, 'name': None}]
    """
    columns = [column_of([row[i] for row in rows], field) for i, field in enumerate(schema)]
    # Arrow counts the rows of a batch by its columns: one is there where there are none.
    counted = pa.schema([*schema, pa.field("", pa.null())])
    batch = pa.RecordBatch.from_arrays([*columns, pa.nulls(len(rows))], schema=counted)
    return batch.select(range(len(columns)))


def _is_one(value: Any, type_: pa.DataType) -> bool:
    """Tell whether `value` is one of `type_`, or else Arrow refuses it."""
    match value:
        case bool() | np.bool_():
            return kinds.is_boolean(type_)
        case int() | np.integer():
            return _holds_integers(type_)
        case float() | np.floating() if not isinstance(value, np.longdouble):
            return kinds.is_float64(type_) or (kinds.is_float32(type_) and fits_single(value))
        case Decimal():
            return kinds.is_decimal(type_)
        case str():
            return kinds.is_string(type_) or type_ == JSON
        case bytes() | bytearray() | memoryview():
            return kinds.is_binary(type_) or type_ == UUID
        case uuid.UUID():
            return type_ == UUID
        case datetime():  # which is a date too
            return _is_moment(value, type_)
        case np.datetime64():
            return kinds.is_timestamp(type_) and not np.isnat(value)
        case date():
            return kinds.is_date(type_)
        case time():
            return kinds.is_time(type_) and value.tzinfo is None
        case timedelta() | pa.MonthDayNano():
            return type_ == INTERVAL and getattr(value, "nanoseconds", 0) % 1000 == 0
        case list() | tuple() | np.ndarray():
            return isinstance(type_, pa.ListType) and all(
                each is None or _is_one(each, type_.value_type) for each in value
            )
        case dict():
            return isinstance(type_, pa.StructType) and _are_fields(value, type_)
        case pa.Scalar():
            return value.type == type_ and (not value.is_valid or _is_one(value.as_py(), type_))
    return False


def _are_fields(value: Mapping[str, Any], type_: pa.StructType) -> bool:
    fits = value.keys() == {field.name for field in type_}
    return fits and all(v is None or _is_one(v, type_.field(n).type) for n, v in value.items())


def _holds_integers(type_: pa.DataType) -> bool:
    return (
        kinds.is_integer(type_)
        or kinds.is_floating(type_)
        or kinds.is_decimal(type_)
        or kinds.is_date(type_)
        or kinds.is_timestamp(type_)
    )


def _is_moment(value: datetime, type_: pa.DataType) -> bool:
    """Tell whether a timestamp has a zone exactly if its type has one, and fits its unit."""
    return (
        isinstance(type_, pa.TimestampType)
        and (value.tzinfo is None) == (type_.tz is None)
        and getattr(value, "nanosecond", 0) == 0
    )
