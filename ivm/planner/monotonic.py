"""Monotonicity: a collection only grows if no row of it is ever retracted.

Inputs declared insert-only do, and so do the outputs of operators without negation or aggregation
over collections that do. A loop's names do if all its bodies do, taking for granted that its
names do: its rounds then climb to the least fixed point, unless the loop stops before.
"""

from collections.abc import Mapping

from ivm.dataflow.nodes import Node
from ivm.dataflow.traversal import reads
from ivm.installed.collection import Collection


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
        return node.keeps_growth and all(map(self.grows, node.children))
