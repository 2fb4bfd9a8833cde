"""Keys that are intervals, in their normal form: to SQL 1 month and 30 days are one key.

>>> key = pa.array([interval_constant(Interval(0, 45, 0))], INTERVAL)
>>> rows = pa.RecordBatch.from_arrays([key], ["span"])
>>> tuple(normal_keys(rows, ["span"])["span"][0].as_py())
(1, 15, 0)
"""

from collections.abc import Sequence

import pyarrow as pa

from ivm.values.intervals import normal
from ivm.values.types import INTERVAL, Interval, interval_constant


def normal_keys(rows: pa.RecordBatch, key: Sequence[str]) -> pa.RecordBatch:
    """Give the rows with the intervals of their key in normal form; others are not copied."""
    for name in key:
        at = rows.schema.get_field_index(name)
        if rows.schema.field(at).type == INTERVAL:
            rows = rows.set_column(at, rows.schema.field(at), _normal(rows.column(at)))
    return rows


def _normal(column: pa.Array) -> pa.Array:
    values = []
    for value in column.to_pylist():
        if value is not None:
            months, days, nanos = value
            value = interval_constant(normal(Interval(months, days, nanos // 1000)))
        values.append(value)
    return pa.array(values, INTERVAL)
