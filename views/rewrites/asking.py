"""Evaluation on demand: what may fail in a subquery is evaluated only for rows that ask for it.

An expression of the subquery that may fail reads a column `asked` of the enclosing row, always
true: so the subquery is correlated where it may fail, and unnesting joins the domain of the rows
that ask right below. For no row that asks there is nothing to evaluate, hence no error:
`SELECT (SELECT 10 / count(*) FROM t) FROM u` divides for no row of an empty `u`. The values of a
recursion, and the keys of joins on both sides of which something fails, are computed for all; so is
arithmetic that may only overflow: asking for `sum(price * quantity)` would arrange all rows that it
reads, to spare an error that is rare.
"""

from dataclasses import replace
from typing import assert_never

from ivm.dataflow.expressions import Call, Column, Expression, Literal
from views.plan.failures import may_fail, may_fail_in_range
from views.plan.nodes import (
    Apply,
    Constant,
    Distinct,
    Except,
    Filter,
    Get,
    Iterate,
    Join,
    Map,
    Plan,
    Recursive,
    Reduce,
    TemporalFilter,
    TopK,
    Union,
    Unnest,
    Window,
)
from views.plan.scalars import columns_of, conjunction, conjuncts, rebuild
from views.plan.trees import inputs, numbers_of, with_inputs


def on_demand(plan: Plan, asked: Column, outer: frozenset[int]) -> Plan:
    """`plan` reading the enclosing row's column `asked` in what may fail.

    It stays as it is where that reads one of the `outer` columns of that row anyway.
    """
    if isinstance(plan, Iterate):
        return plan
    plan = with_inputs(plan, tuple(on_demand(below, asked, outer) for below in inputs(plan)))
    match plan:
        case Filter():
            tested = (_if(asked, c, outer) for c in conjuncts(plan.predicate))
            return replace(plan, predicate=conjunction(tested))
        case Map():
            return replace(plan, outputs=tuple((a, _if(asked, e, outer)) for a, e in plan.outputs))
        case Unnest():
            return replace(plan, arrays=tuple(_if(asked, a, outer) for a in plan.arrays))
        case Join():
            left = numbers_of(plan.left)
            parts = conjuncts(plan.predicate)
            tested = (
                guarded(c, asked, left) if may_fail_in_range(c) and not columns_of(c) & outer else c
                for c in parts
            )
            return replace(plan, predicate=conjunction(tested))
        case Get() | Constant() | Recursive() | TemporalFilter() | Apply() | Reduce() | Distinct():
            return plan
        case Union() | Except() | TopK() | Window() | Iterate():
            return plan
        case _:
            assert_never(plan)


def has_a_row(plan: Plan) -> bool:
    """Whether `plan` has a row by its form, whatever its tables hold."""
    match plan:
        case Map():
            return has_a_row(plan.input)
        case Constant():
            return bool(plan.rows)
        case Join():
            return plan.kind == "mark" and has_a_row(plan.left)
        case _:
            return isinstance(plan, Reduce) and not plan.keys


def guarded(condition: Expression, guard: Expression, outer: frozenset[int]) -> Expression:
    """`condition`, which is not to fail where `guard` does not hold.

    An equality stays one, as its sides are the keys of a join.
    """
    if not may_fail(condition):
        return condition
    assert isinstance(condition, Call)
    read = [columns_of(side) for side in condition.arguments]
    if condition.function != "eq" or any(r & outer and not r <= outer for r in read):
        return where(guard, condition)
    left = (
        where(guard, side) if r <= outer and may_fail(side) else side
        for side, r in zip(condition.arguments, read, strict=True)
    )
    return rebuild(condition, tuple(left))


def where(guard: Expression, value: Expression) -> Expression:
    """`value`, or NULL where `guard` does not hold."""
    return Call("case", (guard, value, Literal(None, value.type)), value.type, True)


def _if(asked: Column, value: Expression, outer: frozenset[int]) -> Expression:
    """`value` where somebody asks: nothing else has rows."""
    if not may_fail_in_range(value) or columns_of(value) & outer:
        return value
    none = Literal(None, value.type)
    return Call("case", (asked, value, none), value.type, value.nullable)
