"""Column types beyond the plain ones of Arrow: UUID, JSON, NUMERIC and INTERVAL.

`UUID`: 16 bytes, which order as bytes do.

`JSON`: PostgreSQL's jsonb as its canonical text. Keys stand by length and then bytes, none twice;
numbers are exact, without zeros at the end of a fraction; so equal documents are equal texts.

`NUMERIC`: a number whose digits nobody declared, 20 before the point and 18 after it. As text it
has no zeros at its end, which the number that was given may not have had.

`INTERVAL`: months, days and microseconds. Intervals order by their span, in which a month has 30
days and a day 24 hours; of equal spans by months, then days.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import pyarrow as pa

UUID: pa.DataType = pa.uuid()
JSON: pa.DataType = pa.json_()
NUMERIC: pa.DataType = pa.decimal128(38, 18)
INTERVAL: pa.DataType = pa.month_day_nano_interval()


class Interval(NamedTuple):
    """A length of time in three parts, each of either sign: months, days and microseconds."""

    months: int
    days: int
    micros: int


_month_day_nano: Any = pa.MonthDayNano
_MOST_MICROS = (2**63 - 1) // 1000


def interval_constant(value: Interval) -> tuple[Any, ...]:
    """Convert an interval to Arrow's, in nanoseconds; raises ValueError if that overflows.

    >>> tuple(interval_constant(Interval(1, 2, 3)))
    (1, 2, 3000)
    """
    days = (value.months, value.days)
    if abs(value.micros) > _MOST_MICROS or not all(-(2**31) <= d < 2**31 for d in days):
        raise ValueError("out of range")
    constant: tuple[Any, ...] = _month_day_nano([value.months, value.days, value.micros * 1000])
    return constant


def arrow_array(values: Sequence[Any], type_: pa.DataType) -> pa.Array:
    """Make an array as `pa.array` does, and also of lists and structs of UUIDs and documents.

    >>> arrow_array([["{}"], None], pa.list_(JSON)).null_count
    1
    """
    if isinstance(type_, pa.StructType):
        fields = [
            arrow_array([None if v is None else v[f.name] for v in values], f.type) for f in type_
        ]
        missing = pa.array([v is None for v in values], pa.bool_())
        structs: pa.Array = pa.StructArray.from_arrays(fields, fields=list(type_), mask=missing)
        return structs
    if not isinstance(type_, pa.ListType):
        return pa.array(values, type_)
    elements = arrow_array([e for v in values if v is not None for e in v], type_.value_type)
    lengths = (0 if v is None else len(v) for v in values)
    ends = pa.array(list(accumulate(lengths, initial=0)), pa.int32())
    absent = pa.array([v is None for v in values], pa.bool_())
    lists: pa.Array = pa.ListArray.from_arrays(ends, elements, type=type_, mask=absent)
    return lists
