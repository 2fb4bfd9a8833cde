"""Selectivity: the share of rows for which a condition is true, by the constants of System R.

A condition of equality keeps a tenth, another comparison a third; a group has ten rows (Selinger
et al., "Access Path Selection", SIGMOD 1979).

>>> import pyarrow as pa
>>> selectivity(Literal(True, pa.bool_())), selectivity(Column(0, pa.bool_(), False)) == COMPARED
(1, True)
"""

from math import prod
from typing import assert_never

from ivm.dataflow.expressions import Call, Column, Expression, Literal

EQUAL, COMPARED = 1 / 10, 1 / 3  # shares of rows
GROUP = 10  # rows


def selectivity(condition: Expression) -> float:
    """Estimate the share of rows for which `condition` is true."""
    match condition:
        case Literal():
            return 1 if condition.value else 0
        case Column():
            return COMPARED
        case Call():
            return _of_call(condition)
        case _:
            assert_never(condition)


def _of_call(condition: Call) -> float:
    match condition.function:
        case "and":
            return prod(map(selectivity, condition.arguments))
        case "or":
            return min(sum(map(selectivity, condition.arguments)), 1)
        case "not":
            return 1 - selectivity(condition.arguments[0])
        case "eq" | "is_not_distinct" | "is_null" | "like" | "ilike" | "starts_with":
            return EQUAL
        case "ne" | "is_distinct" | "is_not_null":
            return 1 - EQUAL
        case _:
            return COMPARED
