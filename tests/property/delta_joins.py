"""Delta joins over the inputs of `engine`: every shape, NULLs, and loops two and three deep."""

import pyarrow as pa

from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.combinators import reduce
from ivm.dataflow.delta_join import delta_join
from ivm.dataflow.expressions import Call, Column, Literal
from ivm.dataflow.nodes import (
    Arrange,
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
COUNTS = pa.schema([pa.field(name, INT, nullable=False) for name in ("node", "n", "ways")])
LABELS = pa.schema([pa.field("node", INT, nullable=False), pa.field("label", INT, nullable=False)])
count = Aggregate("count", None, "ways", INT, False)
ID, TEAM, SCORE = 0, 1, 2  # of people, which has five columns; edges have two


def triangle() -> Node:
    """a-b, b-c and a-c."""
    equal = ((0, 4), (1, 2), (3, 5))
    return delta_join((edges, edges, edges), equal, (("a", 0), ("b", 1), ("c", 3)))


def chain() -> Node:
    """Edge to person, to a person of the same team, to an edge from that one's score.

    Teams are NULL on both sides, and then equal; the score may be NULL and the source not.
    """
    equal = ((1, 2 + ID), (2 + TEAM, 7 + TEAM), (7 + SCORE, 12))
    outputs = (("from", 0), ("to", 13), ("team", 7 + TEAM), ("other", 7 + ID))
    return delta_join((edges, people, people, edges), equal, outputs)


def star() -> Node:
    """A person with its edges, its team's members, and edges to its score."""
    equal = ((ID, 5), (TEAM, 7 + TEAM), (SCORE, 13))
    outputs = (("id", 0), ("dst", 6), ("mate", 7), ("source", 12), ("score", 13))
    return delta_join((people, edges, people, edges), equal, outputs)


def unconnected() -> Node:
    """Every pair of an edge's source and a person with an edge to it."""
    return delta_join((edges, people, edges), ((2 + ID, 8),), (("a", 0), ("b", 2), ("c", 7)))


def counted_steps() -> Iterate:
    """Nodes by the number of double steps to them, below four, with the number of ways there."""
    x = Recursive("x", COUNTS)
    n, ways = Column(1, INT, False), Literal(1, INT)
    start = Map(edges, (("node", columns(edges)[1]), ("n", Literal(0, INT)), ("ways", ways)))
    moved = delta_join((x, edges, edges), ((0, 3), (4, 5)), (("node", 6), ("n", 1)))
    later = Call("add", (n, Literal(1, INT)), INT, False)
    further = Map(moved, (("node", columns(moved)[0]), ("n", later), ("ways", ways)))
    few = Filter(further, Call("lt", (n, Literal(4, INT)), BOOL, False))
    counted = Reduce(Union((start, few)), (0, 1), (count,))
    return Iterate((("x", counted),), "x")


def closure() -> Iterate:
    """The transitive closure, by three paths at once: two relations are recursive."""
    x = Recursive("x", EDGES)
    longer = delta_join((x, edges, x), ((1, 2), (3, 4)), (("src", 0), ("dst", 5)))
    next_to = Join(Arrange(x, (1,)), Arrange(edges, (0,)), (("src", 1), ("dst", 2)))
    return Iterate((("x", Distinct(Union((edges, next_to, longer)))),), "x")


def in_two_loops() -> Iterate:
    """Edges that are left when those between nodes of different labels are dropped for good.

    Labels follow what is left; with each edge, by how many ways its ends have got theirs.
    """
    dropped, labels = Recursive("dropped", EDGES), Recursive("labels", LABELS)
    present = Distinct(edges)
    left = Union((present, Negate(dropped)))
    own = Map(
        Distinct(project(left, (0,))),
        (("node", Column(0, INT, False)), ("label", Column(0, INT, False))),
    )
    along = delta_join((labels, left, edges), ((0, 2, 4), (3, 5)), (("node", 3), ("label", 1)))
    smallest = Aggregate("min", 1, "label", INT, False)
    least = Reduce(Union((own, along)), (0,), (smallest,))
    counted = reduce(Union((own, along)), (0,), (smallest, count))
    labelled = Iterate((("labels", least), ("counted", counted)), "counted")
    ends = delta_join(
        (left, labelled, labelled),
        ((0, 2), (1, 5)),
        (("src", 0), ("dst", 1), ("a", 3), ("b", 6), ("m", 4), ("n", 7)),
    )
    differ = Filter(ends, Call("ne", (columns(ends)[2], columns(ends)[3]), BOOL, False))
    gone = Distinct(Union((dropped, project(differ, (0, 1)))))
    return Iterate((("dropped", gone), ("ends", ends)), "ends", max_rounds=60)


DELTA_JOINS: dict[str, Node] = {
    "delta join, triangle": triangle(),
    "delta join, chain": chain(),
    "delta join, star": star(),
    "delta join, unconnected": unconnected(),
    "delta join in a loop": counted_steps(),
    "delta join of recursive relations": closure(),
    "delta join in two loops": in_two_loops(),
}
