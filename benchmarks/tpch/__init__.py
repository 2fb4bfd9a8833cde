"""TPC-H: its tables, its 22 queries as views, and how fast changes stream through them."""

from functools import partial

from benchmarks.tpch.data import QUERIES, tables
from benchmarks.tpch.stream import WORKLOAD
from benchmarks.verify import Trial

TRIALS = tuple(
    Trial(f"tpch, SF {factor}", QUERIES, partial(tables, factor=factor), 0.001)
    for factor in (0.01, 0.1)
)

__all__ = ["TRIALS", "WORKLOAD"]
