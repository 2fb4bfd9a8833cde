"""What pools of one worker do at once, each in a process of its own, in multiples of what one does.

`python -m benchmarks.at_once PROCESSES` prints it. They share nothing but the machine, so that this
is what it gives to as many workers of one pool: two cores of a virtual machine are by the minute as
good as two, or little better than one.
"""

import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from statistics import median
from time import perf_counter

import numpy as np
import pyarrow as pa

from benchmarks.count import COUNTS
from benchmarks.course import batch
from benchmarks.inputs import sliding
from benchmarks.rewiring import EDGES
from ivm.pool import Pool

ROWS = 1_000_000
ROUNDS = 7


def main(processes: int) -> None:
    """Load alone and at once, in turn, and print the ratio of the medians."""
    with ProcessPoolExecutor(processes, get_context("spawn")) as executor:
        _time(executor, processes)  # each process rehearses
        alone, at_once = zip(*(_pair(executor, processes) for _ in range(ROUNDS)), strict=True)
        print(processes * median(alone) / median(at_once))


def _pair(executor: ProcessPoolExecutor, processes: int) -> Sequence[float]:
    return [_time(executor, count) for count in (1, processes)]


def _time(executor: ProcessPoolExecutor, processes: int) -> float:
    began = perf_counter()
    list(executor.map(_load, range(processes)))
    return perf_counter() - began


def _load(_: int) -> None:
    pool = Pool(1)
    pool.create_input("edges", EDGES, ["src"])
    pool.install("out", COUNTS, None)
    pool.feed("edges", _rows(), np.ones(ROWS, np.int64), 0)
    pool.advance(1)


@cache
def _rows() -> pa.RecordBatch:
    (rows, *_) = sliding(ROWS, ROWS, ROWS, 0)
    return batch(rows, EDGES)


if __name__ == "__main__":
    main(int(sys.argv[1]))
