"""Derives conditions that follow from others, of which an input of a join can be tested alone."""

from collections.abc import Iterable, Iterator

from ivm.dataflow.expressions import Call, Column, Expression, Literal
from views.plan.scalars import (
    columns_of,
    conjunction,
    conjuncts,
    disjunction,
    disjuncts,
    substitute,
)


def implied(conditions: Iterable[Expression], columns: frozenset[int]) -> Iterator[Expression]:
    """Yields conditions on `columns` alone that follow from `conditions`, beyond their own parts.

    `(a = 1 AND b = 2) OR (a = 3 AND c = 4)` implies `a = 1 OR a = 3`, of a alone; `a = b AND a = 1`
    implies `b = 1`.
    """
    given = list(conditions)
    constants = dict(_constants(given))
    for condition in given:
        if columns_of(condition) <= columns:
            continue
        alternatives = [_about(columns, a) for a in disjuncts(condition)]
        if len(alternatives) > 1 and all(alternatives):
            yield disjunction(map(conjunction, alternatives))
        for one, other in _equated(condition):
            if one.index in columns and other in constants and one.type == other.type:
                yield substitute(constants[other], {other.index: one})


def _about(columns: frozenset[int], condition: Expression) -> list[Expression]:
    return [c for c in conjuncts(condition) if columns_of(c) and columns_of(c) <= columns]


def _constants(conditions: Iterable[Expression]) -> Iterator[tuple[Column, Expression]]:
    """The columns that a condition holds equal to a constant, with that condition."""
    for condition in conditions:
        if isinstance(condition, Call) and condition.function == "eq":
            for one, other in (condition.arguments, condition.arguments[::-1]):
                if isinstance(one, Column) and isinstance(other, Literal):
                    yield one, condition


def _equated(condition: Expression) -> Iterator[tuple[Column, Column]]:
    if isinstance(condition, Call) and condition.function == "eq":
        one, other = condition.arguments
        if isinstance(one, Column) and isinstance(other, Column):
            yield from ((one, other), (other, one))
