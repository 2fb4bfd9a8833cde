"""Builds, takes apart and rewrites the scalar expressions of a plan."""

from collections.abc import Iterable, Iterator, Mapping
from operator import is_

import pyarrow as pa

from ivm.dataflow.expressions import Call, Column, Expression, Literal

TRUE = Literal(True, pa.bool_())
FALSE = Literal(False, pa.bool_())


def call(function: str, *arguments: Expression, result: pa.DataType) -> Call:
    """Calls a function that is NULL only where an argument is."""
    return Call(function, arguments, result, any(a.nullable for a in arguments))


def predicate(function: str, *arguments: Expression) -> Call:
    """Makes a condition that is NULL only where an argument is."""
    return call(function, *arguments, result=pa.bool_())


def test(function: str, *arguments: Expression) -> Call:
    """Makes a condition that is never NULL: `is_null`, `is_distinct` and their opposites."""
    return Call(function, arguments, pa.bool_(), False)


def negation(condition: Expression) -> Expression:
    """Negates `condition`, without a double negation."""
    if isinstance(condition, Call) and condition.function == "not":
        return condition.arguments[0]
    return predicate("not", condition)


def otherwise(condition: Expression) -> Expression:
    """Makes the condition that `condition` is false or NULL."""
    return test("is_distinct", condition, TRUE)


def conjunction(conditions: Iterable[Expression]) -> Expression:
    """Joins conditions by AND, flattened; true when there are none."""
    parts = [c for whole in conditions for c in conjuncts(whole)]
    unique = list(dict.fromkeys(parts))
    if not unique:
        return TRUE
    return unique[0] if len(unique) == 1 else predicate("and", *unique)


def disjunction(conditions: Iterable[Expression]) -> Expression:
    """Joins conditions by OR; false when there are none."""
    parts = list(conditions)
    if not parts:
        return FALSE
    return parts[0] if len(parts) == 1 else predicate("or", *parts)


def conjuncts(condition: Expression) -> list[Expression]:
    """Lists the conditions that `condition` is the conjunction of."""
    if condition == TRUE:
        return []
    if isinstance(condition, Call) and condition.function == "and":
        return [part for argument in condition.arguments for part in conjuncts(argument)]
    return [condition]


def disjuncts(condition: Expression) -> list[Expression]:
    """Lists the conditions that `condition` is the disjunction of."""
    if isinstance(condition, Call) and condition.function == "or":
        return [part for argument in condition.arguments for part in disjuncts(argument)]
    return [condition]


def walk(expression: Expression) -> Iterator[Expression]:
    """Yields `expression` and everything in it, outside in."""
    waiting = [expression]
    while waiting:
        each = waiting.pop()
        yield each
        if isinstance(each, Call):
            waiting += reversed(each.arguments)


def columns_of(*expressions: Expression) -> frozenset[int]:
    """Collects the numbers of the columns that the expressions read."""
    found: set[int] = set()
    waiting = list(expressions)
    while waiting:
        each = waiting.pop()
        if isinstance(each, Column):
            found.add(each.index)
        elif isinstance(each, Call):
            waiting += each.arguments
    return frozenset(found)


def substitute(expression: Expression, by: Mapping[int, Expression]) -> Expression:
    """Replaces columns of `expression`; a call becomes nullable where an argument newly is."""
    if isinstance(expression, Column):
        return by.get(expression.index, expression)
    if isinstance(expression, Call):
        arguments = tuple([substitute(a, by) for a in expression.arguments])
        if all(map(is_, arguments, expression.arguments)):
            return expression
        return rebuild(expression, arguments)
    return expression


_NEVER_NULL = frozenset({"is_null", "is_not_null", "is_distinct", "is_not_distinct"})


def rebuild(original: Call, arguments: tuple[Expression, ...]) -> Call:
    """Puts other arguments of the same types into `original`, nullable if one of them newly is."""
    nullable = original.nullable or (
        original.function not in _NEVER_NULL
        and any(
            new.nullable and not old.nullable
            for new, old in zip(arguments, original.arguments, strict=True)
        )
    )
    return Call(original.function, arguments, original.type, nullable)
