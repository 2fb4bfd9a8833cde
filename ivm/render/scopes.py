"""Scopes while planning: the root, and one for each loop that is being planned."""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cache, lru_cache
from typing import Any

from ivm.dataflow import (
    Arrange,
    Concat,
    EnterAt,
    Filter,
    FlatMap,
    Get,
    Iterate,
    Map,
    Negate,
    Node,
    Recursive,
)
from ivm.render.arranged import Arranged
from ivm.rows.format import Format

_REMEMBERED = 4096
"""Nodes of which the functions below remember the answer: a node may lie on many paths."""


_PASSING = (Concat, EnterAt, Filter, FlatMap, Iterate, Map, Negate)
"""What hands rows on as they come: none of these brings equal ones together."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A collection in a plan: the number of the stage that puts it out, and its rows' format."""

    stage: int
    format: Format


@dataclass(eq=False, slots=True)
class Scope:
    """Where stages are added: to the `body` of a loop within `parent`; both are None at the root.

    Its times have `depth` coordinates, and its place among the plan's regions is `region`.
    `grows`: whatever refers to this scope's names only grows if nothing else in it shrinks.
    `bodies` are those of the recursive names that the loop binds.
    """

    region: int
    depth: int
    body: list[int] | None = None
    parent: "Scope | None" = None
    grows: bool = True
    bodies: dict[str, Node] = field(default_factory=dict)
    variables: dict[str, Rendered] = field(default_factory=dict)
    memo: dict[Node, Rendered] = field(default_factory=dict)
    indexes: dict[Arrange, Arranged] = field(default_factory=dict)

    def home(self, names: frozenset[str]) -> "Scope":
        """The innermost scope that binds one of `names`, or the root."""
        scope = self
        while scope.parent is not None and not names & scope.bodies.keys():
            scope = scope.parent
        return scope


def children(node: Node) -> Iterator[Node]:
    """The nodes that `node` reads directly."""
    kind: Any = type(node)
    for name in _fields(kind):
        value = getattr(node, name)
        if isinstance(value, Node):
            yield value
        elif name == "inputs":
            yield from value
        elif name == "bindings":
            yield from (body for _, body in value)


@cache
def _fields(kind: Any) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind))


@lru_cache(maxsize=_REMEMBERED)
def free_names(node: Node) -> frozenset[str]:
    """The recursive names that `node` refers to and does not bind."""
    if isinstance(node, Recursive):
        return frozenset([node.name])
    names = frozenset().union(*(free_names(child) for child in children(node)))
    if isinstance(node, EnterAt):
        names |= {node.into}
    if isinstance(node, Iterate):
        names -= {name for name, _ in node.bindings}
    return names


@lru_cache(maxsize=_REMEMBERED)
def passed_names(node: Node) -> frozenset[str]:
    """The free recursive names whose rows reach `node` without being summed up on the way."""
    if isinstance(node, Recursive):
        return frozenset([node.name])
    if not isinstance(node, _PASSING):
        return frozenset()
    names = frozenset().union(*(passed_names(child) for child in children(node)))
    if isinstance(node, Iterate):
        names -= {name for name, _ in node.bindings}
    return names


@lru_cache(maxsize=_REMEMBERED)
def recursive_schemas(node: Node) -> dict[str, Any]:
    """The schema under which each free recursive name is referred to."""
    if isinstance(node, Recursive):
        return {node.name: node.schema}
    found: dict[str, Any] = {}
    for child in children(node):
        found |= recursive_schemas(child)
    bound = dict(node.bindings) if isinstance(node, Iterate) else {}
    return {name: schema for name, schema in found.items() if name not in bound}


@lru_cache(maxsize=_REMEMBERED)
def reads(node: Node) -> frozenset[str]:
    """The names of the inputs and dataflows that `node` refers to."""
    if isinstance(node, Get):
        return frozenset([node.name])
    return frozenset().union(*(reads(child) for child in children(node)))
