"""Traversals list the nodes, expressions and names that a node reads.

Every function here is a `match` over all nodes: a node that it forgets does not pass mypy.

>>> orders = Get("orders", pa.schema([("id", pa.int64())]))
>>> [type(node).__name__ for node in walk(Negate(orders))], reads(Negate(orders))
(['Negate', 'Get'], frozenset({'orders'}))
"""

from collections.abc import Callable, Iterator
from typing import TypeVar, assert_never

import pyarrow as pa

from ivm.dataflow.expressions import Expression
from ivm.dataflow.node_hash import remembered
from ivm.dataflow.nodes import (
    Arrange,
    Consolidate,
    Constant,
    DeltaJoin,
    Distinct,
    EnterAt,
    Filter,
    FlatMap,
    Get,
    Iterate,
    Join,
    Map,
    Negate,
    Node,
    Recursive,
    Reduce,
    TemporalFilter,
    Threshold,
    TopK,
    Union,
    Window,
)
from ivm.deep import on_deep_stack
from ivm.errors import Unsupported

Answer = TypeVar("Answer")
_SHALLOW = 50
"""Nodes on a path for which the caller's stack suffices: planning takes some 10 frames for each."""


def children(node: Node) -> tuple[Node, ...]:
    """List the nodes that `node` reads directly; of a delta join, the arrangements of its paths."""
    match node:
        case Get() | Constant() | Recursive():
            return ()
        case Filter() | Map() | FlatMap() | Consolidate() | Negate() | Arrange() | EnterAt():
            return (node.input,)
        case Reduce() | Distinct() | Threshold() | TopK() | Window():
            return (node.input,)
        case Union() | DeltaJoin():
            return node.inputs
        case Join():
            return (node.left, node.right)
        case TemporalFilter():
            return (node.events, node.clock)
        case Iterate():
            return tuple(body for _, body in node.bindings)
        case _:
            assert_never(node)


def walk(node: Node) -> Iterator[Node]:
    """Yield `node` and all that it reads, each once, a node before those that it reads."""
    met: set[Node] = set()  # a dataflow whose nodes share inputs has more paths than nodes
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if each not in met:
            met.add(each)
            yield each
            waiting += children(each)


def is_deeper(node: Node, most: int) -> bool:
    """Tell whether a path from `node` has more than `most` nodes.

    >>> orders = Get("orders", pa.schema([("id", pa.int64())]))
    >>> is_deeper(Negate(orders), 2), is_deeper(Negate(orders), 1)
    (False, True)
    """
    level: list[object] = [node]  # which is checked later, by `ivm.dataflow.validate`
    for _ in range(most):
        below = {id(b): b for each in level if isinstance(each, Node) for b in children(each)}
        level = list(below.values())
        if not level:
            return False
    return True


@remembered
def _is_deep(node: Node) -> bool:
    return is_deeper(node, _SHALLOW)


def recursing(node: Node, work: Callable[[], Answer]) -> Answer:
    """Run `work`, which recurses over `node`, on a stack that is deep enough (raises Unsupported).

    What is no node is left to `work` to refuse.

    >>> recursing(Get("orders", pa.schema([])), lambda: "planned")
    'planned'
    """
    given: object = node
    if not (isinstance(given, Node) and _is_deep(node)):
        return work()
    try:
        return on_deep_stack(work)
    except RecursionError as error:
        raise Unsupported("a dataflow that is nested too deeply: divide it") from error


def expressions(node: Node) -> tuple[Expression, ...]:
    """List the expressions that `node` evaluates over the rows of its input."""
    match node:
        case Filter():
            return (node.predicate,)
        case Map():
            return tuple(expression for _, expression in node.outputs)
        case EnterAt():
            return (node.priority,)
        case Get() | Constant() | FlatMap() | Consolidate() | Union() | Negate() | Arrange():
            return ()
        case Join() | DeltaJoin() | Reduce() | Distinct() | Threshold() | TopK() | Window():
            return ()
        case TemporalFilter() | Recursive() | Iterate():
            return ()
        case _:
            assert_never(node)


@remembered
def free_names(node: Node) -> frozenset[str]:
    """Collect the recursive names that `node` refers to and does not bind."""
    below = frozenset[str]().union(*map(free_names, children(node)))
    match node:
        case Recursive():
            return frozenset([node.name])
        case EnterAt():
            return below | {node.into}
    return below - _bound(node)


@remembered
def passed_names(node: Node) -> frozenset[str]:
    """Collect the free recursive names whose rows reach `node` without a sum on the way."""
    if isinstance(node, Recursive):
        return frozenset([node.name])
    if not _passes(node):
        return frozenset()
    return frozenset[str]().union(*map(passed_names, children(node))) - _bound(node)


def _passes(node: Node) -> bool:
    """Tell whether `node` passes rows on as they come, without adding up equal ones."""
    match node:
        case Filter() | Map() | FlatMap() | Union() | Negate() | Iterate() | EnterAt():
            return True
        case Get() | Constant() | Recursive() | Consolidate() | Arrange() | TemporalFilter():
            return False
        case Join() | DeltaJoin() | Reduce() | Distinct() | Threshold() | TopK() | Window():
            return False
        case _:
            assert_never(node)


@remembered
def recursive_schemas(node: Node) -> dict[str, pa.Schema]:
    """Map each free recursive name to the schema under which it is referred to."""
    if isinstance(node, Recursive):
        return {node.name: node.schema}
    found: dict[str, pa.Schema] = {}
    for child in children(node):
        found |= recursive_schemas(child)
    return {name: schema for name, schema in found.items() if name not in _bound(node)}


def _bound(node: Node) -> frozenset[str]:
    """Collect the recursive names that `node` binds."""
    return frozenset(n for n, _ in node.bindings) if isinstance(node, Iterate) else frozenset()


@remembered
def reads(node: Node) -> frozenset[str]:
    """Collect the names of the inputs and dataflows that `node` refers to."""
    if isinstance(node, Get):
        return frozenset([node.name])
    return frozenset[str]().union(*map(reads, children(node)))
