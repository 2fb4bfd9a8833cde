"""Selections on recursions: what a recursion passes on unchanged is selected where it begins.

In `WITH RECURSIVE path (x, y) AS (SELECT src, dst FROM e UNION SELECT p.x, e.dst FROM path p JOIN e
ON e.src = p.y)` each row has its `x` from the row that it follows from. So the rows of `x = 5`
follow from the edges of `src = 5`, and the others need not be derived.
"""

from collections.abc import Sequence
from dataclasses import replace

from ivm.dataflow.expressions import Column, Expression
from views.plan.nodes import (
    Attribute,
    Distinct,
    Filter,
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
from views.plan.scalars import conjunction, substitute
from views.plan.trees import inputs, numbers_of, walk, with_inputs


def invariant(plan: Iterate) -> frozenset[int]:
    """Finds the columns that each row of a recursion has from the row that it follows from."""
    if len(plan.bindings) > 1:
        return frozenset()
    pairs = enumerate(zip(plan.attributes, plan.body.attributes, strict=True))
    return frozenset(
        own.number for i, (own, inner) in pairs if _passes(plan.body, inner.number, plan.result, i)
    )


def selected(plan: Iterate, conditions: Sequence[Expression]) -> Iterate:
    """Selects the rows that satisfy conditions on invariant columns where the recursion begins."""
    below = _renamed(conditions, plan.attributes, plan.body.attributes)
    begun = _begun(plan.body, plan.result, below)
    return replace(plan, bindings=((plan.result, begun),))


def _reads(plan: Plan, name: str) -> bool:
    return any(isinstance(p, Recursive) and p.name == name for p in walk(plan))


def _passes(plan: Plan, number: int, name: str, position: int) -> bool:
    """Whether each row of `plan` has its column from that at `position` of one row of `name`.

    Rows that do not come from `name` are not asked.
    """
    if not _reads(plan, name):
        return True
    match plan:
        case Recursive():
            return plan.attributes[position].number == number
        case Map():
            value = next(e for a, e in plan.outputs if a.number == number)
            return isinstance(value, Column) and _passes(plan.input, value.index, name, position)
        case Filter() | TemporalFilter() | Unnest() | Distinct() | Reduce() | TopK() | Window():
            return number in _kept(plan) and _passes(plan.input, number, name, position)
        case Union():
            column = [a.number for a in plan.attributes].index(number)
            branches = ((b, b.attributes[column].number) for b in plan.inputs)
            return all(_passes(b, own, name, position) for b, own in branches)
        case Join():
            alone = not _reads(plan.right, name) and plan.kind != "full"
            if plan.kind == "inner" and not _reads(plan.left, name):
                return number in numbers_of(plan.right) and _passes(
                    plan.right, number, name, position
                )
            return (
                alone
                and number in numbers_of(plan.left)
                and _passes(plan.left, number, name, position)
            )
        case _:
            return False


def _kept(plan: Plan) -> frozenset[int]:
    """The columns by which rows of the input may be left out without changing other rows."""
    match plan:
        case Reduce():
            return frozenset(k.number for k in plan.keys)
        case TopK() | Window():
            return frozenset(k.index for k in plan.keys)
        case _:
            return frozenset().union(*(numbers_of(i) for i in inputs(plan)))


def _begun(plan: Plan, name: str, conditions: list[Expression]) -> Plan:
    """`plan` with the conditions tested on what does not come from `name`."""
    if not _reads(plan, name):
        return Filter(plan, conjunction(conditions))
    match plan:
        case Map():
            values = {a.number: e for a, e in plan.outputs}
            below = [substitute(c, values) for c in conditions]
        case Union():
            return with_inputs(
                plan,
                tuple(
                    _begun(b, name, _renamed(conditions, plan.attributes, b.attributes))
                    for b in plan.inputs
                ),
            )
        case Filter() | TemporalFilter() | Unnest() | Distinct() | Reduce() | TopK() | Window():
            below = conditions
        case _:
            return plan
    return with_inputs(plan, (_begun(plan.input, name, below),))


def _renamed(
    conditions: Sequence[Expression], outer: Sequence[Attribute], inner: Sequence[Attribute]
) -> list[Expression]:
    by: dict[int, Expression] = {a.number: b.column for a, b in zip(outer, inner, strict=True)}
    return [substitute(c, by) for c in conditions]
