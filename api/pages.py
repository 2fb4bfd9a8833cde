"""Pages of a snapshot: rows in the order of a view's key, cut at a cursor.

A cursor holds the last row's values, not a position, so paging goes on at the right place even if
rows came and went between two pages.
"""

import math
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from api.errors import BadParameter, TooManyCopies
from api.values import parse
from connectors.sinks.json_rows import json_rows, json_values
from ivm.results import Snapshot
from ivm.values.intervals import span
from ivm.values.types import INTERVAL, JSON, UUID, Interval, arrow_array

_LOWEST = 10**25  # beyond the spans of all intervals
# Rows of a page, with their copies.
MOST_COPIES = 1_000_000


@dataclass(frozen=True, slots=True)
class Page:
    """JSON rows, each as often as the view holds it; `next` is the cursor of the next page."""

    rows: list[dict[str, Any]]
    next: str | None


def matching(snapshot: Snapshot, values: Mapping[str, Any]) -> Snapshot:
    """The snapshot with those rows alone that have these column values.

    Intervals are equal by their span, as `1 month` and `30 days` are. A row that the input deleted
    more often than it inserted is not there.
    """
    kept = snapshot.counts > 0
    for name, value in values.items():
        column = snapshot.rows.column(name)
        wanted = arrow_array([value], column.type)
        if column.type == INTERVAL:
            column, wanted = _spans(column), _spans(wanted)
        equal = _equal(_comparable(column), _comparable(wanted)[0])
        kept &= pc.fill_null(equal, False).to_numpy(zero_copy_only=False)
    return snapshot if kept.all() else _kept(snapshot, kept)


def page(snapshot: Snapshot, key: Sequence[str], limit: int, cursor: str | None) -> Page:
    """At most `limit` of the distinct rows that `matching` gave.

    Raises BadParameter, and TooManyCopies where these are too many to be written out.
    """
    names = snapshot.rows.schema.names
    order = [*key, *(name for name in names if name not in key)]
    if snapshot.rows.num_rows > 1:
        snapshot = _sorted(snapshot, order)
    if cursor is not None:
        values = _read(cursor, snapshot.rows.schema, order)
        beyond = _beyond(snapshot.rows, order, values).to_numpy(zero_copy_only=False)
        snapshot = _kept(snapshot, beyond)
    more = snapshot.rows.num_rows > limit
    rows, counts = json_rows(snapshot.rows.slice(0, limit)), snapshot.counts[:limit]
    following = _cursor(rows[-1], order) if more else None
    if (counts != 1).any():
        _refuse_many(counts)
        rows = [rows[i] for i in np.repeat(np.arange(len(rows)), counts)]
    return Page(rows, following)


def _kept(snapshot: Snapshot, mask: NDArray[np.bool_]) -> Snapshot:
    rows = snapshot.rows.filter(pa.array(mask))
    return replace(snapshot, rows=rows, counts=snapshot.counts[mask])


def _sorted(snapshot: Snapshot, order: Sequence[str]) -> Snapshot:
    compared = pa.table({name: _comparable(snapshot.rows.column(name)) for name in order})
    places = pc.sort_indices(compared, sort_keys=[(name, "ascending") for name in order])
    rows = snapshot.rows.take(places)
    return replace(snapshot, rows=rows, counts=snapshot.counts[places.to_numpy()])


def _refuse_many(counts: NDArray[np.int64]) -> None:
    copies = sum(counts.tolist())
    if copies > MOST_COPIES:
        raise TooManyCopies(
            f"the rows of this page have {copies:,} copies, more than {MOST_COPIES:,} that are "
            "written out; ask for fewer rows by limit, or let a view count them: SELECT …, "
            "count(*) … GROUP BY …"
        )


def _cursor(row: Mapping[str, Any], order: Sequence[str]) -> str:
    return urlsafe_b64encode(orjson.dumps([row[name] for name in order])).decode()


def _read(cursor: str, schema: pa.Schema, order: Sequence[str]) -> list[Any]:
    try:
        values = orjson.loads(urlsafe_b64decode(cursor))
        if not isinstance(values, list) or len(values) != len(order):
            raise ValueError(cursor)
    except ValueError as error:
        raise BadParameter("this is no cursor of this view") from error
    return [
        None if value is None else parse(_text(value), schema.field(name))
        for name, value in zip(order, values, strict=True)
    ]


def _text(value: object) -> str:
    if isinstance(value, bool | list):
        return orjson.dumps(value).decode()
    return str(value)


def _spans(column: "pa.Array[Any]") -> "pa.Array[Any]":
    """The spans of intervals, in microseconds."""
    spans = [None if v is None else Decimal(span(_interval(v))) for v in column.to_pylist()]
    return pa.array(spans, pa.decimal128(38, 0))


def _interval(value: Any) -> Interval:
    months, days, nanos = value
    return Interval(months, days, nanos // 1000)


def _comparable(column: "pa.Array[Any]") -> "pa.Array[Any]":
    """`column`; values which Arrow does not compare as texts that are equal as they are.

    Intervals come in the order of their spans, then by their months and days.
    """
    if column.type == INTERVAL:
        keys = [None if v is None else _in_order(_interval(v)) for v in column.to_pylist()]
        return pa.array(keys, pa.string())
    if not (pa.types.is_list(column.type) or column.type in (UUID, JSON)):
        return column
    values = json_values(column)
    texts = [None if value is None else orjson.dumps(value).decode() for value in values]
    return pa.array(texts, pa.string())


def _in_order(value: Interval) -> str:
    """A text that compares as the interval, each number of one width and not negative."""
    numbers = (span(value), value.months, value.days)
    return " ".join(f"{number + _LOWEST:026}" for number in numbers)


def _literal(value: object, dtype: pa.DataType) -> Any:
    return _comparable(arrow_array([value], dtype))[0]


def _beyond(rows: pa.RecordBatch, order: Sequence[str], values: Sequence[Any]) -> "pa.Array[Any]":
    """A mask of the rows that come after the row `values`, columns in `order`, NULLs last."""
    equal: Any = pa.scalar(True)
    beyond: Any = pa.scalar(False)
    for name, value in zip(order, values, strict=True):
        column: Any = _comparable(rows.column(name))
        null: Any = pc.is_null(column)
        if value is not None:
            literal = _literal(value, rows.schema.field(name).type)
            greater = pc.or_(null, pc.fill_null(_greater(column, literal), False))
            beyond = pc.or_(beyond, pc.and_(equal, greater))
            same: Any = pc.fill_null(_equal(column, literal), False)
        else:
            same = null
        equal = pc.and_(equal, same)
    found: pa.Array[Any] = beyond
    return found


# Not-a-number equals itself and is greater than all numbers, as where rows are grouped and sorted.


def _equal(column: Any, literal: Any) -> Any:
    return pc.is_nan(column) if _is_nan(literal) else pc.equal(column, literal)


def _greater(column: Any, literal: Any) -> Any:
    if not pa.types.is_floating(column.type):
        return pc.greater(column, literal)
    if _is_nan(literal):
        return pc.less(column, column)  # nothing is
    return pc.or_(pc.greater(column, literal), pc.is_nan(column))


def _is_nan(literal: Any) -> bool:
    return pa.types.is_floating(literal.type) and math.isnan(literal.as_py())
