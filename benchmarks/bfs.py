"""Breadth-first distances from node 0 in a random graph whose edges are rewired."""

from functools import partial

import numpy as np

from benchmarks.course import NUMBER, pair
from benchmarks.rewiring import EDGES, edges, run, scale
from benchmarks.workload import Phase, Workload
from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.expressions import Call, Literal
from ivm.dataflow.nodes import Arrange, Get, Iterate, Join, Map, Recursive, Reduce, Union, columns

DISTANCES = pair("node", "distance")


def distances() -> Iterate:
    """The smallest number of steps from a root to each node that has any."""
    known = Arrange(Recursive("distances", DISTANCES), (0,))
    along = Join(known, Arrange(edges, (0,)), (("node", 2), ("distance", 1)))
    node, distance = columns(along)
    longer = Call("add", (distance, Literal(1, NUMBER)), NUMBER, False)
    proposed = Map(along, (("node", node), ("distance", longer)))
    nearest = Aggregate("min", 1, "distance", NUMBER, False)
    body = Reduce(Union((Get("roots", EDGES), proposed)), (0,), (nearest,))
    return Iterate((("distances", body),), "distances")


ROOTS = {"roots": np.array([[0, 0]], np.uint32)}
PHASES = Phase("one edge", 2_000, 1, 1), Phase("1000 edges", 10, 1, 1000)
WORKLOAD = Workload(
    "bfs",
    {
        "tiny": scale(20_000, 100_000, *PHASES),
        "small": scale(1_000_000, 5_000_000, *PHASES),
        "full": scale(10_000_000, 50_000_000, *PHASES),
    },
    partial(run, distances(), ROOTS),
)
