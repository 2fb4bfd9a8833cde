"""The interactive queries, where each join with the graph has a copy of it of its own."""

from functools import partial

from benchmarks.interactive import ASKING, run, scales
from benchmarks.workload import Workload

WORKLOAD = Workload("interactive_unshared", scales(*ASKING), partial(run, False))
