"""Window functions of one partition by their definitions, row by row."""

from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import accumulate
from typing import Any, TypeAlias

import pyarrow as pa

from ivm.dataflow import aggregates as agg
from ivm.dataflow import nodes as df
from tests.oracle.calendar import add_months
from tests.oracle.values import Error, Outcome, Scalar, compare

Row: TypeAlias = tuple[Scalar, ...]
Aggregate = Callable[[agg.Aggregate, Sequence[tuple[Row, int]]], Outcome]


class Partition:
    """The rows of one partition in order; `peers[i]` numbers the group of row i."""

    def __init__(
        self, node: df.Window, rows: Sequence[Row], peers: Sequence[int], aggregate: Aggregate
    ) -> None:
        self.node = node
        self.rows = rows
        self.peers = peers
        self.aggregate = aggregate
        self.calendars: dict[agg.Frame, tuple[list[int], list[int]]] = {}

    def results(self, i: int) -> list[Outcome]:
        """What every call makes of row i."""
        return [self._result(call, i) for call in self.node.calls]

    def _result(self, call: agg.WindowCall, i: int) -> Outcome:
        n, rank = len(self.rows), self.peers.index(self.peers[i]) + 1
        match call.function:
            case "row_number":
                return i + 1
            case "rank":
                return rank
            case "dense_rank":
                return self.peers[i] + 1
            case "percent_rank":
                return (rank - 1) / (n - 1) if n > 1 else 0.0
            case "cume_dist":
                return sum(p <= self.peers[i] for p in self.peers) / n
            case "ntile":
                return self._bucket(call, i)
            case "lag" | "lead":
                return self._neighbour(call, i)
        frame = [
            j
            for j in range(n)
            if self._in_frame(call.frame, i, j) and not self._left_out(call.frame, i, j)
        ]
        return self._over(call, i, frame)

    def _number(self, call: agg.WindowCall, i: int) -> Any:
        """What a call counts with in row i; None for NULL."""
        return call.count if call.varies is None else self.rows[i][call.varies]

    def _bucket(self, call: agg.WindowCall, i: int) -> Outcome:
        n = len(self.rows)
        begun = next((j for j in range(n) if self._number(call, j) is not None), n)
        if i < begun:
            return None
        count = self._number(call, begun)
        if count < 1:
            return Error("the number of ntile() or nth_value() is below 1")
        size, larger = divmod(n, count)
        if i - begun < larger * (size + 1):
            return int((i - begun) // (size + 1) + 1)
        return int(larger + (i - begun - larger * (size + 1)) // size + 1)

    def _counting(self, call: agg.WindowCall, among: Sequence[int]) -> list[int]:
        """Those of the rows `among` whose value counts."""
        assert call.column is not None
        return [j for j in among if not call.skips_nulls or self.rows[j][call.column] is not None]

    def _neighbour(self, call: agg.WindowCall, i: int) -> Outcome:
        assert call.column is not None
        column, away, n = call.column, self._number(call, i), len(self.rows)
        if away is None:
            return None
        away = int(away) if call.function == "lead" else -int(away)
        before = self._counting(call, range(i))[::-1]
        after = self._counting(call, range(i + 1, n))
        side = after if away > 0 else before
        if away == 0:
            return self.rows[i][column]
        n = abs(away) - 1
        if n < len(side):
            return self.rows[side[n]][column]
        return None if call.default is None else self.rows[i][call.default]

    def _over(self, call: agg.WindowCall, i: int, frame: Sequence[int]) -> Outcome:
        assert call.column is not None or call.function == "count"
        if call.function in ("first_value", "last_value", "nth_value"):
            frame, number = self._counting(call, frame), self._number(call, i)
            if call.function == "nth_value" and number is not None and number < 1:
                return Error("the number of ntile() or nth_value() is below 1")
            last = len(frame) - 1
            at = {"first_value": 0, "last_value": last}.get(call.function, (number or 0) - 1)
            return self.rows[frame[at]][call.column or 0] if 0 <= at <= last else None
        if call.function in ("list", "join"):
            kept = [j for j in frame if call.where is None or self.rows[j][call.where] is True]
            values = [self.rows[j][call.column or 0] for j in kept]
            if call.function == "join":
                texts = [str(v) for v in values if v is not None]
                return str(call.parameter or "").join(texts) if texts else None
            return tuple(values) or None
        spec = agg.Aggregate(
            call.function,  # type: ignore[arg-type]
            call.column,
            call.name,
            call.type,
            call.nullable,
            call.other,
        )
        return self.aggregate(spec, [(self.rows[j], 1) for j in frame])

    def _left_out(self, frame: agg.Frame, i: int, j: int) -> bool:
        is_peer = self.peers[i] == self.peers[j]
        match frame.exclude:
            case "no others":
                return False
            case "current row":
                return i == j
            case "group":
                return is_peer
            case "ties":
                return is_peer and i != j

    def _in_frame(self, frame: agg.Frame, i: int, j: int) -> bool:
        start: Any = frame.start
        end: Any = frame.end
        if frame.unit == "rows":
            away = j - i
        elif frame.unit == "groups" or not (start or end):
            away = self.peers[j] - self.peers[i]
        elif isinstance(start, agg.Calendar) or isinstance(end, agg.Calendar):
            return self._in_calendar(frame, i, j)
        else:
            return self._in_range(start, end, i, j)
        return (start is None or away >= start) and (end is None or away <= end)

    def _in_calendar(self, frame: agg.Frame, i: int, j: int) -> bool:
        """PostgreSQL's frames, whose ends never go back from row to row."""
        if self.rows[i][self.node.order[0].column] is None:
            away = self.peers[j] - self.peers[i]
            return (frame.start is None or away >= 0) and (frame.end is None or away <= 0)
        if frame not in self.calendars:
            rows = range(len(self.rows))
            starts = [sum(self._lies_before(frame.start, r, k, False) for k in rows) for r in rows]
            ends = [sum(self._lies_before(frame.end, r, k, True) for k in rows) for r in rows]
            self.calendars[frame] = (list(accumulate(starts, max)), list(accumulate(ends, max)))
        starts, ends = self.calendars[frame]
        return (frame.start is None or j >= starts[i]) and (frame.end is None or j < ends[i])

    def _lies_before(self, end: agg.End, i: int, j: int, or_at: bool) -> bool:
        """Whether row j lies before what is so far from row i."""
        order = self.node.order[0]
        here: Any = self.rows[i][order.column]
        there: Any = self.rows[j][order.column]
        if here is None or there is None or end is None:
            return here is not None and there is None and order.nulls_first
        sign = -1 if order.descending else 1
        moved = end if isinstance(end, agg.Calendar) else agg.Calendar(0, int(end))
        if isinstance(end, int) and not isinstance(here, datetime):
            moved = agg.Calendar(0, end * 86_400_000_000)
        target = add_months(pa.timestamp("us"), _moment(here), sign * moved.months)
        assert isinstance(target, datetime)
        target += timedelta(microseconds=sign * moved.micros)
        away = sign * ((_moment(there) > target) - (_moment(there) < target))
        return away < 0 or (or_at and away == 0)

    def _in_range(self, start: Any, end: Any, i: int, j: int) -> bool:
        order = self.node.order[0]
        here, there = self.rows[i][order.column], self.rows[j][order.column]
        sign = -1 if order.descending else 1

        def lies(distance: Any) -> int:
            """How row j lies to what is so far from row i."""
            if here is None or there is None:
                return self.peers[j] - self.peers[i]
            kind = self.node.input.schema.field(order.column).type
            return sign * compare(there, _moved(here, sign * distance, kind))

        return (start is None or lies(start) >= 0) and (end is None or lies(end) <= 0)


def _moment(value: date) -> datetime:
    return value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)


def _moved(value: Any, distance: Any, kind: pa.DataType) -> Any:
    """`value` plus a distance in the units of `agg.Frame`."""
    if pa.types.is_date(kind):
        return value + timedelta(days=distance)
    if pa.types.is_timestamp(kind):
        return value + timedelta(microseconds=distance)
    if isinstance(kind, pa.Decimal128Type):
        return value + Decimal(distance).scaleb(-kind.scale)
    return value + distance
