"""Rows of two words, arranged by the first; then a count by key over that arrangement.

The microbenchmark of K-Pg (section 6.5). In the closed loop rounds of changed rows follow one
another. In the open loop one row changes at each logical time, and is fed once its moment has come:
a latency is counted from that moment.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter_ns

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks.course import NUMBER, Outputs, batch, pair
from benchmarks.inputs import interleaved, read, sliding, write
from benchmarks.workload import Phase, Scale, Workload, changed
from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.nodes import Get, Reduce
from ivm.pool import Pool

ROWS = pair("key", "val")
SAMPLED = 100  # in an open loop the latency of every so manieth change is kept
COUNTS = Reduce(Get("rows", ROWS), (0,), (Aggregate("count", None, "count", NUMBER, False),))


def run(path: Path, workers: int, phases: Sequence[Phase]) -> Iterator[None]:
    """Maintain the arrangement and the count over the rows of `path`, printing every case."""
    initial, removed, inserted = read(path)
    changes, diffs = interleaved(removed, inserted)
    course = _Course(Pool(workers), batch(changes, ROWS), diffs)
    yield
    course.load(batch(initial, ROWS))
    for phase in phases:
        yield
        yield from course.run(phase)


class _Course:
    def __init__(self, pool: Pool, changes: pa.RecordBatch, diffs: NDArray[np.int64]) -> None:
        self.pool = pool
        self.changes = changes
        self.diffs = diffs
        self.at = 0
        self.time = 1
        self.outputs: Outputs | None = None
        pool.create_input("rows", ROWS, ["key"])

    def load(self, rows: pa.RecordBatch) -> None:
        ones = np.ones(rows.num_rows, np.int64)
        began = perf_counter_ns()
        self.pool.feed("rows", rows, ones, 0)
        self.pool.advance(1)
        self.report("load", [perf_counter_ns() - began])
        (info,) = self.pool.arrangements()
        print(json.dumps({"bytes": info.bytes, "records": info.records}), flush=True)

    def run(self, phase: Phase) -> Iterator[None]:
        if phase.rounds == 0:
            self.count(phase)
        elif phase.rate:
            self.report(phase.case, self.open_loop(phase))
        else:
            took = []
            for _ in range(phase.rounds):
                took.append(self.round(2 * phase.size))
                yield
            self.report(phase.case, took)

    def count(self, phase: Phase) -> None:
        began = perf_counter_ns()
        self.pool.install("counts", COUNTS, None)
        took = perf_counter_ns() - began
        self.outputs = Outputs(self.pool, "counts")
        self.report(phase.case, [took])

    def round(self, width: int) -> int:
        began = perf_counter_ns()
        self.feed(width, self.time)
        self.time += 1
        self.pool.advance(self.time)
        took = perf_counter_ns() - began
        if self.outputs:
            self.outputs.drain()
        return took

    def open_loop(self, phase: Phase) -> list[int]:
        total, gap = 2 * phase.rows, 10**9 // phase.rate
        times = np.arange(self.time, self.time + total, dtype=np.uint64)
        latencies: list[int] = []
        fed = 0
        began = perf_counter_ns()
        while fed < total:
            due = min(total, (perf_counter_ns() - began) // gap)
            if due > fed:
                self.feed(due - fed, times[fed:due])
                self.pool.advance(self.time + due)
                now = perf_counter_ns() - began
                sampled = range(-(-fed // SAMPLED) * SAMPLED, due, SAMPLED)
                latencies += [now - i * gap for i in sampled]
                fed = due
        self.time += total
        return latencies

    def feed(self, width: int, times: int | NDArray[np.uint64]) -> None:
        end = self.at + width
        rows = self.changes.slice(self.at, width)
        self.pool.feed("rows", rows, self.diffs[self.at : end], times)
        self.at = end

    def report(self, case: str, took: list[int]) -> None:
        if self.outputs:
            self.outputs.drain()
            self.outputs.report(case, took)
        else:
            line = {"case": case, "ns": took, "rows": 0, "sum": 0, "differences": 0}
            print(json.dumps(line), flush=True)


PHASES = (
    Phase("rounds arranged", 100, 1, 5_000),
    Phase("install a count", 0, 0, 0),
    Phase("rounds counted", 100, 1, 5_000),
    Phase("open loop", 1, 1, 400_000, rate=200_000),
)
SCALE = Scale(
    lambda path: write(path, sliding(10_000_000, 2**32, 10_000_000, changed(PHASES))), PHASES
)
WORKLOAD = Workload("arrange", {"small": SCALE, "full": SCALE}, run)
