"""The course of every graph workload: load the edges, then rewire some in every round.

A round feeds its edges at one or several logical times and advances past them.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter_ns

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks.course import NUMBER, Outputs, batch, pair
from benchmarks.inputs import Pairs, interleaved, read, sliding, write
from benchmarks.workload import Phase, Scale, changed
from ivm.dataflow.expressions import Call, Column, Expression, Literal
from ivm.dataflow.nodes import Get, Node
from ivm.pool import Pool

EDGES = pair("src", "dst")
edges = Get("edges", EDGES)


def scale(nodes: int, count: int, *phases: Phase) -> Scale:
    """A random graph whose window of edges slides through `phases`."""
    return Scale(lambda path: write(path, sliding(nodes, nodes, count, changed(phases))), phases)


def small_first(label: Column) -> Call:
    """The priority of a label that spreads where it is smallest: its number of bits."""
    arms: list[Expression] = []
    for bits in range(32):
        below = Literal(1 << bits, NUMBER)
        arms += [Call("lt", (label, below), pa.bool_(), False), Literal(bits, NUMBER)]
    return Call("case", (*arms, Literal(32, NUMBER)), NUMBER, False)


def run(
    node: Node, constants: Mapping[str, Pairs], path: Path, workers: int, phases: Sequence[Phase]
) -> Iterator[None]:
    """Maintain `node` over the edges of `path` and the inputs `constants`, printing every case."""
    initial, removed, inserted = read(path)
    pool = Pool(workers)
    pool.create_input("edges", EDGES, ["src"])
    for name, rows in constants.items():
        pool.create_input(name, EDGES, ["src"])
        pool.feed(name, batch(rows, EDGES), np.ones(len(rows), np.int64), 0)
    pool.install("out", node, None)
    outputs = Outputs(pool, "out")

    loaded, ones = batch(initial, EDGES), np.ones(len(initial), np.int64)
    yield
    began = perf_counter_ns()
    pool.feed("edges", loaded, ones, 0)
    pool.advance(1)
    took = perf_counter_ns() - began
    outputs.drain()
    outputs.report("load", [took])
    del loaded, ones

    rewires, diffs = interleaved(removed, inserted)
    yield from _rewire(pool, outputs, batch(rewires, EDGES), diffs, phases)


def _rewire(
    pool: Pool,
    outputs: Outputs,
    rows: pa.RecordBatch,
    diffs: NDArray[np.int64],
    phases: Sequence[Phase],
) -> Iterator[None]:
    at, time = 0, 1
    for phase in phases:
        width = 2 * phase.times * phase.size
        offsets = np.repeat(np.arange(phase.times, dtype=np.uint64), 2 * phase.size)
        took = []
        for _ in range(phase.rounds):
            fed, changes = rows.slice(at, width), diffs[at : at + width]
            times = time if phase.times == 1 else offsets + np.uint64(time)
            began = perf_counter_ns()
            pool.feed("edges", fed, changes, times)
            time += phase.times
            pool.advance(time)
            took.append(perf_counter_ns() - began)
            at += width
            outputs.drain()
            yield
        outputs.report(phase.case, took)
