"""The nodes that each of ten roots reaches while a small random graph slides through a stream.

The latency of an update must not depend on how many went before.
"""

from functools import partial

import numpy as np

from benchmarks.course import pair
from benchmarks.rewiring import EDGES, edges, run, scale
from benchmarks.workload import Phase, Workload
from ivm.dataflow.nodes import Arrange, Distinct, Get, Iterate, Join, Recursive, Union

REACHED = pair("node", "root")


def reached() -> Iterate:
    """Each (node, root) such that edges lead from the root to the node."""
    known = Arrange(Recursive("reached", REACHED), (0,))
    along = Join(known, Arrange(edges, (0,)), (("node", 2), ("root", 1)))
    return Iterate((("reached", Distinct(Union((Get("roots", EDGES), along)))),), "reached")


ROOTS = {"roots": np.repeat(np.arange(10, dtype=np.uint32), 2).reshape(-1, 2)}
PHASES = (
    Phase("one edge at first", 1000, 1, 1),
    Phase("one edge after 1k", 1000, 1, 1),
    Phase("one edge until 10k", 8000, 1, 1),
    Phase("one edge after 10k", 1000, 1, 1),
    Phase("1000 edges at 1000 times", 10, 1000, 1),
    Phase("100 edges", 790, 1, 100),
    Phase("one edge after 100k", 1000, 1, 1),
    Phase("1000 edges", 899, 1, 1000),
    Phase("one edge after 1M", 1000, 1, 1),
)
ONLY_ONE = (*PHASES[:4], PHASES[4], Phase("one edge until 1M", 979_000, 1, 1), PHASES[-1])
FEW = (
    Phase("one edge", 500, 1, 1),
    Phase("100 edges at 100 times", 2, 100, 1),
    Phase("1000 edges", 5, 1, 1000),
)
WORKLOAD = Workload(
    "reach",
    {
        "tiny": scale(1_000, 2_000, *FEW),
        "small": scale(1_000, 2_000, *PHASES),
        "full": scale(1_000, 2_000, *ONLY_ONE),
    },
    partial(run, reached(), ROOTS),
)
