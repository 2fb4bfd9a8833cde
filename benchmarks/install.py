"""Dataflows that come and go: each joins some keys with an arrangement of ten million.

A round creates an input for the keys, installs the join, feeds the keys, waits for the answer, and
drops both again.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter_ns

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks.course import Outputs, batch, pair
from benchmarks.inputs import read, rows_and_keys, write
from benchmarks.workload import Phase, Scale, Workload, changed
from ivm.dataflow.nodes import Arrange, Get, Join
from ivm.pool import Pool

ROWS = pair("key", "val")
KEYS = pa.schema([ROWS.field(0)])
JOINED = Join(
    Arrange(Get("keys", KEYS), (0,)), Arrange(Get("rows", ROWS), (0,)), (("key", 0), ("val", 1))
)


def run(path: Path, workers: int, phases: Sequence[Phase]) -> Iterator[None]:
    """Join keys of `path` with its rows, printing every case."""
    initial, keys = read(path)
    pool = Pool(workers)
    pool.create_input("rows", ROWS, ["key"])
    pool.feed("rows", batch(initial, ROWS), np.ones(len(initial), np.int64), 0)
    pool.advance(1)
    outputs = Outputs(pool, "joined")
    queries = batch(keys, KEYS)
    at = 0
    for phase in phases:
        took = []
        each = np.ones(phase.size, np.int64)
        for _ in range(phase.rounds):
            took.append(_join(pool, queries.slice(at, phase.size), each, outputs))
            at += phase.size
            yield
        outputs.report(phase.case, took)


def _join(pool: Pool, keys: pa.RecordBatch, diffs: NDArray[np.int64], outputs: Outputs) -> int:
    began = perf_counter_ns()
    time = pool.frontier
    pool.create_input("keys", KEYS, ["key"])
    pool.feed("keys", keys, diffs, time)
    pool.advance(time + 1)
    pool.install("joined", JOINED, None)
    answered = perf_counter_ns()
    outputs.drain()
    drained = perf_counter_ns()
    pool.drop("joined")
    pool.drop_input("keys")
    return answered - began + perf_counter_ns() - drained


PHASES = (
    Phase("1 keys", 5_000, 1, 1),
    Phase("10 keys", 2_000, 1, 10),
    Phase("100 keys", 300, 1, 100),
    Phase("1000 keys", 100, 1, 1_000),
    Phase("10000 keys", 50, 1, 10_000),
    Phase("100000 keys", 10, 1, 100_000),
    Phase("1000000 keys", 3, 1, 1_000_000),
)
SCALE = Scale(lambda path: write(path, rows_and_keys(10_000_000, changed(PHASES))), PHASES)
WORKLOAD = Workload("install", {"small": SCALE, "full": SCALE}, run)
