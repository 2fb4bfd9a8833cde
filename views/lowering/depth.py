"""Bounds how deep a dataflow and its expressions are nested.

The engine plans them by recursion on the caller's stack, which is an ordinary one.
"""

from typing import assert_never

from ivm.dataflow import nodes as df
from ivm.dataflow.expressions import Call, Column, Expression, Literal
from ivm.dataflow.traversal import children, expressions
from views.errors import QueryTooLarge

MAX_NODES_DEEP = 120  # nodes on a path from the root of a dataflow
MAX_CALLS_DEEP = 150  # calls on a path from the root of an expression


def check_depth(node: df.Node) -> None:
    """Checks that `node` is nested no deeper than the engine can plan (raises QueryTooLarge)."""
    if _node_depth(node, {}) > MAX_NODES_DEEP:
        raise QueryTooLarge(
            f"the query needs a dataflow of more than {MAX_NODES_DEEP} steps; "
            "split it into views over views"
        )


def _node_depth(node: df.Node, known: dict[int, int]) -> int:
    if id(node) not in known:
        for expression in expressions(node):
            if _call_depth(expression) > MAX_CALLS_DEEP:
                raise QueryTooLarge(f"an expression is nested more than {MAX_CALLS_DEEP} deep")
        known[id(node)] = 1 + max((_node_depth(c, known) for c in children(node)), default=0)
    return known[id(node)]


def _call_depth(expression: Expression) -> int:
    match expression:
        case Column() | Literal():
            return 0
        case Call():
            return 1 + max(map(_call_depth, expression.arguments), default=0)
        case _:
            assert_never(expression)
