"""Bounds how deep a dataflow and its expressions are nested.

The engine plans them by recursion, for deep dataflows on a stack that has room for these.
"""

from typing import assert_never

from ivm.dataflow import nodes as df
from ivm.dataflow.expressions import Call, Column, Expression, Literal
from ivm.dataflow.traversal import is_deeper, walk
from views.errors import QueryTooLarge

MAX_NODES_DEEP = 10_000  # nodes on a path from the root of a dataflow
MAX_CALLS_DEEP = 150  # calls on a path from the root of an expression


def check_depth(node: df.Node) -> None:
    """Checks that `node` is nested no deeper than the engine can plan (raises QueryTooLarge)."""
    if is_deeper(node, MAX_NODES_DEEP):
        raise QueryTooLarge(
            f"the query needs a dataflow of more than {MAX_NODES_DEEP:,} steps one after another; "
            "make some of them views of their own"
        )
    if any(_call_depth(e) > MAX_CALLS_DEEP for each in walk(node) for e in each.expressions):
        raise QueryTooLarge(
            f"an expression is nested more than {MAX_CALLS_DEEP} deep; "
            "compute its parts in a subquery, or in a view of their own"
        )


def _call_depth(expression: Expression) -> int:
    match expression:
        case Column() | Literal():
            return 0
        case Call():
            return 1 + max(map(_call_depth, expression.arguments), default=0)
        case _:
            assert_never(expression)
