"""Queries one by one while the tables that they read stream in, row by row in turn.

The stream takes a row of each table, then the next of each, and goes on without those that have
ended. A logical time has as many rows as the phase says; `ROUND` rows are fed together.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter_ns

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks.tpch.data import QUERIES, TABLES, catalog, generate, read
from benchmarks.tpch.outputs import Outputs
from benchmarks.workload import Phase, Scale, Workload
from ivm.pool import Pool
from views.catalog import Table
from views.compile import CompiledView, compile_view

ROUND = 100_000
BATCHES = (1, 1_000, 100_000)  # rows of a logical time

Stream = list[tuple[Table, pa.RecordBatch, NDArray[np.int64]]]


def run(path: Path, workers: int, phases: Sequence[Phase]) -> Iterator[None]:
    """Maintain the query of each phase while the tables in `path` stream in, printing its case."""
    rows = {table.name: read(path, table) for table in TABLES}
    for phase in phases:
        view = compile_view(QUERIES[phase.case.split()[0]], catalog())
        tables = [table for table in TABLES if table.name in view.dependencies]
        stream = in_turn([(table, rows[table.name]) for table in tables])
        yield from _measure(Pool(workers), view, stream, phase)


def in_turn(tables: Sequence[tuple[Table, pa.RecordBatch]]) -> Stream:
    """Each table with its rows and their places in the stream of all, ascending."""
    lengths = [rows.num_rows for _, rows in tables]
    turns = np.concatenate([np.arange(n) for n in lengths])
    owners = np.repeat(np.arange(len(lengths)), lengths)
    places = np.empty(len(turns), np.int64)
    places[np.lexsort((owners, turns))] = np.arange(len(turns))
    ends = np.cumsum(lengths)
    return [
        (table, rows, places[end - rows.num_rows : end])
        for (table, rows), end in zip(tables, ends.tolist(), strict=True)
    ]


def _measure(pool: Pool, view: CompiledView, stream: Stream, phase: Phase) -> Iterator[None]:
    for table, _, _ in stream:
        pool.create_input(table.name, table.schema, table.key)
    pool.install("view", view.node, view.key)
    outputs = Outputs(pool, "view")
    total = sum(len(places) for _, _, places in stream)
    took = []
    for first in range(0, total, ROUND):
        fed = [_part(each, first, phase.size) for each in stream]
        last = min(first + ROUND, total) - 1
        began = perf_counter_ns()
        for name, rows, times in fed:
            pool.feed(name, rows, np.ones(len(times), np.int64), times)
        pool.advance(last // phase.size + 1)
        took.append(perf_counter_ns() - began)
        outputs.drain()
        yield
    outputs.report(phase.case, took, total)


def _part(
    each: tuple[Table, pa.RecordBatch, NDArray[np.int64]], first: int, size: int
) -> tuple[str, pa.RecordBatch, NDArray[np.uint64]]:
    """The rows of one table that the round from place `first` feeds, and their times."""
    table, rows, places = each
    begin, end = np.searchsorted(places, (first, first + ROUND)).tolist()
    return table.name, rows.slice(begin, end - begin), (places[begin:end] // size).astype(np.uint64)


PHASES = tuple(Phase(f"{query} by {batch}", 0, 0, batch) for query in QUERIES for batch in BATCHES)
WORKLOAD = Workload(
    "tpch",
    {
        "tiny": Scale(partial(generate, factor=0.01), PHASES),
        "small": Scale(partial(generate, factor=0.1), PHASES),
        "full": Scale(partial(generate, factor=0.5), PHASES),
    },
    run,
    rehearsal=lambda phases: phases[:1],  # each has a pool of its own
)
