"""Selectivity: the share of rows that conditions are guessed to keep, by their form alone.

The shares are those of textbooks (Selinger et al., "Access Path Selection in a Relational Database
Management System", SIGMOD 1979): nothing is known of the values. Where a guess is wrong a plan is
slower, and its answers are the same.
"""

from math import prod

from ivm.dataflow.expressions import Call, Expression, Literal
from views.plan.nodes import Filter, Join, Map, Plan, TemporalFilter, remembered

FEW = 0.5
"""A condition keeps few rows if it keeps less than this share."""

_SHARES = {
    "eq": 0.1,
    "is_not_distinct": 0.1,
    "is_null": 0.1,
    "is_not_null": 1.0,
    "lt": 1 / 3,
    "le": 1 / 3,
    "gt": 1 / 3,
    "ge": 1 / 3,
    "like": 0.2,
    "ilike": 0.2,
    "starts_with": 0.2,
}
"""By the function of a condition that is compared with a constant."""

_UNKNOWN = FEW


@remembered
def kept(plan: Plan) -> float:
    """Guesses the share of rows that conditions have left of `plan`."""
    match plan:
        case Map() | TemporalFilter():
            return kept(plan.input)
        case Filter():
            return share(plan.predicate) * kept(plan.input)
        case Join(kind="inner" | "semi"):
            return kept(plan.left) * kept(plan.right)
        case Join(kind="anti" | "left" | "mark"):
            return kept(plan.left)
        case _:
            return 1.0


def share(condition: Expression) -> float:
    """Guesses the share of rows for which `condition` is true.

    >>> import pyarrow as pa
    >>> from ivm.dataflow.expressions import Column
    >>> at = Column(0, pa.int64(), nullable=False), Literal(3, pa.int64())
    >>> equal, less = (Call(f, at, pa.bool_(), False) for f in ("eq", "lt"))
    >>> both = Call("and", (equal, less), pa.bool_(), False)
    >>> round(share(both), 3), share(Call("not", (equal,), pa.bool_(), False))
    (0.033, 0.9)
    """
    if not isinstance(condition, Call):
        return _UNKNOWN
    shares = [share(a) for a in condition.arguments]
    match condition.function:
        case "and":
            return prod(shares)
        case "or":
            return 1 - prod(1 - each for each in shares)
        case "not":
            return 1 - shares[0]
        case "ne" | "is_distinct":
            return 1 - _SHARES["eq"]
        case "is_null" | "is_not_null":
            return _SHARES[condition.function]
        case function if any(isinstance(a, Literal) for a in condition.arguments):
            return _SHARES.get(function, _UNKNOWN)
        case _:
            return _UNKNOWN
