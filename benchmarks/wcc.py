"""Connected components of a random graph whose edges are rewired, by the smallest label.

A node that is the smaller end of some edge proposes itself, and labels go along the edges in both
directions. Small labels set out first.
"""

from collections.abc import Iterable
from functools import partial

from benchmarks.course import NUMBER, pair
from benchmarks.rewiring import edges, run, scale, small_first
from benchmarks.workload import Phase, Workload
from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.expressions import Call
from ivm.dataflow.nodes import (
    Arrange,
    Distinct,
    EnterAt,
    Iterate,
    Join,
    Map,
    Node,
    Recursive,
    Reduce,
    Union,
    columns,
    project,
)

LABELS = pair("node", "label")


def labels(links: Node, ways: Iterable[Node]) -> Iterate:
    """The smallest node that each node with a link is connected with; labels go all the `ways`."""
    least = Call("least", tuple(columns(links)), NUMBER, False)
    own = Distinct(Map(links, (("node", least), ("label", least))))
    entering = EnterAt(own, small_first(columns(own)[1]), "labels")
    known = Arrange(Recursive("labels", LABELS), (0,))
    along = [Join(known, Arrange(way, (0,)), (("node", 2), ("label", 1))) for way in ways]
    smallest = Aggregate("min", 1, "label", NUMBER, False)
    body = Reduce(Union((entering, *along)), (0,), (smallest,))
    return Iterate((("labels", body),), "labels")


def both_ways(links: Node) -> Union:
    """Links from either end."""
    return Union((links, project(links, (1, 0))))


PHASES = Phase("one edge", 2_000, 1, 1), Phase("1000 edges", 5, 1, 1000)
WORKLOAD = Workload(
    "wcc",
    {
        "tiny": scale(5_000, 100_000, *PHASES),
        "small": scale(200_000, 4_000_000, *PHASES),
        "full": scale(2_000_000, 40_000_000, *PHASES),
    },
    partial(run, labels(edges, [both_ways(edges)]), {}),
)
