"""Finds sessions by window functions: the rows of a time column that follow each other closely.

A session is a run of rows that are at most a gap apart. With x the moment of a row, p that of the
row before it and n that of the one behind it: the row begins a session unless x <= p + gap, and
ends one, at x + gap, unless n <= x + gap. A row's session begins with the last row up to its peers
that begins one, and ends with the first from its peers on that ends one: with a gap of 10, the rows
1, 8, 15 and 40 are a session from 1 to 25 and one from 40 to 50.
"""

from collections.abc import Sequence
from dataclasses import replace

from ivm.dataflow.aggregates import UP_TO_PEERS, Frame, WindowFunction
from ivm.dataflow.expressions import Call, Expression, Literal
from views.plan.nodes import Attribute, Plan
from views.plan.scalars import predicate, test
from views.sql.aggregates.window_plans import computed
from views.sql.base.coercion import DATE, TIMESTAMP, cast
from views.sql.base.computations import Ordering, WindowUse
from views.sql.base.scope import Session
from views.sql.functions.moving import negated, shifted


def by_session(
    session: Session, plan: Plan, uses: Sequence[WindowUse]
) -> tuple[Plan, list[WindowUse]]:
    """Makes the session a key of each of the windows that are over sessions."""
    found: dict[tuple[object, ...], tuple[Expression, ...]] = {}
    made = []
    for use in uses:
        if use.gap is None:
            made.append(use)
            continue
        window = (use.keys, use.order, use.gap)
        if window not in found:
            (by,) = use.order
            plan, start, _ = sessions(session, plan, use.keys, by, use.gap)
            found[window] = (start.column, test("is_null", by.value))
        made.append(replace(use, keys=(*use.keys, *found[window]), gap=None))
    return plan, made


def sessions(
    session: Session, plan: Plan, keys: tuple[Expression, ...], by: Ordering, gap: Expression
) -> tuple[Plan, Attribute, Attribute]:
    """Adds the moments where each row's session begins and ends; NULL belongs to no session.

    Rows of equal `keys` are taken together, in the order `by`, whose last session ends the gap
    behind its last row, or before it where the order descends.
    """
    moment = cast(by.value, TIMESTAMP) if by.value.type == DATE else by.value
    by = replace(by, value=moment)
    away, within = (negated(gap), "ge") if by.descending else (gap, "le")

    def beside(function: WindowFunction) -> WindowUse:
        attribute = session.numbers.new(function, moment.type, True)
        return WindowUse(keys, (by,), attribute, function, moment)

    def nearest(function: WindowFunction, value: Expression, frame: Frame) -> WindowUse:
        attribute = session.numbers.new(function, moment.type, True)
        use = WindowUse(keys, (by,), attribute, function, value)
        return replace(use, frame=frame, skips_nulls=True)

    before, behind = beside("lag"), beside("lead")
    plan = computed(session, plan, [before, behind])
    last = shifted(before.attribute.column, away)
    end = shifted(moment, away)
    begins = _unless(predicate(within, moment, last), moment)
    ends = _unless(predicate(within, behind.attribute.column, end), end)
    start = nearest("last_value", begins, UP_TO_PEERS)
    stop = nearest("first_value", ends, Frame("range", 0, None))
    return computed(session, plan, [start, stop]), start.attribute, stop.attribute


def _unless(condition: Expression, value: Expression) -> Expression:
    """Makes `value` NULL where `condition` is true."""
    return Call("case", (condition, Literal(None, value.type), value), value.type, True)
