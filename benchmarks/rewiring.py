"""The course of every graph workload: load the edges, then rewire some in every round.

A round feeds its edges at one or several logical times and advances past them. What the dataflow
put out is drained and digested between rounds, out of the measured time.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter_ns

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks.digest import Answer
from benchmarks.inputs import Pairs, read, sliding_edges
from benchmarks.workload import Phase, Scale, rewired
from ivm.dataflow import Get, Node
from ivm.pool import Pool

NUMBER = pa.int64()
EDGES = pa.schema([pa.field(name, NUMBER, nullable=False) for name in ("src", "dst")])
edges = Get("edges", EDGES)


def scale(nodes: int, count: int, *phases: Phase) -> Scale:
    """A random graph whose window of edges slides through `phases`."""
    return Scale(lambda: sliding_edges(nodes, count, rewired(phases)), phases)


def batch(pairs: Pairs, schema: pa.Schema = EDGES) -> pa.RecordBatch:
    """The rows `pairs` as Arrow data."""
    columns = [
        pa.array(np.ascontiguousarray(pairs[:, i]).astype(field.type.to_pandas_dtype()))
        for i, field in enumerate(schema)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def run(
    node: Node, constants: Mapping[str, Pairs], path: Path, workers: int, phases: Sequence[Phase]
) -> None:
    """Maintain `node` over the edges of `path` and the inputs `constants`, printing every case."""
    initial, removed, inserted = read(path)
    pool = Pool(workers)
    pool.create_input("edges", EDGES, ["src"])
    for name, rows in constants.items():
        pool.create_input(name, EDGES, ["src"])
        pool.feed(name, batch(rows), np.ones(len(rows), np.int64), 0)
    pool.install("out", node, node.schema.names[:1])
    course = _Course(pool)
    loaded = batch(initial)
    began = perf_counter_ns()
    pool.feed("edges", loaded, np.ones(len(initial), np.int64), 0)
    pool.advance(1)
    course.report("load", [perf_counter_ns() - began], course.drain())

    rewires = np.stack([removed, inserted], axis=1).reshape(-1, 2)
    diffs = np.tile(np.array([-1, 1], np.int64), len(removed))
    course.rewire(batch(rewires), diffs, phases)


class _Course:
    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.answer = Answer()

    def rewire(
        self, rows: pa.RecordBatch, diffs: NDArray[np.int64], phases: Sequence[Phase]
    ) -> None:
        """Feed the changes `rows`, which come in pairs, as `phases` group them."""
        at, time = 0, 1
        for phase in phases:
            width = 2 * phase.times * phase.size
            offsets = np.repeat(np.arange(phase.times, dtype=np.uint64), 2 * phase.size)
            took, differences = [], 0
            for _ in range(phase.rounds):
                times = time if phase.times == 1 else offsets + np.uint64(time)
                began = perf_counter_ns()
                self.pool.feed("edges", rows.slice(at, width), diffs[at : at + width], times)
                time += phase.times
                self.pool.advance(time)
                took.append(perf_counter_ns() - began)
                at += width
                differences += self.drain()
            self.report(phase.case, took, differences)

    def drain(self) -> int:
        """Digest what the dataflow has put out, and tell how many changes that was."""
        deltas = self.pool.drain("out")
        first, second = (c.to_numpy().astype(np.uint64) for c in deltas.rows.columns)
        self.answer.absorb(first, second, deltas.diffs)
        return len(deltas.diffs)

    def report(self, case: str, took: list[int], differences: int) -> None:
        """Print a case as one line of JSON."""
        line = {"case": case, "ns": took, "rows": self.answer.rows, "sum": self.answer.sum}
        print(json.dumps(line | {"differences": differences}), flush=True)
