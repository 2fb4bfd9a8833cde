"""Connected components of a random graph whose edges are rewired, by the smallest label.

A node that is the smaller end of some edge proposes itself, and labels go along the edges in both
directions. Small labels set out first.
"""

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
    Recursive,
    Reduce,
    Union,
    columns,
    project,
)

LABELS = pair("node", "label")


def labels() -> Iterate:
    """The smallest node that each node with an edge is connected with."""
    least = Call("least", tuple(columns(edges)), NUMBER, False)
    own = Distinct(Map(edges, (("node", least), ("label", least))))
    entering = EnterAt(own, small_first(columns(own)[1]), "labels")
    both = Union((edges, project(edges, (1, 0))))
    known = Arrange(Recursive("labels", LABELS), (0,))
    along = Join(known, Arrange(both, (0,)), (("node", 2), ("label", 1)))
    smallest = Aggregate("min", 1, "label", NUMBER, False)
    body = Reduce(Union((entering, along)), (0,), (smallest,))
    return Iterate((("labels", body),), "labels")


PHASES = Phase("one edge", 2_000, 1, 1), Phase("1000 edges", 5, 1, 1000)
WORKLOAD = Workload(
    "wcc",
    {
        "tiny": scale(5_000, 100_000, *PHASES),
        "small": scale(200_000, 4_000_000, *PHASES),
        "full": scale(2_000_000, 40_000_000, *PHASES),
    },
    partial(run, labels(), {}),
)
