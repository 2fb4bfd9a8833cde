"""How often each key occurs, counted from the start on.

`arrange` adds its count to a running dataflow, which not every peer can do.
"""

from functools import partial

from benchmarks.course import NUMBER
from benchmarks.rewiring import edges, run, scale
from benchmarks.workload import Phase, Workload
from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.nodes import Reduce

COUNTS = Reduce(edges, (0,), (Aggregate("count", None, "count", NUMBER, False),))
PHASES = Phase("one row", 5_000, 1, 1), Phase("5000 rows", 20, 1, 5000)
WORKLOAD = Workload(
    "count",
    {
        "tiny": scale(100_000, 100_000, *PHASES),
        "small": scale(1_000_000, 1_000_000, *PHASES),
        "full": scale(10_000_000, 10_000_000, *PHASES),
    },
    partial(run, COUNTS, {}),
)
