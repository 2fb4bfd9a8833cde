"""Infers unique keys of a plan's rows from primary keys, grouping and DISTINCT.

A key is a set of column numbers whose values no two rows share (NULL equal to NULL); the empty
key says that there is at most one row.
"""

from typing import assert_never

from ivm.dataflow.expressions import Call, Column, Expression
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
    remembered,
)
from views.plan.scalars import columns_of, conjuncts
from views.plan.trees import numbers_of


@remembered
def unique_key(plan: Plan) -> frozenset[int] | None:
    """Infers a unique key of `plan`; None if none is known."""
    match plan:
        case Get():
            return frozenset(plan.key) if plan.key else None
        case TemporalFilter():
            return unique_key(plan.input)
        case Filter():
            key = unique_key(plan.input)
            return None if key is None else key - _fixed(plan.predicate, numbers_of(plan))
        case Map():
            return _of_map(plan)
        case TopK() if not plan.keys and plan.limit in (0, 1) and not plan.ties:
            return frozenset()
        case TopK() if plan.limit == 1 and not plan.ties:
            return frozenset(k.index for k in plan.keys)
        case TopK():
            return unique_key(plan.input)
        case Window():
            return _of_window(plan)
        case Reduce():
            return frozenset(k.number for k in plan.keys)
        case Distinct():
            key = unique_key(plan.input)
            return numbers_of(plan) if key is None else key
        case Iterate():
            return _of_iterate(plan)
        case Join():
            return _of_join(plan)
        case Apply():
            return _of_apply(plan)
        case Constant() | Union() | Except() | Unnest() | Recursive():
            return None
        case _:
            assert_never(plan)


def has_one_row(plan: Plan) -> bool:
    """Tells whether `plan` has exactly one row by its form: an aggregate without keys."""
    while isinstance(plan, Map):
        plan = plan.input
    return isinstance(plan, Reduce) and not plan.keys


def has_at_most_one_row(plan: Plan) -> bool:
    """Tells whether `plan` cannot have two rows, given the row of an enclosing query."""
    return unique_key(plan) == frozenset()


def _of_window(plan: Window) -> frozenset[int] | None:
    """The input's key, or else a row number among the rows that it numbers."""
    key = unique_key(plan.input)
    numbers = [c.attribute.number for c in plan.calls if c.function == "row_number"]
    if key is None and numbers:
        return frozenset([numbers[0], *(k.index for k in plan.keys)])
    return key


def _fixed(condition: Expression, local: frozenset[int]) -> frozenset[int]:
    """Columns that `condition` holds equal to a constant or to a column from outside."""
    fixed = set()
    for part in conjuncts(condition):
        if not isinstance(part, Call) or part.function not in ("eq", "is_not_distinct"):
            continue
        for one, other in (part.arguments, part.arguments[::-1]):
            if isinstance(one, Column) and one.index in local and not columns_of(other) & local:
                fixed.add(one.index)
    return frozenset(fixed)


def _of_map(plan: Map) -> frozenset[int] | None:
    key = unique_key(plan.input)
    if key is None:
        return None
    kept = {e.index: a.number for a, e in plan.outputs if isinstance(e, Column)}
    return frozenset(kept[n] for n in key) if key <= kept.keys() else None


def _of_apply(plan: Apply) -> frozenset[int] | None:
    """Infers the key of an Apply: the right side's holds only among the rows for one left row."""
    left, right = unique_key(plan.left), unique_key(plan.right)
    if plan.kind in ("semi", "anti", "mark"):
        return left
    return None if left is None or right is None else left | right


def _of_iterate(plan: Iterate) -> frozenset[int] | None:
    key = unique_key(plan.body)
    if key is None:
        return None
    pairs = zip(plan.attributes, plan.body.attributes, strict=True)
    return frozenset(own.number for own, inner in pairs if inner.number in key)


def _of_join(plan: Join) -> frozenset[int] | None:
    left, right = unique_key(plan.left), unique_key(plan.right)
    if plan.kind in ("semi", "anti", "mark"):
        return left
    if left is None or right is None:
        return None
    if plan.kind != "full" and right <= equated(plan):
        return left
    if plan.kind == "inner" and left <= equated(plan, of_left=True):
        return right
    return left | right


def equated(plan: Join, of_left: bool = False) -> frozenset[int]:
    """Finds the columns of one side that the join holds equal to values of the other side."""
    return _fixed(plan.predicate, numbers_of(plan.left if of_left else plan.right))
