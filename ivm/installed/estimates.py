"""Estimates of the rows in a dataflow's collections, from the rows of those that are there.

Nothing is sampled: the rows of inputs and of installed dataflows are counted, and each node says
what follows for it (`ivm.dataflow.selectivity` has the constants). Of two sides that join by a key
the larger one finds one partner for each row; a recursion is as large as what its bodies have
without it.
"""

from collections.abc import Callable

from ivm.dataflow.nodes import Arrange, Join, Node
from ivm.rows.format import row_format

WORD = 8  # bytes


class Estimates:
    """Estimates over collections whose rows `counted` tells by name."""

    def __init__(self, counted: Callable[[str], int]) -> None:
        self._counted = counted
        self._known: dict[Node, float] = {}

    def rows(self, node: Node) -> int:
        """The estimated number of rows of `node`."""
        return max(round(self.of(node)), 0)

    def bytes(self, arrange: Arrange) -> int:
        """The estimated bytes of an arrangement, without strings, which arrangements share."""
        return self.rows(arrange) * WORD * row_format(arrange.schema).words

    def pairs(self, node: Node) -> int:
        """The pairs of rows that `node` itself makes without a key; 0 if it is no such join."""
        return max(round(node.pairs(self)), 0) if isinstance(node, Join) else 0

    def counted(self, name: str) -> float:
        """The rows of the collection `name`."""
        return self._counted(name)

    def of(self, node: Node) -> float:
        """The estimate of `node`; below 0 where more is subtracted than there is."""
        if node not in self._known:
            self._known[node] = node.estimate(self)
        return self._known[node]
