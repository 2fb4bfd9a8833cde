"""Any node inside one loop or two, with input that comes at times of two and three coordinates.

The input of a node is split into parts that overlap: one is there from the start, one comes a
round of the outer loop later, one a round of the inner loop later. At their fixed points the loops
hold the node's value over all parts together, but on the way its input changes at times of which
neither is less than the other: (t, 0, 0), (t, 1, 0), (t, 0, 1).
"""

from dataclasses import fields, replace
from typing import Any

import pyarrow as pa

from ivm.dataflow.expressions import Call, Literal
from ivm.dataflow.nodes import Filter, Get, Iterate, Node, Recursive, Union, columns

INT = pa.int64()
BOOL = pa.bool_()


def _where(node: Node, comparison: str, bound: int) -> Filter:
    """The rows of which the first column, an integer, compares so with `bound`."""
    return Filter(node, Call(comparison, (columns(node)[0], Literal(bound, INT)), BOOL, False))


def substitute(value: Any, replacements: dict[Node, Node]) -> Any:
    """A node, or a tuple that holds nodes, with some of them replaced."""
    if isinstance(value, tuple):
        return tuple(substitute(each, replacements) for each in value)
    if not isinstance(value, Node):
        return value
    if value in replacements:
        return replacements[value]
    changed = {
        f.name: substitute(getattr(value, f.name), replacements) for f in fields(value) if f.init
    }
    return replace(value, **changed)


def in_one_loop(node: Node, inputs: tuple[Get, ...]) -> Iterate:
    """`node` in a loop: some of its input comes a round later."""
    late = {source: f"late {source.name}" for source in inputs}
    parts: dict[Node, Node] = {
        source: Union((_where(source, "lt", 4), Recursive(name, source.schema)))
        for source, name in late.items()
    }
    bindings = tuple((name, _where(source, "ge", 2)) for source, name in late.items())
    return Iterate((*bindings, ("answer", substitute(node, parts))), "answer")


def in_two_loops(node: Node, inputs: tuple[Get, ...]) -> Iterate:
    """`node` in a loop in a loop: some of its input comes a round of either later."""
    outer = {source: f"outer {source.name}" for source in inputs}
    inner = {source: f"inner {source.name}" for source in inputs}
    parts: dict[Node, Node] = {
        source: Union(
            (
                _where(source, "lt", 3),
                Recursive(outer[source], source.schema),
                Recursive(inner[source], source.schema),
            )
        )
        for source in inputs
    }
    late = tuple((name, _where(source, "ge", 2)) for source, name in outer.items())
    later = tuple((name, _where(source, "le", 4)) for source, name in inner.items())
    answer = Iterate((*later, ("answer", substitute(node, parts))), "answer")
    return Iterate((*late, ("answer", answer)), "answer")
