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
from ivm.render.scopes import Scope, free_names

Key = tuple[int, ...]


class Placement:
    """Answers for the nodes of one dataflow, of whose collections `stored` are the arrangements."""

    def __init__(self, stored: Mapping[str, Arrange]) -> None:
        self._stored = stored
        self._known: dict[tuple[Node, Scope], Key | None] = {}

    def of(self, node: Node, scope: Scope) -> Key | None:
        """The columns, in order, whose values decide in which shard a row of `node` is.

        None if nothing is known. Recursive names are those of `scope`; what a body says of its own
        name does not count.
        """
        home = scope.home(free_names(node))
        if (node, home) not in self._known:
            self._known[node, home] = None  # while its body is looked at
            self._known[node, home] = self._of(node, home)
        return self._known[node, home]

    def _of(self, node: Node, scope: Scope) -> Key | None:
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
                return _moved(self.of(node.input, scope), outputs)
            case Filter() | Negate():
                return self.of(node.input, scope)
            case EnterAt() if scope.parent is not None:
                return self.of(node.input, scope.parent)
            case Concat():
                first, *others = {self.of(term, scope) for term in node.inputs}
                return None if others else first
            case Iterate():
                inner = Scope(
                    scope.region, scope.depth + 1, parent=scope, bodies=dict(node.bindings)
                )
                return self.of(inner.bodies[node.result], inner)
            case Recursive() if node.name in scope.bodies:
                return self.of(scope.bodies[node.name], scope)
            case Get() if node.name in self._stored:
                return self._stored[node.name].key
        return None


def _moved(key: Key | None, outputs: list[int | None]) -> Key | None:
    """Where the columns `key` are among `outputs`, if all are."""
    if key is None or not set(key) <= set(outputs):
        return None
    return tuple(outputs.index(column) for column in key)
