"""Twenty rounds of PageRank over a random graph whose edges are rewired: the library's program.

Nearly half of all ranks, of all rounds, change by a millionth or more with one edge.
"""

from functools import partial

from benchmarks.rewiring import EDGES, run, scale
from benchmarks.workload import Phase, Workload
from ivm.dataflow.nodes import Node
from views.catalog import Catalog, Table
from views.compile import compile_view
from views.programs import load

PHASES = (Phase("one edge", 5, 1, 1),)
SCALES = {
    "tiny": scale(2_000, 8_000, *PHASES),
    "small": scale(100_000, 400_000, *PHASES),
    "full": scale(1_000_000, 4_000_000, *PHASES),
}


def ranks(step: int) -> Node:
    """The rank of each node in millionths, of shares that are multiples of `step`."""
    program = load("pagerank")
    catalog = Catalog([Table("edges", EDGES, ())])
    return compile_view(program.query(None, step=step), catalog, program.key).node


WORKLOAD = Workload("pagerank", SCALES, partial(run, ranks(1), {}))
