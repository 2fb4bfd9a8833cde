"""Traversals list the nodes and the names that a node reads, and rename these.

>>> import pyarrow as pa
>>> from ivm.dataflow.nodes import Negate
>>> orders = Get("orders", pa.schema([("id", pa.int64())]))
>>> [type(node).__name__ for node in walk(Negate(orders))], reads(Negate(orders))
(['Negate', 'Get'], frozenset({'orders'}))
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, replace
from operator import attrgetter
from typing import Any, TypeVar

from ivm.dataflow.node_hash import Hashed, remembered
from ivm.dataflow.nodes import Get, Node
from ivm.deep import on_deep_stack
from ivm.errors import Unsupported

Answer = TypeVar("Answer")
_SHALLOW = 50
"""Nodes on a path for which the caller's stack suffices: planning takes some 10 frames for each."""


def walk(
    node: Node, children: Callable[[Node], Iterable[Node]] = attrgetter("children")
) -> Iterator[Node]:
    """Yield `node` and all that it reads, each once, a node before those that it reads.

    These are its `children`, or what is to be taken for them.
    """
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

    >>> import pyarrow as pa
    >>> from ivm.dataflow.nodes import Negate
    >>> orders = Get("orders", pa.schema([("id", pa.int64())]))
    >>> is_deeper(Negate(orders), 2), is_deeper(Negate(orders), 1)
    (False, True)
    """
    level: list[object] = [node]  # which is checked later, by `ivm.dataflow.validate`
    for _ in range(most):
        below = {id(b): b for each in level if isinstance(each, Node) for b in each.children}
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

    >>> import pyarrow as pa
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


@remembered
def reads(node: Node) -> frozenset[str]:
    """Collect the names of the inputs and dataflows that `node` refers to."""
    if isinstance(node, Get):
        return frozenset([node.name])
    return frozenset[str]().union(*map(reads, node.children))


def renamed(node: Node, names: Mapping[str, str]) -> Node:
    """Read other inputs and dataflows in `node`: those that `names` maps the present ones to.

    >>> import pyarrow as pa
    >>> from ivm.dataflow.nodes import Negate, Union
    >>> orders = Get("orders", pa.schema([("id", pa.int64())]))
    >>> reads(renamed(Union((orders, Negate(orders))), {"orders": "others"}))
    frozenset({'others'})
    """
    if reads(node).isdisjoint(names):
        return node
    made: dict[Node, Node] = {}
    return recursing(node, lambda: _renamed(node, names, made))


def _renamed(node: Node, names: Mapping[str, str], made: dict[Node, Node]) -> Node:
    if reads(node).isdisjoint(names):
        return node
    if node not in made:
        if isinstance(node, Get):
            made[node] = replace(node, name=names[node.name])
        else:
            parts = {f.name: getattr(node, f.name) for f in fields(node) if f.init}
            made[node] = replace(node, **{n: _part(p, names, made) for n, p in parts.items()})
    return made[node]


def _part(part: Any, names: Mapping[str, str], made: dict[Node, Node]) -> Any:
    """A field of a node, or a part of it, with the nodes in it renamed."""
    if isinstance(part, Hashed):
        return _renamed(part, names, made)  # type: ignore[arg-type]
    if isinstance(part, tuple) and any(isinstance(each, Hashed | tuple) for each in part):
        return tuple(_part(each, names, made) for each in part)
    return part
