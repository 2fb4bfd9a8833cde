"""Null rejection: infers the columns of which a NULL keeps a condition from being true. The result
is a set of facts, each a set of columns that are not all NULL: `a = 1 AND (b > 2 OR c > 3)` gives
`{a}` and `{b, c}`.
"""

from collections.abc import Iterable
from itertools import product
from math import prod
from typing import TypeAlias

from ivm.dataflow.expressions import Call, Column, Expression
from views.plan.scalars import conjuncts

MAX_FACTS = 64  # of a disjunction; beyond these nothing is inferred from it

Fact: TypeAlias = frozenset[int]  # one at least of these columns is not NULL
Facts: TypeAlias = frozenset[Fact]

# Functions that are NULL where any argument is.
_STRICT = frozenset(
    {
        "eq", "ne", "lt", "le", "gt", "ge", "like", "ilike", "starts_with", "not",
        "add", "subtract", "multiply", "divide", "modulo", "negate", "abs", "round", "floor",
        "ceil", "cast", "lower", "upper", "trim", "ltrim", "rtrim", "length", "substring",
        "position", "extract", "date_trunc", "add_days", "add_months", "add_micros",
        "days_between", "micros_between",
    }
)  # fmt: skip


def is_strict(function: str) -> bool:
    """Tells whether `function` is known to be NULL where any of its arguments is."""
    return function in _STRICT


def propagates(expression: Expression) -> frozenset[int]:
    """Finds columns of which a NULL makes `expression` NULL."""
    if isinstance(expression, Column):
        return frozenset({expression.index})
    if isinstance(expression, Call) and is_strict(expression.function):
        return frozenset[int]().union(*map(propagates, expression.arguments))
    return frozenset()


def rejects(condition: Expression) -> Facts:
    """Infers the facts that hold where `condition` is true."""
    if isinstance(condition, Call):
        of_arguments = [rejects(a) for a in condition.arguments]
        if condition.function == "and":
            return frozenset[Fact]().union(*of_arguments)
        if condition.function == "or":
            if prod(map(len, of_arguments)) > MAX_FACTS:
                return frozenset()
            return frozenset(frozenset[int]().union(*one) for one in product(*of_arguments))
        if condition.function == "is_not_null":
            return singly(propagates(condition.arguments[0]))
    return singly(propagates(condition))


def asks_for_values(condition: Expression) -> bool:
    """Tells whether a condition only asks for columns that are not NULL."""
    return all(
        isinstance(part, Call)
        and part.function == "is_not_null"
        and all(isinstance(argument, Column) for argument in part.arguments)
        for part in conjuncts(condition)
    )


def singly(columns: Iterable[int]) -> Facts:
    """States for each of `columns` that it is not NULL."""
    return frozenset(frozenset({c}) for c in columns)
