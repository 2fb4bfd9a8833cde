"""Copied sides of joins: a small one goes to all processes, so that the other stays where it lies.

Exchanging both sides by the join's key moves all rows of a large one, but for those that lie by it
already. Where the other side is small all processes have it whole instead: each pairs it with the
rows that it has, and together they have each pair once. Only the join reads what all have, so that
nothing counts it more than once.

Whether a side stays is decided for the arrangement, of which a dataflow has one: it does if each
join that reads it has a small side for it.
"""

from collections import defaultdict
from collections.abc import Container, Iterable
from dataclasses import dataclass
from math import inf
from typing import TypeAlias

from ivm.dataflow.exchange_node import Exchange
from ivm.dataflow.loop_nodes import Iterate, Recursive, free_names
from ivm.dataflow.node import Node, Sizes
from ivm.dataflow.nodes import Arrange, Constant, Distinct, Filter, Join, Map, Reduce, TopK
from ivm.dataflow.traversal import walk

Placement: TypeAlias = tuple[int, ...] | None
"""The columns whose owner has a row, in order; None if any process may have it."""

LEAST_ROWS = 10_000
"""Rows of a side that stays: fewer travel at little cost, and say little of how many will come."""

SHARE = 10
"""The least multiple of a copy's rows that the side which stays has in each process.

It is a margin for estimates, for sides that grow, and for the memory that copies take.
"""

FEW_ROWS = 100
"""Rows of a side that is copied whatever the other one has, if it can never have more."""


def most_rows(node: Node) -> float:
    """Tell how many rows `node` can have by its form; without a bound, infinity.

    >>> import pyarrow as pa
    >>> from ivm.dataflow.nodes import Get, Order
    >>> orders = Get("orders", pa.schema([("id", pa.int64())]))
    >>> most_rows(TopK(orders, (), (Order(0),), 3)), most_rows(TopK(orders, (0,), (Order(0),), 3))
    (3, inf)
    """
    match node:
        case Constant():
            return len(node.rows)
        case Reduce(key=()):
            return 1
        case TopK(key=(), limit=int(limit)):
            return limit
        case Map() | Filter() | Distinct() | Arrange():
            return most_rows(node.input)
        case _:
            return inf


def pays(copied: float, stays: float, processes: int) -> bool:
    """Tell whether to copy `copied` rows to all, so that `stays` rows do not travel.

    Of a side without rows nobody knows how many it will have.

    >>> pays(1_000, 1_000_000, 8), pays(100_000, 1_000_000, 8), pays(0, 1_000_000, 8)
    (True, False, False)
    """
    return stays >= LEAST_ROWS and 0 < copied * processes * SHARE <= stays


@dataclass(frozen=True, slots=True)
class Copying:
    """By what copies are chosen, which has to be the same for all processes.

    `sizes` are the rows that all `processes` have together, and `arranged` the arrangements that
    there are.
    """

    sizes: Sizes
    processes: int
    arranged: Container[Arrange]


class CopiedSides:
    """The sides of the joins among `nodes` that are copied, as `copying` says."""

    def __init__(self, nodes: Iterable[Node], copying: Copying) -> None:
        self._copying = copying
        self._sizes = _InLoops(copying.sizes)
        self._partners: defaultdict[Arrange, list[Arrange]] = defaultdict(list)
        for node in nodes:
            match node:
                case Join():
                    self._partners[node.left].append(node.right)
                    self._partners[node.right].append(node.left)
                case Iterate():
                    self._sizes.enter(node)

    def stays(self, side: Arrange, placement: Placement, moved: Arrange) -> bool:
        """Tell whether `side`, whose input is placed so, stays where it lies.

        Elsewhere it is `moved`, which costs nothing where that is arranged already. In a loop what
        cancels has to meet, or it would go round for ever in two processes: there only a side that
        is placed by columns stays.
        """
        partners = self._partners.get(side)
        if not partners or placement == side.key or moved in self._copying.arranged:
            return False
        if placement is None and free_names(side):
            return False
        return all(self._is_small(partner, side) for partner in partners)

    def _is_small(self, partner: Arrange, side: Arrange) -> bool:
        """Tell whether to copy `partner` for `side`: not by guesses of what a recursion gives."""
        if free_names(partner):
            return False
        if most_rows(partner) <= FEW_ROWS:
            return True
        if any(isinstance(each, Iterate) for each in walk(partner)):
            return False
        return pays(self._sizes.of(partner), self._sizes.of(side), self._copying.processes)


class _InLoops:
    """The `sizes` of nodes in loops, of whose names each has the rows that its body begins with."""

    def __init__(self, sizes: Sizes) -> None:
        self._sizes = sizes
        self._named: dict[str, float] = {}
        self._known: dict[Node, float] = {}

    def enter(self, loop: Iterate) -> None:
        """Learn of the names that `loop` binds; of two with one name, the smaller one."""
        for name, body in loop.bindings:
            rows = self._sizes.of(body)
            self._named[name] = min(rows, self._named.get(name, rows))

    def counted(self, name: str) -> float:
        return self._sizes.counted(name)

    def of(self, node: Node) -> float:
        if isinstance(node, Recursive):
            return self._named[node.name]
        if node not in self._known:
            self._known[node] = node.estimate(self)
        return self._known[node]


def everywhere(node: Node) -> Node:
    """The rows of `node` in all processes: what all have already needs no exchange."""
    if isinstance(node, Exchange) and node.everywhere:
        return node.input
    return Exchange(node, None)
