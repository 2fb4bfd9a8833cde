"""Where rows lie already: the columns by which an operator's output is in its shards.

What groups, joins or arranges by a key puts out its rows in the shard that owns the key. Who wants
them by the same key reads them there, and nothing is exchanged.
"""

from collections.abc import Mapping

from ivm.dataflow import (
    Arrange,
    Concat,
    Consolidate,
    Distinct,
    Due,
    EnterAt,
    Filter,
    Get,
    Iterate,
    Join,
    Map,
    Negate,
    Node,
    Recursive,
    Reduce,
    Threshold,
    TopK,
    Window,
)
from ivm.expressions import Column
from ivm.render.pieces import Collection
from ivm.render.scopes import free_names

Key = tuple[int, ...]


class Placement:
    """Answers for the nodes of one dataflow over `collections`."""

    def __init__(self, collections: Mapping[str, Collection]) -> None:
        self._collections = collections
        self._known: dict[object, Key | None] = {}

    def of(self, node: Node, bodies: Mapping[str, Node]) -> Key | None:
        """The columns, in order, whose values decide in which shard a row of `node` is.

        None if nothing is known. `bodies` are those of the recursive names in scope; what a body
        says of its own name does not count.
        """
        bound = frozenset((name, bodies.get(name)) for name in free_names(node))
        if (node, bound) not in self._known:
            self._known[node, bound] = None  # while its body is looked at
            self._known[node, bound] = self._of(node, bodies)
        return self._known[node, bound]

    def _of(self, node: Node, bodies: Mapping[str, Node]) -> Key | None:
        match node:
            case Reduce() | Arrange():
                return tuple(range(len(node.key)))
            case TopK() | Window():
                return node.key
            case Distinct() | Threshold() | Consolidate() | Due():
                return tuple(range(len(node.schema)))
            case Join():
                return _moved(tuple(range(len(node.left.key))), [i for _, i in node.outputs])
            case Map():
                outputs = [e.index if isinstance(e, Column) else None for _, e in node.outputs]
                return _moved(self.of(node.input, bodies), outputs)
            case Filter() | Negate():
                return self.of(node.input, bodies)
            case EnterAt() if not free_names(node.input):
                return self.of(node.input, {})  # names in it would be those of the scope outside
            case Concat():
                first, *others = {self.of(term, bodies) for term in node.inputs}
                return None if others else first
            case Iterate():
                inner = dict(node.bindings)
                return self.of(inner[node.result], {**bodies, **inner})
            case Recursive() if node.name in bodies:
                return self.of(bodies[node.name], bodies)
            case Get() if node.name in self._collections:
                return self._collections[node.name].indexes[0][1].node.key
        return None


def _moved(key: Key | None, outputs: list[int | None]) -> Key | None:
    """Where the columns `key` are among `outputs`, if all are."""
    if key is None or not set(key) <= set(outputs):
        return None
    return tuple(outputs.index(column) for column in key)
