"""Lowers temporal filters to events that wait for the clock.

The clock is an input of the pool, of one row with the present moment. A row is there from the
event of its beginning until that of its end, which takes it out again.
"""

from dataclasses import replace
from datetime import UTC, datetime

import pyarrow as pa

from ivm.dataflow import nodes as df
from ivm.dataflow.expressions import Expression, Literal
from views.lowering.lowered import Lowered, conjoined
from views.plan.nodes import TemporalFilter
from views.plan.scalars import predicate, test

_MOMENT = pa.timestamp("us", "UTC")
CLOCK = df.Get("ivm.clock", pa.schema([pa.field("now", _MOMENT, nullable=False)]))
"""The input that the pool's owner keeps at the present moment."""
_ALWAYS = Literal(datetime.min.replace(tzinfo=UTC), _MOMENT)


def temporal_filter(plan: TemporalFilter, below: Lowered) -> Lowered:
    """Keeps the rows of `below`, the lowered input, while `plan`'s bounds hold."""
    given = [(f.name, below.at_position(i)) for i, f in enumerate(below.node.schema)]
    bounds = [("begin", _ALWAYS if plan.begin is None else below.at(plan.begin))]
    bounds += [] if plan.end is None else [("end", below.at(plan.end))]
    node: df.Node = df.Map(below.node, (*given, *bounds))
    moments = df.columns(node)[len(given) :]
    conditions: list[Expression] = [test("is_not_null", m) for m in moments if m.nullable]
    if len(moments) > 1:
        conditions.append(predicate("lt", *moments))
    if conditions:
        node = df.Filter(node, conjoined(conditions))
    events: list[df.Node] = []
    for moment in moments:
        row = [(name, e) for (name, _), e in zip(given, df.columns(node), strict=False)]
        events.append(df.Map(node, (("moment", replace(moment, nullable=False)), *row)))
    begins, *ends = events
    whole = df.Union((begins, *map(df.Negate, ends))) if ends else begins
    return Lowered(df.TemporalFilter(whole, CLOCK), below.positions)
