"""Which collections only grow: no row of theirs is ever retracted.

Inputs declared insert-only do, and what operators without negation or aggregation make of
collections that do. A loop's names do if all its bodies do, taking for granted that its names do:
its rounds then climb to the least fixed point, unless the loop stops before.
"""

from collections.abc import Mapping

from ivm.dataflow import (
    Arrange,
    Concat,
    Consolidate,
    Constant,
    DeltaJoin,
    Distinct,
    Filter,
    FlatMap,
    Get,
    Iterate,
    Join,
    Map,
    Node,
    Recursive,
    Reduce,
    Threshold,
)
from ivm.render.collection import Collection
from ivm.render.scopes import children, reads

MONOTONE = (
    Arrange,
    Concat,
    Consolidate,
    DeltaJoin,
    Distinct,
    Filter,
    FlatMap,
    Iterate,
    Join,
    Map,
)


class Growth:
    """Answers for the nodes of one dataflow over `collections`."""

    def __init__(self, collections: Mapping[str, Collection]) -> None:
        self._collections = collections
        self._known: dict[Node, bool] = {}

    def grows(self, node: Node) -> bool:
        """Whether `node` only grows if the recursive names that it refers to do."""
        if node not in self._known:
            self._known[node] = self._reads_what_grows(node) and self._grows(node)
        return self._known[node]

    def _reads_what_grows(self, node: Node) -> bool:
        found = map(self._collections.get, reads(node))
        return all(collection is not None and collection.insert_only for collection in found)

    def _grows(self, node: Node) -> bool:
        if isinstance(node, Reduce):
            return not node.aggregates and self.grows(node.input)
        if isinstance(node, Threshold):
            return node.limit == 1 and self.grows(node.input)
        if isinstance(node, (Constant, Get, Recursive)):
            return True
        if isinstance(node, Iterate) and node.stops:
            return False
        return isinstance(node, MONOTONE) and all(self.grows(child) for child in children(node))
