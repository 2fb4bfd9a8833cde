"""Takes the predicate of a join apart: equalities of keys, and the other conditions.

A condition on the left row alone is a key too: the condition, against the constant true. So no
join is without a key, and an optional or negated one needs no case for such conditions.
"""

from dataclasses import dataclass

from ivm.dataflow.expressions import Call, Expression
from views.plan.nodes import Join
from views.plan.scalars import TRUE, columns_of, conjuncts
from views.plan.trees import numbers_of


@dataclass(frozen=True, slots=True)
class Key:
    """One equality of a join: `left` is over the left input, `right` over the right one.

    Unless `null_safe`, a NULL on either side matches nothing.
    """

    left: Expression
    right: Expression
    null_safe: bool

    @property
    def may_match_nulls(self) -> bool:
        """Tells whether comparing the values as they are would wrongly match NULLs."""
        return not self.null_safe and self.left.nullable and self.right.nullable

    @property
    def ignores_right_nulls(self) -> bool:
        """Tells whether a NULL on the right can match nothing."""
        return self.right.nullable and not (self.null_safe and self.left.nullable)


PAIRS = Key(TRUE, TRUE, True)
"""The key of a join by no equality: all rows meet all."""


@dataclass(frozen=True, slots=True)
class Equalities:
    """The keys of a join, at least one, and the conditions that need a whole pair of rows."""

    keys: tuple[Key, ...]
    residual: tuple[Expression, ...]


def equalities(join: Join) -> Equalities:
    """Takes the predicate of `join` apart."""
    left, right = numbers_of(join.left), numbers_of(join.right)
    keys: list[Key] = []
    residual: list[Expression] = []
    for condition in conjuncts(join.predicate):
        key = _key(condition, left, right)
        repeated = key is not None and any(k.left == key.left or k.right == key.right for k in keys)
        if key is None or repeated:
            residual.append(condition)
        else:
            keys.append(key)
    return Equalities(tuple(keys) or (PAIRS,), tuple(residual))


def _key(condition: Expression, left: frozenset[int], right: frozenset[int]) -> Key | None:
    read = columns_of(condition)
    if isinstance(condition, Call) and condition.function in ("eq", "is_not_distinct"):
        null_safe = condition.function == "is_not_distinct"
        for one, other in (condition.arguments, condition.arguments[::-1]):
            x, y = columns_of(one), columns_of(other)
            if x and y and x <= left and y <= right:
                return Key(one, other, null_safe)
    if read <= left:
        return Key(condition, TRUE, False)
    return None
