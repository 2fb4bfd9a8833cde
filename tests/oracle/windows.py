"""Window functions of one partition by their definitions, row by row."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any, TypeAlias

import pyarrow as pa

from ivm.dataflow import aggregates as agg
from ivm.dataflow import nodes as df
from tests.oracle.values import Outcome, Scalar, compare

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
                sizes = [n // call.count + (b < n % call.count) for b in range(call.count)]
                return next(b + 1 for b in range(call.count) if i < sum(sizes[: b + 1]))
            case "lag" | "lead":
                return self._neighbour(call, i)
        frame = [j for j in range(n) if self._in_frame(call.frame, i, j)]
        return self._over(call, frame)

    def _neighbour(self, call: agg.WindowCall, i: int) -> Outcome:
        assert call.column is not None
        there = i + (call.count if call.function == "lead" else -call.count)
        if 0 <= there < len(self.rows):
            return self.rows[there][call.column]
        return None if call.default is None else self.rows[i][call.default]

    def _over(self, call: agg.WindowCall, frame: Sequence[int]) -> Outcome:
        if call.function in ("first_value", "last_value", "nth_value"):
            assert call.column is not None
            at = {"first_value": 0, "last_value": len(frame) - 1}.get(call.function, call.count - 1)
            return self.rows[frame[at]][call.column] if 0 <= at < len(frame) else None
        spec = agg.Aggregate(
            call.function,  # type: ignore[arg-type]
            call.column,
            call.name,
            call.type,
            call.nullable,
            call.other,
        )
        return self.aggregate(spec, [(self.rows[j], 1) for j in frame])

    def _in_frame(self, frame: agg.Frame, i: int, j: int) -> bool:
        start, end = frame.start, frame.end
        if frame.unit == "rows":
            away = j - i
        elif frame.unit == "groups" or not (start or end):
            away = self.peers[j] - self.peers[i]
        else:
            return self._in_range(start, end, i, j)
        return (start is None or away >= start) and (end is None or away <= end)

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


def _moved(value: Any, distance: Any, kind: pa.DataType) -> Any:
    """`value` plus a distance in the units of `agg.Frame`."""
    if pa.types.is_date(kind):
        return value + timedelta(days=distance)
    if pa.types.is_timestamp(kind):
        return value + timedelta(microseconds=distance)
    if isinstance(kind, pa.Decimal128Type):
        return value + Decimal(distance).scaleb(-kind.scale)
    return value + distance
