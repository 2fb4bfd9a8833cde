"""Padding for aggregates: an outer join whose padded rows no aggregate counts pads all rows.

Where the grouping keys are the left side's, and every aggregate ignores the NULLs of a padded row,
such a row only says that its group is there. One more for a left row that has partners changes
nothing, so that nobody has to find out which rows have none:

    reduce(A ⟕ B) = reduce((A ⋈ B) + pad(A))

With A = {1, 2} and two partners of 1, `count(b.x)` by `a.id` counts two values for 1 among three
rows, and none for 2. Without grouping keys the one group is there anyway, and the join is inner.
"""

from dataclasses import replace

from ivm.dataflow.expressions import Call, Expression, Literal
from views.plan.failures import may_fail
from views.plan.nodes import AggregateCall, Join, Map, Plan, Reduce, Union
from views.plan.nulls import propagates
from views.plan.scalars import columns_of, substitute, walk
from views.plan.trees import Numbers, bottom_up, numbers_of
from views.rewrites.context import Context
from views.rewrites.pushdown import push_filters

_IGNORE_NULL = frozenset({"count", "sum", "avg", "min", "max", "bit_and", "bit_or", "bit_xor"})
"""Aggregates for which a row is as good as none where their argument is NULL."""


def pad_all(plan: Plan, context: Context) -> Plan:
    """Pads all rows of those left joins of `plan` whose padded rows no aggregate counts."""
    return bottom_up(plan, lambda p: _reduce(p, context) if isinstance(p, Reduce) else p)


def _reduce(plan: Reduce, context: Context) -> Plan:
    if not all(map(_ignores_null, plan.calls)):
        return plan
    below = _below(plan, context)
    return plan if below is None else replace(plan, input=below)


def _ignores_null(call: AggregateCall) -> bool:
    ordered = call.other is not None or call.order
    return call.function in _IGNORE_NULL and call.argument is not None and not ordered


def _below(over: Reduce, context: Context) -> Plan | None:
    """Pads all rows of the left join that `over` reads, if that is one whose pads it ignores."""
    plan, maps = over.input, list[Map]()
    keys: list[Expression] = [k.column for k in over.keys]
    arguments: list[Expression] = [c.argument for c in over.calls if c.argument is not None]
    computed: list[Expression] = []
    while isinstance(plan, Map):
        maps.append(plan)
        made = {a.number: e for a, e in plan.outputs}
        keys, arguments, computed = (
            [substitute(e, made) for e in each] for each in (keys, arguments, computed)
        )
        computed += made.values()
        plan = plan.input
    if not (isinstance(plan, Join) and plan.kind == "left"):
        return None
    left, right = numbers_of(plan.left), numbers_of(plan.right)
    if not all(columns_of(k) <= left for k in keys):
        return None
    if not all(map(right.intersection, map(propagates, arguments))):
        return None
    if any(_fails_by_itself(part, right) for e in computed for part in walk(e)):
        return None
    pairs = push_filters(replace(plan, kind="inner"), context)
    rows = _with_every_left_row(pairs, plan, context.numbers) if keys else pairs
    for each in reversed(maps):
        rows = replace(each, input=rows)
    return rows


def _fails_by_itself(part: Expression, padded: frozenset[int]) -> bool:
    """Whether `part` of an expression may fail even where the columns `padded` are NULL."""
    return isinstance(part, Call) and may_fail(part) and padded.isdisjoint(propagates(part))


def _with_every_left_row(pairs: Plan, plan: Join, numbers: Numbers) -> Plan:
    """`pairs`, of which the outer join `plan` is made, and each of its left rows padded."""
    branches = []
    for below in (pairs, plan.left):
        have: dict[int, Expression] = {a.number: a.column for a in below.attributes}
        outputs = [
            (numbers.fresh(a.name, a), have.get(a.number, Literal(None, a.type)))
            for a in plan.attributes
        ]
        branches.append(Map(below, tuple(outputs)))
    attributes = tuple(numbers.fresh(a.name, a) for a in plan.attributes)
    both = Union(tuple(branches), attributes)
    return Map(both, tuple((a, b.column) for a, b in zip(plan.attributes, attributes, strict=True)))
