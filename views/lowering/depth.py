"""The bound on how deep a dataflow and its expressions are nested.

The engine renders them by recursion on the caller's stack, which is an ordinary one.
"""

from collections.abc import Iterator

from ivm import dataflow as df
from ivm.expressions import Call, Expression
from views.errors import QueryTooLarge

MAX_NODES_DEEP = 120
MAX_CALLS_DEEP = 150


def check_depth(node: df.Node) -> None:
    """See that `node` is nested no deeper than the engine can render (raises QueryTooLarge)."""
    if _node_depth(node, {}) > MAX_NODES_DEEP:
        raise QueryTooLarge(
            f"the query needs a dataflow of more than {MAX_NODES_DEEP} steps; "
            "split it into views over views"
        )


def _node_depth(node: df.Node, known: dict[int, int]) -> int:
    if id(node) not in known:
        for expression in _expressions(node):
            if _call_depth(expression) > MAX_CALLS_DEEP:
                raise QueryTooLarge(f"an expression is nested more than {MAX_CALLS_DEEP} deep")
        known[id(node)] = 1 + max((_node_depth(b, known) for b in below(node)), default=0)
    return known[id(node)]


def below(node: df.Node) -> Iterator[df.Node]:
    """The nodes that `node` reads directly."""
    match node:
        case df.Join():
            yield from (node.left, node.right)
        case df.Concat() | df.DeltaJoin():
            yield from node.inputs
        case df.Iterate():
            yield from (body for _, body in node.bindings)
        case df.Due():
            yield from (node.events, node.clock)
        case df.Get() | df.Constant() | df.Recursive():
            return
        case _:
            yield node.input


def _expressions(node: df.Node) -> Iterator[Expression]:
    match node:
        case df.Filter():
            yield node.predicate
        case df.Map():
            yield from (e for _, e in node.outputs)


def _call_depth(expression: Expression) -> int:
    if not isinstance(expression, Call):
        return 0
    return 1 + max((_call_depth(a) for a in expression.arguments), default=0)
