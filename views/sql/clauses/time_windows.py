"""Binds TUMBLE, HOP and SESSION in FROM: a table's rows with the windows of time that they lie in.

Each row has two columns more, `window_start` and `window_end`, between which its time lies, the
start included. Windows of TUMBLE and HOP begin at multiples of the size, or of the hop, from
1970-01-01 00:00 on, or from an offset to that. A row without a time has no window: TUMBLE says
NULL, HOP and SESSION leave it out.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

import pyarrow as pa
from sqlglot import exp

from ivm.dataflow.expressions import Expression, Literal
from ivm.values.types import INTERVAL, Interval, interval_constant
from views.plan.nodes import Attribute, Filter, Map, Plan, Unnest
from views.plan.scalars import call, predicate, test
from views.sql.aggregates.frames import length
from views.sql.base.binder import Binder, name
from views.sql.base.coercion import BIGINT, DATE, TIMESTAMP, TIMESTAMPTZ, cast, is_temporal
from views.sql.base.computations import Ordering
from views.sql.clauses.sessions import sessions
from views.sql.functions.moving import shifted
from views.sql.source.time_windows import TimeWindow

_EPOCH = {
    TIMESTAMP: Literal(datetime(1970, 1, 1), TIMESTAMP),
    TIMESTAMPTZ: Literal(datetime(1970, 1, 1, tzinfo=UTC), TIMESTAMPTZ),
}
_LENGTHS = {
    "TUMBLE": ("size",),
    "HOP": ("hop", "size"),
    "SESSION": ("gap",),
}
Windowed = tuple[Plan, Attribute, Attribute]
"""A plan, with the columns of the windows' starts and ends."""


def called(node: exp.Expr) -> TimeWindow | None:
    """The time window that `node` calls, in Flink's `TABLE(…)` or not, if it is one."""
    if isinstance(node, exp.Anonymous) and node.name.upper() == "TABLE":
        node = node.expressions[0] if len(node.expressions) == 1 else node
    return node if isinstance(node, TimeWindow) else None


def windowed(b: Binder, plan: Plan, node: TimeWindow) -> Windowed:
    """Gives the rows of `plan`, whose columns `b` knows, the windows that `node` calls."""
    kind = node.args["kind"]
    time = _time(b, node.args["time"], kind)
    keys = tuple(b.value(key) for key in node.args.get("partition_by") or ())
    if keys and kind != "SESSION":
        raise b.session.source.unsupported(f"PARTITION BY in {kind} (group by the key)", node)
    lengths, offset = _lengths(b, node, kind)
    match kind:
        case "TUMBLE":
            return _tumble(b, plan, time, lengths[0], offset)
        case "HOP":
            return _hop(b, plan, time, lengths, offset)
        case _:
            rows = Filter(plan, test("is_not_null", time)) if time.nullable else plan
            return sessions(b.session, rows, keys, Ordering(time, False, False), lengths[0])


def _time(b: Binder, node: exp.Expr, kind: str) -> Expression:
    """The moment of a row, from the column of time."""
    time = b.value(node)
    if not is_temporal(time.type):
        raise b.mismatch(f"{kind} takes a column of dates or moments, not {name(time)}", node)
    return cast(time, TIMESTAMP) if time.type == DATE else time


def _lengths(b: Binder, node: TimeWindow, kind: str) -> tuple[list[Literal], Literal | None]:
    """The lengths of a kind's windows, and the offset, which SESSION does not have."""
    names, given = _LENGTHS[kind], node.expressions
    optional = 0 if kind == "SESSION" else 1
    if not len(names) <= len(given) <= len(names) + optional:
        expected = ", ".join(["table", "time", *names, *(["offset"] if optional else [])])
        raise b.mismatch(f"{kind} takes ({expected})", node)
    lengths = [length(b, each, f"the {n} of {kind}") for n, each in zip(names, given, strict=False)]
    rest = given[len(names) :]
    offset = length(b, rest[0], f"the offset of {kind}", positive=False) if rest else None
    if kind != "SESSION":
        for value, each in zip((*lengths, offset), given, strict=False):
            if value is not None and _parts(value)[0]:
                raise b.session.source.unsupported(
                    f"{kind} by months (group by date_trunc('month', …))", each
                )
    return lengths, offset


def _tumble(
    b: Binder, plan: Plan, time: Expression, size: Literal, offset: Literal | None
) -> Windowed:
    start = _multiple(time, size, offset)
    begun, attribute = _with(b, plan, "window_start", start)
    return _ended(b, begun, attribute, size)


def _hop(
    b: Binder, plan: Plan, time: Expression, lengths: Sequence[Literal], offset: Literal | None
) -> Windowed:
    """The row once for each window: it lies in those that begin within the size before it."""
    hop, size = lengths
    last = _multiple(time, hop, offset)
    every, whole = _micros(hop), _micros(size)
    first = shifted(last, _interval((-(-whole // every) - 1) * -every))
    starts = call("moment_series", first, last, hop, result=pa.list_(time.type))
    start = b.session.numbers.new("window_start", time.type, False)
    position = b.session.numbers.new("ordinality", BIGINT, False)
    rows: Plan = Unnest(plan, (starts,), (start,), position)
    if whole % every:
        rows = Filter(rows, predicate("gt", shifted(start.column, size), time))
    return _ended(b, rows, start, size)


def _ended(b: Binder, plan: Plan, start: Attribute, size: Literal) -> Windowed:
    plan, end = _with(b, plan, "window_end", shifted(start.column, size))
    return plan, start, end


def _with(b: Binder, plan: Plan, called: str, value: Expression) -> tuple[Plan, Attribute]:
    """The plan with a column more."""
    attribute = b.session.numbers.fresh(called, value)
    return Map(plan, (*((a, a.column) for a in plan.attributes), (attribute, value))), attribute


def _multiple(time: Expression, size: Literal, offset: Literal | None) -> Expression:
    """The last multiple of `size` that is not after `time`."""
    origin: Expression = _EPOCH[time.type]
    if offset is not None:
        origin = shifted(origin, offset)
    return call("date_bin", size, time, origin, result=time.type)


def _parts(value: Literal) -> tuple[int, int, int]:
    assert isinstance(value.value, tuple)
    months, days, nanos = value.value
    return months, days, nanos


def _micros(value: Literal) -> int:
    """The length of an interval without months."""
    _, days, nanos = _parts(value)
    return days * 86_400_000_000 + nanos // 1000


def _interval(micros: int) -> Literal:
    return Literal(interval_constant(Interval(0, 0, micros)), INTERVAL)
