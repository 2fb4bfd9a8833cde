"""Nodes that only grow where their inputs do: recursion over sets and bags, up to three deep."""

import pyarrow as pa

from ivm.dataflow.combinators import semijoin
from ivm.dataflow.delta_join import delta_join
from ivm.dataflow.expressions import Call, Column, Literal
from ivm.dataflow.nodes import (
    Arrange,
    Consolidate,
    Distinct,
    Filter,
    Iterate,
    Join,
    Map,
    Negate,
    Node,
    Recursive,
    Reduce,
    Union,
    columns,
    project,
)
from tests.property.engine import EDGES, edges, people

INT = pa.int64()
BOOL = pa.bool_()
NODE = pa.schema([pa.field("node", INT, nullable=False)])
COUNTS = pa.schema([pa.field("node", INT, nullable=False), pa.field("n", INT, nullable=False)])


def _joined(left: Node, right: Node) -> Join:
    """(a, b) and (b, c) to (a, c)."""
    return Join(Arrange(left, (1,)), Arrange(right, (0,)), (("src", 1), ("dst", 2)))


def closure() -> Iterate:
    """The transitive closure, doubling."""
    x = Recursive("x", EDGES)
    return Iterate((("x", Distinct(Union((edges, _joined(x, x))))),), "x")


def same_generation() -> Iterate:
    """Pairs of nodes at the same depth below a common node: a delta join in the loop."""
    x = Recursive("x", EDGES)
    siblings = Join(Arrange(edges, (0,)), Arrange(edges, (0,)), (("src", 1), ("dst", 2)))
    cousins = delta_join((edges, x, edges), ((0, 2), (3, 4)), (("src", 1), ("dst", 5)))
    return Iterate((("x", Distinct(Consolidate(Union((siblings, cousins))))),), "x")


def loop_in_a_loop() -> Iterate:
    """Closures of what the outer loop found, which goes on from pairs of persons."""
    outer, inner = Recursive("outer", EDGES), Recursive("inner", EDGES)
    known = semijoin(Arrange(outer, (1,)), Distinct(project(people, (0,))))
    start = Union((edges, project(known, (1, 0))))
    closed = Iterate((("inner", Distinct(Union((start, _joined(inner, start))))),), "inner")
    return Iterate((("outer", Distinct(Union((closed, _joined(closed, edges))))),), "outer")


def mutual() -> Iterate:
    """Two names, one of which has no distinct of its own."""
    x, y = Recursive("x", EDGES), Recursive("y", EDGES)
    return Iterate((("x", Distinct(Union((edges, y)))), ("y", _joined(x, edges))), "y")


def paths() -> Iterate:
    """A bag: the paths of less than four edges, by their end and length."""
    x = Recursive("x", COUNTS)
    n, one = Column(1, INT, False), Literal(1, INT)
    start = Map(edges, (("node", Column(1, INT, False)), ("n", one)))
    moved = Join(Arrange(x, (0,)), Arrange(edges, (0,)), (("node", 2), ("n", 1)))
    longer = Map(moved, (("node", columns(moved)[0]), ("n", Call("add", (n, one), INT, False))))
    few = Filter(longer, Call("lt", (n, Literal(4, INT)), BOOL, False))
    return Iterate((("x", Union((start, few))),), "x")


def leaves() -> Union:
    """What only grows, subtracted: nodes that are reached and reach nothing."""
    ends = Distinct(project(closure(), (1,)))
    return Union((ends, Negate(Distinct(project(closure(), (0,))))))


def inside_what_shrinks() -> Iterate:
    """Closures over what is left of the edges while those that are on a cycle are dropped."""
    dropped, left = Recursive("dropped", EDGES), Recursive("left", EDGES)
    inner, present = Recursive("inner", EDGES), Distinct(edges)
    closed = Iterate((("inner", Distinct(Union((left, _joined(inner, present))))),), "inner")
    back = Join(Arrange(present, (1, 0)), Arrange(closed, (0, 1)), (("src", 1), ("dst", 0)))
    gone = Distinct(Union((dropped, back)))
    rest = Union((present, Negate(dropped)))
    return Iterate((("dropped", gone), ("left", rest), ("closed", closed)), "closed")


GROWING: dict[str, Node] = {
    "distinct with strings and NULLs": Distinct(project(people, (1, 2))),
    "distinct key": Reduce(people, (1,), ()),
    "closure": closure(),
    "same generation": same_generation(),
    "loop in a loop": loop_in_a_loop(),
    "mutual recursion": mutual(),
    "bag in a loop": paths(),
    "subtracted": leaves(),
    "inside what shrinks": inside_what_shrinks(),
}
