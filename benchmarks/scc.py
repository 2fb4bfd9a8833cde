"""Strongly connected components of a random graph whose edges are rewired: a loop around loops.

As in differential-dataflow's `algorithms::graphs::scc`: an edge stays while its ends have one
label, where labels flow along the edges that are left; once forwards and once backwards in a round,
small ones first.
"""

from functools import partial

import pyarrow as pa

from benchmarks.course import NUMBER, pair
from benchmarks.rewiring import EDGES, edges, run, scale, small_first
from benchmarks.workload import Phase, Workload
from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.expressions import Call
from ivm.dataflow.nodes import (
    Arrange,
    Distinct,
    EnterAt,
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

LABELS = pair("node", "label")


def _labels(left: Node, all_edges: Node) -> Iterate:
    """The smallest node from which the edges that are `left` lead to each node."""
    ends = Distinct(project(all_edges, (1,)))
    (node,) = columns(ends)
    own = Map(ends, (("node", node), ("label", node)))
    entering = EnterAt(own, small_first(node), "labels")
    known = Arrange(Recursive("labels", LABELS), (0,))
    along = Join(known, Arrange(left, (0,)), (("node", 2), ("label", 1)))
    smallest = Aggregate("min", 1, "label", NUMBER, False)
    return Iterate((("labels", Reduce(Union((entering, along)), (0,), (smallest,))),), "labels")


def _trimmed(left: Node, all_edges: Node) -> Node:
    """Those of `all_edges` whose ends have one label, reversed."""
    labels = Arrange(_labels(left, all_edges), (0,))
    source = Join(Arrange(all_edges, (0,)), labels, (("src", 0), ("dst", 1), ("a", 2)))
    both = Join(Arrange(source, (1,)), labels, (("src", 1), ("dst", 0), ("a", 2), ("b", 3)))
    same = Call("eq", tuple(columns(both)[2:]), pa.bool_(), False)
    return project(Filter(both, same), (1, 0))


def components() -> Union:
    """The edges within a component: all edges, less those that the loop has cut."""
    left = Union((edges, Negate(Recursive("cut", EDGES))))
    backwards = project(edges, (1, 0))
    kept = _trimmed(_trimmed(left, edges), backwards)
    cut = Iterate((("cut", Union((edges, Negate(kept)))),), "cut")
    return Union((edges, Negate(cut)))


PHASES = Phase("100 edges", 20, 1, 100), Phase("one edge", 500, 1, 1)
WORKLOAD = Workload(
    "scc",
    {
        "small": scale(100_000, 200_000, *PHASES),
        "full": scale(1_000_000, 2_000_000, *PHASES),
    },
    partial(run, components(), {}),
)
