"""Window calls as nodes of the plan, over expressions that become columns of it."""

from collections.abc import Mapping, Sequence

from ivm.dataflow.expressions import Column, Expression
from views.plan.nodes import Attribute, Map, Plan, Window, WindowCall
from views.sql.base.computations import WindowUse
from views.sql.base.scope import Session


def computed(session: Session, plan: Plan, uses: Sequence[WindowUse]) -> Plan:
    """Adds the results of `uses` to `plan`; those over the same window break ties alike."""
    read = [e for use in uses for e in use.reads()]
    plan, columns = _with_columns(session, plan, read)
    for over in dict.fromkeys((use.keys, use.order) for use in uses):
        keys, order = over
        calls = tuple(_call(u, columns) for u in uses if (u.keys, u.order) == over)
        sorted_by = tuple(o.key(columns[o.value]) for o in order)
        plan = Window(plan, tuple(columns[k].column for k in keys), sorted_by, calls)
    return plan


def _call(use: WindowUse, columns: Mapping[Expression, Attribute]) -> WindowCall:
    argument, default, other, varies, where = (
        None if e is None else columns[e].column
        for e in (use.argument, use.default, use.other, use.varies, use.where)
    )
    return WindowCall(
        use.attribute,
        use.function,
        argument,
        default,
        use.count,
        use.frame,
        other,
        varies,
        use.skips_nulls,
        where,
        use.parameter,
    )


def _with_columns(
    session: Session, plan: Plan, values: Sequence[Expression]
) -> tuple[Plan, dict[Expression, Attribute]]:
    """Makes each of `values` a column of `plan`, and gives these columns."""
    known = {a.number: a for a in plan.attributes}
    found: dict[Expression, Attribute] = {}
    outputs: list[tuple[Attribute, Expression]] = [(a, a.column) for a in plan.attributes]
    for value in dict.fromkeys(values):
        if isinstance(value, Column) and value.index in known:
            found[value] = known[value.index]
        else:
            found[value] = session.numbers.fresh("window", value)
            outputs.append((found[value], value))
    if len(outputs) == len(known):
        return plan, found
    return Map(plan, tuple(outputs)), found
