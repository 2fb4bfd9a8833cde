"""Estimates of the rows in a dataflow's collections, from the rows of those that are there.

Nothing is sampled: the rows of inputs and of installed dataflows are counted, and the rest follows
by the constants of System R (Selinger et al., "Access Path Selection", SIGMOD 1979). A condition
of equality keeps a tenth, another comparison a third; of two sides that join by a key the larger
one finds one partner for each row; a group has ten rows; a recursion is as large as what its
bodies have without it.
"""

from collections.abc import Callable
from math import prod
from typing import assert_never

from ivm.dataflow.expressions import Call, Column, Expression, Literal
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
from ivm.rows.format import row_format

EQUAL, COMPARED, GROUP = 1 / 10, 1 / 3, 10
WORD = 8  # bytes


class Estimates:
    """Estimates over collections whose rows `counted` tells by name."""

    def __init__(self, counted: Callable[[str], int]) -> None:
        self._counted = counted
        self._known: dict[Node, float] = {}

    def rows(self, node: Node) -> int:
        """The estimated number of rows of `node`."""
        return max(round(self._of(node)), 0)

    def bytes(self, arrange: Arrange) -> int:
        """The estimated bytes of an arrangement, without strings, which arrangements share."""
        return self.rows(arrange) * WORD * row_format(arrange.schema).words

    def _of(self, node: Node) -> float:
        if node not in self._known:
            self._known[node] = self._estimate(node)
        return self._known[node]

    def _estimate(self, node: Node) -> float:
        match node:
            case Get():
                return self._counted(node.name)
            case Constant():
                return len(node.rows)
            case Filter():
                return self._of(node.input) * _share(node.predicate)
            case Union():
                return sum(map(self._of, node.inputs))
            case Negate():
                return -self._of(node.input)
            case Join():
                return self._joined(node)
            case DeltaJoin():
                return max(map(self._of, node.relations))
            case Reduce():
                return self._of(node.input) / GROUP if node.key else 1
            case TopK() if node.limit is not None:
                groups = self._of(node.input) / GROUP if node.key else 1
                return min(groups * node.limit, self._of(node.input))
            case Recursive():
                return 0
            case Iterate():
                return self._of(dict(node.bindings)[node.result])
            case TemporalFilter():
                return self._of(node.events)
            case TopK() | Map() | FlatMap() | Consolidate() | Arrange() | EnterAt():
                return self._of(node.input)
            case Distinct() | Threshold() | Window():
                return self._of(node.input)
            case _:
                assert_never(node)

    def pairs(self, node: Node) -> int:
        """The pairs of rows that `node` itself makes without a key; 0 if it is no such join."""
        if not isinstance(node, Join) or _is_keyed(node.left):
            return 0
        return max(round(self._of(node.left) * self._of(node.right)), 0)

    def _joined(self, node: Join) -> float:
        left, right = self._of(node.left), self._of(node.right)
        return max(left, right) if _is_keyed(node.left) else left * right


def _is_keyed(arrange: Arrange) -> bool:
    """Whether rows differ in the key: a constant one pairs all rows with all."""
    given = arrange.input
    if not isinstance(given, Map):
        return bool(arrange.key)
    return any(not isinstance(given.outputs[i][1], Literal) for i in arrange.key)


def _share(condition: Expression) -> float:
    """The share of rows for which `condition` is true."""
    match condition:
        case Literal():
            return 1 if condition.value else 0
        case Column():
            return COMPARED
        case Call():
            return _share_of_call(condition)
        case _:
            assert_never(condition)


def _share_of_call(condition: Call) -> float:
    match condition.function:
        case "and":
            return prod(map(_share, condition.arguments))
        case "or":
            return min(sum(map(_share, condition.arguments)), 1)
        case "not":
            return 1 - _share(condition.arguments[0])
        case "eq" | "is_not_distinct" | "is_null" | "like" | "ilike" | "starts_with":
            return EQUAL
        case "ne" | "is_distinct" | "is_not_null":
            return 1 - EQUAL
        case _:
            return COMPARED
