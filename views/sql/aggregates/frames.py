"""Binds window frames: ROWS, GROUPS or RANGE BETWEEN two constant ends, without some rows.

The ends of a RANGE are distances in the one column ordered by, in its type or, of dates, moments
and times of day, as an interval. Months are those of the calendar; a time zone's days all have 24
hours. Of an interval that is a distance between intervals, a month has 30 days, as they compare; of
one between times of day only the part below a day counts.
"""

import math
from decimal import Decimal
from typing import get_args

import pyarrow as pa
from sqlglot import exp

from ivm.constants import computed
from ivm.dataflow.aggregates import UP_TO_PEERS, Calendar, End, Exclusion, Frame, FrameUnit
from ivm.dataflow.expressions import Call, Expression, Literal
from ivm.values.types import INTERVAL, Interval, interval_constant
from views.errors import InvalidLiteral, SqlSyntaxError
from views.plan.scalars import columns_of
from views.sql.base.binder import Binder, name
from views.sql.base.coercion import BIGINT, Bound, is_integer, scale_of
from views.sql.base.computations import Ordering

_DAY = 86_400_000_000  # microseconds
_MONTH = 30  # days, as intervals compare
_VARIES = "{} that varies (write a constant, or join the table with itself on the distance)"


def bind_frame(b: Binder, node: exp.WindowSpec | None, order: tuple[Ordering, ...]) -> Frame:
    """Binds the frame `node` (None: the default) over the rows in `order`."""
    if node is None:
        return UP_TO_PEERS
    b.session.source.only(node, ("kind", "start", "start_side", "end", "end_side", "exclude"))
    unit = _unit(str(node.args["kind"]))
    start_side = _side(node.args["start"], node.args.get("start_side"))
    end_side = _side(node.args.get("end") or "CURRENT ROW", node.args.get("end_side"))
    _check_sides(b, node, start_side, end_side)
    if unit == "groups" and not order:
        raise b.fault(SqlSyntaxError, "GROUPS needs an ORDER BY", node)
    start = _end(b, node.args["start"], start_side, unit, order, toward=start_side < 0)
    end = _end(b, node.args.get("end") or "CURRENT ROW", end_side, unit, order, toward=end_side > 0)
    return Frame(unit, start, end, _exclusion(node.args.get("exclude")))


def _exclusion(given: exp.Expr | None) -> Exclusion:
    left_out = "no others" if given is None else given.name.lower()
    return next(each for each in get_args(Exclusion) if each == left_out)


def _unit(kind: str) -> FrameUnit:
    unit = kind.lower()
    return next(u for u in get_args(FrameUnit) if u == unit)


def _side(end: exp.Expr | str, side: str | None) -> int:
    """Ranks an end: -2 for UNBOUNDED PRECEDING to 2 for UNBOUNDED FOLLOWING."""
    if side is None:
        return 0
    away = 2 if end == "UNBOUNDED" else 1
    return away if side.upper() == "FOLLOWING" else -away


def _check_sides(b: Binder, node: exp.WindowSpec, start: int, end: int) -> None:
    """Refuse ends that PostgreSQL's grammar has in no such order."""
    if start == 2 or end == -2:
        raise b.fault(
            SqlSyntaxError, "a frame cannot start at its last row, nor end at its first", node
        )
    if start > end:
        raise b.fault(SqlSyntaxError, "the frame ends on a side before that of its start", node)


def _end(
    b: Binder,
    end: exp.Expr | str,
    side: int,
    unit: FrameUnit,
    order: tuple[Ordering, ...],
    toward: bool,
) -> End:
    """One end, counted from the row on. Of a distance between two values of the type, the nearer
    one is meant if the frame lies `toward` the row from here, else the farther one."""
    if abs(side) == 2:
        return None
    if side == 0 or isinstance(end, str):
        return 0
    if unit == "range":
        away = _distance(b, end, order, toward)
        if isinstance(away, Calendar):
            return Calendar(side * away.months, side * away.micros)
    else:
        away = constant(b, end, f"an end of {unit.upper()}", least=0)
    return side * away


def _distance(
    b: Binder, node: exp.Expr, order: tuple[Ordering, ...], toward: bool
) -> int | float | Calendar:
    if len(order) != 1:
        raise b.fault(SqlSyntaxError, "RANGE with an offset needs one ORDER BY column", node)
    kind = order[0].value.type
    bound = b.bind(node)
    if pa.types.is_temporal(kind):
        months, days, micros = _interval(b, bound, node, "an end of RANGE")
        if pa.types.is_time(kind):
            months = days = 0
        micros += days * _DAY
        _check_sign(b, months * _MONTH * _DAY + micros, node)
        if months and kind != INTERVAL:
            return Calendar(months, micros)
        micros += months * _MONTH * _DAY
        away: Decimal | float = Decimal(micros) / (_DAY if pa.types.is_date(kind) else 1)
    else:
        away = _number(b, bound, kind, node)
        _check_sign(b, away, node)
    if isinstance(away, float):
        return away
    return math.floor(away) if toward else math.ceil(away)


def _check_sign(b: Binder, away: Decimal | float, node: exp.Expr) -> None:
    if away < 0 or away != away:
        raise b.fault(InvalidLiteral, "an end of RANGE must not be negative", node)


def _interval(b: Binder, bound: Bound, node: exp.Expr, what: str) -> tuple[int, int, int]:
    """The months, days and microseconds of an interval."""
    given = _folded(b.typed(bound, INTERVAL, node))
    if given.type != INTERVAL:
        raise b.mismatch(f"{what} must be an interval here, not {name(given)}", node)
    if not isinstance(given, Literal) or not isinstance(given.value, tuple):
        raise b.session.source.unsupported(_VARIES.format(what), node)
    months, days, nanos = given.value
    return int(months), int(days), int(nanos // 1000)


def length(b: Binder, node: exp.Expr, what: str, *, positive: bool = True) -> Literal:
    """Reads `node` as a constant interval, which is above 0 if it must be `positive`."""
    months, days, micros = _interval(b, b.bind(node), node, what)
    if positive and (months * _MONTH + days) * _DAY + micros <= 0:
        raise b.fault(InvalidLiteral, f"{what} must be above 0", node)
    return Literal(interval_constant(Interval(months, days, micros)), INTERVAL)


def _number(b: Binder, bound: Bound, kind: pa.DataType, node: exp.Expr) -> Decimal | float:
    """The distance in units of the last place of `kind`, an exact number, or a float."""
    value = _folded(b.typed(bound, kind, node))
    if not isinstance(value, Literal):
        raise b.session.source.unsupported(_VARIES.format("an end of RANGE"), node)
    if isinstance(value.value, int | float | Decimal) and not isinstance(value.value, bool):
        if pa.types.is_floating(kind):
            return float(value.value)
        if is_integer(kind) and is_integer(value.type):
            return Decimal(value.value)
        if pa.types.is_decimal(kind) and not pa.types.is_floating(value.type):
            return Decimal(value.value).scaleb(scale_of(kind))
    raise b.mismatch(f"no RANGE of {name(value)} over a column that has another type", node)


def number(
    b: Binder, node: exp.Expr, what: str, least: int | None = None
) -> tuple[int, Expression | None]:
    """Reads `node` as a whole number: a constant, or else an expression for each row."""
    value = _folded(b.as_type(node, BIGINT, what))
    if isinstance(value, Literal) and value.value is not None:
        return constant(b, node, what, least), None
    return 1, value


def _folded(value: Expression) -> Expression:
    """Computes a constant expression."""
    return computed(value) if isinstance(value, Call) and not columns_of(value) else value


def constant(b: Binder, node: exp.Expr, what: str, least: int | None = None) -> int:
    """Reads `node` as a constant whole number that is at least `least`."""
    value = _folded(b.as_type(node, BIGINT, what))
    if not isinstance(value, Literal):
        raise b.session.source.unsupported(_VARIES.format(what), node)
    if not isinstance(value.value, int) or (least is not None and value.value < least):
        below = "" if least is None else f" of at least {least}"
        raise b.fault(InvalidLiteral, f"{what} must be a number{below}", node)
    return value.value
