"""PageRank whose shares are rounded to ten-thousandths: what one edge changes stays near to it."""

from functools import partial

from benchmarks.pagerank import SCALES, ranks
from benchmarks.rewiring import run
from benchmarks.workload import Workload

WORKLOAD = Workload("pagerank_rounded", SCALES, partial(run, ranks(100), {}))
