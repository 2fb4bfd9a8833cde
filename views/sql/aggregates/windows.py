"""Binds window functions: the clauses of OVER, and the calls that a query computes over its rows.

They see the rows that WHERE, GROUP BY and HAVING leave, and stand in the select list and ORDER BY.
An aggregate over a window is bound as any other; its computations become calls over the window
instead of a grouped query's, and its values are in the order of the window.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
from sqlglot import exp

from ivm.dataflow.aggregates import Frame, WindowFunction, is_window_function
from ivm.dataflow.expressions import Expression
from views.errors import DuplicateColumn, GroupingError, UnknownTable
from views.plan.nodes import Attribute
from views.sql.aggregates.calls import ordering
from views.sql.aggregates.frames import bind_frame, length, number
from views.sql.base.binder import Binder, Handler
from views.sql.base.coercion import BIGINT, DOUBLE, INT, Bound, is_temporal
from views.sql.base.computations import Aggregates, Ordering, WindowUse
from views.sql.source.text import describe
from views.sql.source.time_windows import SessionFrame, TimeWindow

_NUMBERS: dict[type[exp.Expr], tuple[WindowFunction, pa.DataType]] = {
    exp.RowNumber: ("row_number", BIGINT),
    exp.Rank: ("rank", BIGINT),
    exp.DenseRank: ("dense_rank", BIGINT),
    exp.PercentRank: ("percent_rank", DOUBLE),
    exp.CumeDist: ("cume_dist", DOUBLE),
    exp.Ntile: ("ntile", INT),
}
_VALUES: dict[type[exp.Expr], WindowFunction] = {
    exp.FirstValue: "first_value",
    exp.LastValue: "last_value",
    exp.NthValue: "nth_value",
    exp.Lag: "lag",
    exp.Lead: "lead",
}


WHOLE = Frame("rows", None, None)
_VALUES_ONLY = (
    "anything but lag, lead, first_value, last_value and nth_value"
    " (write FILTER (WHERE … IS NOT NULL) behind an aggregate)"
)


@dataclass(frozen=True, slots=True)
class Shape:
    """The clauses of a window, with those that it takes over from another one by name."""

    keys: Sequence[exp.Expr]
    order: Sequence[exp.Ordered]
    frame: exp.WindowSpec | None


def window(b: Binder, node: exp.Window) -> Bound:
    """Binds `function(…) OVER (…)`."""
    if b.windows is None:
        raise b.fault(GroupingError, f"a window function cannot stand in {b.clause}", node)
    given = node.this
    says_nulls = isinstance(given, exp.IgnoreNulls | exp.RespectNulls)
    called = given.this if says_nulls else given
    kind = type(called)
    inner = replace(b, clause="a window function", windows=None, set_calls=None)
    if kind in _VALUES:
        use = _of_value(inner, node, called, _VALUES[kind])
        b.windows.append(replace(use, skips_nulls=isinstance(given, exp.IgnoreNulls)))
        return use.attribute.column
    if says_nulls:
        raise b.session.source.unsupported(f"IGNORE NULLS or RESPECT NULLS of {_VALUES_ONLY}", node)
    if kind not in _NUMBERS:
        return _aggregate(b, inner, node)
    function, result = _NUMBERS[kind]
    count, varies = 1, None
    if kind is exp.Ntile:
        count, varies = _positive(inner, called, called.this)
    b.session.source.only(called, ("this",) if kind is exp.Ntile else ())
    attribute = b.session.numbers.new(function, result, varies is not None)
    over = _over(inner, node, attribute, function)
    b.windows.append(replace(over, count=count, varies=varies))
    return attribute.column


def _over(b: Binder, node: exp.Window, attribute: Attribute, function: WindowFunction) -> WindowUse:
    """A call of `function` over the window that `node` describes."""
    shape = _shape(b, node, list(b.windows_named))
    keys = tuple(b.value(key) for key in shape.keys)
    order = ordering(b, shape.order)
    use = WindowUse(keys, order, attribute, function)
    if isinstance(shape.frame, SessionFrame):
        return replace(use, frame=WHOLE, gap=_gap(b, shape.frame, order))
    return replace(use, frame=bind_frame(b, shape.frame, order))


def _gap(b: Binder, frame: SessionFrame, order: tuple[Ordering, ...]) -> Expression:
    """Binds the gap of SESSION WITH GAP, over the rows in `order`."""
    if len(order) != 1 or not is_temporal(order[0].value.type):
        raise b.mismatch("SESSION WITH GAP needs one ORDER BY column of dates or moments", frame)
    return length(b, frame.args["gap"], "the gap of a session")


def _shape(b: Binder, node: exp.Window, visible: Sequence[str]) -> Shape:
    """Reads the clauses of `node`, which may name one of the windows `visible`."""
    b.session.source.only(node, _READ)
    order = node.args.get("order")
    keys = node.args.get("partition_by") or ()
    own = Shape(keys, order.expressions if order is not None else (), node.args.get("spec"))
    alias = node.args.get("alias")
    if alias is None:
        return own
    if alias.name not in visible:
        raise b.fault(UnknownTable, f"no window {alias.name!r} in WINDOW", node)
    before = visible[: visible.index(alias.name)]
    base = _shape(b, b.windows_named[alias.name], before)
    twice = "PARTITION BY" if own.keys else "a second ORDER BY" if own.order and base.order else ""
    if base.frame is not None and (own.order or own.frame):
        twice = "more clauses, as it has a frame"
    if twice:
        raise b.session.source.unsupported(f"giving the window {alias.name!r} {twice}", node)
    return Shape(base.keys, own.order or base.order, own.frame or base.frame)


def check_named(b: Binder, nodes: Sequence[exp.Window]) -> None:
    """Checks that the windows of WINDOW have different names and can be bound, used or not."""
    names = [node.name for node in nodes]
    for i, node in enumerate(nodes):
        if node.name in names[:i]:
            raise b.fault(DuplicateColumn, f"WINDOW defines {node.name!r} twice", node)
        shape = _shape(b, node, names[:i])
        for key in shape.keys:
            b.value(key)
        order = ordering(b, shape.order)
        if isinstance(shape.frame, SessionFrame):
            _gap(b, shape.frame, order)
        else:
            bind_frame(b, shape.frame, order)


def _of_value(b: Binder, node: exp.Window, given: exp.Expr, function: WindowFunction) -> WindowUse:
    """A call for a value of another row: `lag(value [, count [, default]])` and the like."""
    parts = {"nth_value": ("this", "offset"), "lag": ("this", "offset", "default")}
    b.session.source.only(given, parts.get("lag" if function == "lead" else function, ("this",)))
    default: Expression | None = None
    if given.args.get("default") is None:
        argument = b.value(given.this)
    else:
        argument, default = b.same_type([given.this, given.args["default"]], f"{function}()")
    count, varies, offset = 1, None, given.args.get("offset")
    if function == "nth_value":
        count, varies = _positive(b, given, offset)
    elif offset is not None:
        count, varies = number(b, offset, f"the distance of {function}()")
    attribute = b.session.numbers.new(function, argument.type, True)
    over = _over(b, node, attribute, function)
    return replace(over, argument=argument, default=default, count=count, varies=varies)


def _positive(
    b: Binder, function: exp.Expr, count: exp.Expr | None
) -> tuple[int, Expression | None]:
    what = f"the number of {describe(function)}"
    if count is None:
        raise b.session.source.unsupported(f"{describe(function)} without a number", function)
    return number(b, count, what, least=1)


def _aggregate(b: Binder, inner: Binder, node: exp.Window) -> Bound:
    """An aggregate over a window, whose argument may hold aggregates of the query itself."""
    assert b.windows is not None
    if isinstance(node.this, exp.WithinGroup):
        raise b.session.source.unsupported(
            "WITHIN GROUP over a window (join the table with its groups, which have it)", node
        )
    if not isinstance(node.this, exp.AggFunc | exp.Filter | exp.Anonymous):
        raise b.fault(GroupingError, f"{describe(node.this)} is no window function", node)
    found = Aggregates()
    made = replace(inner, aggregates=found, enclosing=b.aggregates or Aggregates())
    bound = made.bind(node.this)
    b.pending.extend(found.pending)
    for computation, attribute in found.calls.items():
        function, parameter = computation.function, computation.parameter
        if not is_window_function(function) or computation.order:
            raise b.session.source.unsupported(
                f"{describe(node.this)} over a window (first_value() takes a value in an order)",
                node,
            )
        assert not isinstance(parameter, float)  # of percentiles, which no window has
        b.windows.append(
            replace(
                _over(inner, node, attribute, function),
                argument=computation.argument,
                other=computation.other,
                where=computation.where,
                parameter=parameter,
            )
        )
    return bound


def _alone(b: Binder, node: exp.Func) -> Bound:
    raise b.fault(GroupingError, f"{describe(node)} needs an OVER clause", node)


def _outside_from(b: Binder, node: TimeWindow) -> Bound:
    kind = node.args["kind"]
    raise b.session.source.unsupported(
        f"{kind} outside FROM (write FROM {kind}(table, column, …), and window_start here)", node
    )


_READ = ("this", "partition_by", "order", "over", "alias", "spec")
HANDLERS: dict[type[exp.Expr] | str, Handler] = {
    exp.Window: Handler(window, _READ),
    TimeWindow: Handler(_outside_from, ("this", "kind", "partition_by", "time", "expressions")),
    **{
        kind: Handler(_alone, ("this", "expressions", "offset", "default"))
        for kind in (*_NUMBERS, *_VALUES)
    },
}
