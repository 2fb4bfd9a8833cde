"""Expressions over one row, evaluated by the table in `ivm.dataflow.expressions`."""

from collections.abc import Callable, Sequence

from ivm.dataflow.expressions import Call, Column, Expression, Literal
from tests.oracle import calendar, casts, numbers, texts
from tests.oracle.values import Error, Outcome, Scalar, canonical, compare, same


def evaluate(expression: Expression, row: Sequence[Scalar]) -> Outcome:
    """The value of `expression` for `row`, an Error included."""
    if isinstance(expression, Column):
        return row[expression.index]
    if isinstance(expression, Literal):
        return canonical(expression.value)
    special = _SPECIAL.get(expression.function)
    if special is not None:
        return special(expression, row)
    values: list[Scalar] = []
    for argument in expression.arguments:
        value = evaluate(argument, row)
        if isinstance(value, Error):
            return value
        values.append(value)
    if any(v is None for v in values):
        return None
    return _strict(expression, values)


def _strict(call: Call, values: Sequence[Scalar]) -> Outcome:
    name = call.function
    if name in _COMPARISONS:
        return _COMPARISONS[name](compare(values[0], values[1]))
    if name == "not":
        return not values[0]
    if name == "cast":
        return casts.cast(values[0], call.arguments[0].type, call.type)
    for family in (numbers.FUNCTIONS, texts.FUNCTIONS, calendar.FUNCTIONS):
        if name in family:
            return family[name](call.type, *values)
    raise AssertionError(f"the oracle has no function {name}")


def _connective(call: Call, row: Sequence[Scalar]) -> Outcome:
    """`and` is decided by a false, `or` by a true, even beside an error."""
    deciding = call.function == "or"
    outcomes = [evaluate(a, row) for a in call.arguments]
    if any(o is deciding for o in outcomes):
        return deciding
    for outcome in outcomes:
        if isinstance(outcome, Error):
            return outcome
    return None if None in outcomes else not deciding


def _case(call: Call, row: Sequence[Scalar]) -> Outcome:
    *branches, otherwise = call.arguments
    for condition, value in zip(branches[::2], branches[1::2], strict=True):
        chosen = evaluate(condition, row)
        if isinstance(chosen, Error):
            return chosen
        if chosen:
            return evaluate(value, row)
    return evaluate(otherwise, row)


def _coalesce(call: Call, row: Sequence[Scalar]) -> Outcome:
    for argument in call.arguments:
        value = evaluate(argument, row)
        if value is not None:
            return value
    return None


def _extremum(call: Call, row: Sequence[Scalar]) -> Outcome:
    sign = 1 if call.function == "greatest" else -1
    best: Scalar = None
    for argument in call.arguments:
        value = evaluate(argument, row)
        if isinstance(value, Error):
            return value
        if value is not None and (best is None or compare(value, best) * sign > 0):
            best = value
    return best


def _null_test(call: Call, row: Sequence[Scalar]) -> Outcome:
    outcomes = [evaluate(a, row) for a in call.arguments]
    plain: list[Scalar] = []
    for outcome in outcomes:
        if isinstance(outcome, Error):
            return outcome
        plain.append(outcome)
    match call.function:
        case "is_null":
            return plain[0] is None
        case "is_not_null":
            return plain[0] is not None
        case "is_distinct":
            return not same(plain[0], plain[1])
        case _:
            return same(plain[0], plain[1])


_COMPARISONS: dict[str, Callable[[int], bool]] = {
    "eq": lambda c: c == 0,
    "ne": lambda c: c != 0,
    "lt": lambda c: c < 0,
    "le": lambda c: c <= 0,
    "gt": lambda c: c > 0,
    "ge": lambda c: c >= 0,
}
_SPECIAL: dict[str, Callable[[Call, Sequence[Scalar]], Outcome]] = {
    "and": _connective,
    "or": _connective,
    "case": _case,
    "coalesce": _coalesce,
    "greatest": _extremum,
    "least": _extremum,
    "is_null": _null_test,
    "is_not_null": _null_test,
    "is_distinct": _null_test,
    "is_not_distinct": _null_test,
}
