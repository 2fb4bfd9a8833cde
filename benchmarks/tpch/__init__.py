"""TPC-H: its tables, its 22 queries as views, and how fast changes stream through them."""

from benchmarks.tpch.stream import WORKLOAD

__all__ = ["WORKLOAD"]
