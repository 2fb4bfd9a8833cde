"""Run very many updates through a pool of constant content, and see that nothing grows.

    python -m tests.soak [--updates 10000000] [--workers 1]

Orders with texts and edges of a graph come and go, as many as before at all times. A join, counts,
a top-k by text and a recursion follow; their deltas are taken at every step. Memory, the bytes of
the arrangements and the latency of a step are sampled; over the second half of the run a line
fitted to each must not rise by more than `RISES` of its level. Exits with 1 otherwise.
"""

import time
from collections.abc import Iterator
from typing import Annotated

import numpy as np
import pyarrow as pa
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn
from rich.table import Table

from ivm.dataflow.aggregates import Aggregate, Order
from ivm.dataflow.expressions import Call, Literal
from ivm.dataflow.nodes import (
    Arrange,
    Distinct,
    Filter,
    Get,
    Iterate,
    Join,
    Node,
    Recursive,
    Reduce,
    TopK,
    Union,
    columns,
    project,
)
from ivm.pool import Pool
from tests.soak.memory import resident
from tests.soak.trend import rise

INT = pa.int64()
FIELDS: list[pa.Field] = [
    pa.field("id", INT, nullable=False),
    pa.field("customer", INT, nullable=False),
    pa.field("text", pa.string(), nullable=False),
]
ORDERS = pa.schema(FIELDS)
EDGES = pa.schema([pa.field("src", INT, nullable=False), pa.field("dst", INT, nullable=False)])
NODE = pa.schema([pa.field("node", INT, nullable=False)])
orders, edges = Get("orders", ORDERS), Get("edges", EDGES)

LIVE_ORDERS = 4_000
CUSTOMERS = 500
NODES, LIVE_EDGES = 1_000, 2_000
CHANGED_ORDERS, CHANGED_EDGES = 450, 50  # replaced in a step
UPDATES = 2 * (CHANGED_ORDERS + CHANGED_EDGES)
SAMPLES = 400
# By which part of its level each figure may rise over the second half.
RISES = {"resident": 0.05, "arranged": 0.10, "latency": 0.25}


def _reach() -> Node:
    """Nodes that node 0 leads to."""
    start = Filter(edges, Call("eq", (columns(edges)[0], Literal(0, INT)), pa.bool_(), False))
    along = Join(Arrange(Recursive("x", NODE), (0,)), Arrange(edges, (0,)), (("node", 1),))
    return Iterate((("x", Distinct(Union((project(start, (1,)), along)))),), "x")


VIEWS: dict[str, Node] = {
    "pairs": Join(
        Arrange(orders, (1,)), Arrange(edges, (0,)), (("customer", 0), ("text", 2), ("dst", 3))
    ),
    "counts": Reduce(orders, (1,), (Aggregate("count", None, "n", INT, False),)),
    "last": TopK(orders, (1,), (Order(2, descending=True),), 2),
    "reach": _reach(),
}


class Source:
    """Rows that come and go: each step replaces the oldest."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._made = 0
        self._orders = self._new_orders(LIVE_ORDERS)
        self._edges = self._new_edges(LIVE_EDGES)

    def first(self) -> dict[str, pa.RecordBatch]:
        """What is there at the beginning."""
        return {"orders": self._orders, "edges": self._edges}

    def step(self) -> Iterator[tuple[str, pa.RecordBatch, NDArray[np.int64]]]:
        """The next changes: tables with rows and diffs."""
        self._orders, rows, diffs = _replace(self._orders, self._new_orders(CHANGED_ORDERS))
        yield "orders", rows, diffs
        self._edges, rows, diffs = _replace(self._edges, self._new_edges(CHANGED_EDGES))
        yield "edges", rows, diffs

    def _new_orders(self, n: int) -> pa.RecordBatch:
        ids = np.arange(self._made, self._made + n)
        self._made += n
        texts = [f"{_scattered(i):016x}{' and what was ordered' * 20}" for i in ids.tolist()]
        customers = self._random.integers(0, CUSTOMERS, n)
        arrays: list[pa.Array] = [pa.array(ids), pa.array(customers), pa.array(texts)]
        return pa.RecordBatch.from_arrays(arrays, schema=ORDERS)

    def _new_edges(self, n: int) -> pa.RecordBatch:
        ends = self._random.integers(0, NODES, (2, n))
        return pa.RecordBatch.from_arrays([pa.array(end) for end in ends], schema=EDGES)


def _scattered(i: int) -> int:
    """A word for `i` that does not ascend with it."""
    return i * 0x9E3779B97F4A7C15 & (1 << 64) - 1


def _replace(
    live: pa.RecordBatch, new: pa.RecordBatch
) -> tuple[pa.RecordBatch, pa.RecordBatch, NDArray[np.int64]]:
    """What is there after `new` has come and as many of the oldest have gone, and these changes."""
    n = new.num_rows
    diffs = np.repeat(np.array([-1, 1]), n)
    return _one([live.slice(n), new]), _one([live.slice(0, n), new]), diffs


def _one(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    """The rows of all batches."""
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


def started(workers: int, source: Source) -> Pool:
    """A pool with all views over the first rows."""
    pool = Pool(workers)
    pool.create_input("orders", ORDERS, ["id"])
    pool.create_input("edges", EDGES, ["src", "dst"])
    for name, view in VIEWS.items():
        pool.install(name, view, [])
    for table, rows in source.first().items():
        pool.feed(table, rows, np.ones(rows.num_rows, np.int64), 0)
    pool.advance(1)
    return pool


def run(updates: int, workers: int, console: Console) -> dict[str, list[float]]:
    """Figures of `SAMPLES` parts of a run of about `updates` updates; latencies are medians."""
    source = Source(0)
    pool = started(workers, source)
    each = max(updates // UPDATES // SAMPLES, 1)
    figures: dict[str, list[float]] = {"resident": [], "arranged": [], "latency": []}
    bar = Progress(BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=console)
    with bar:
        for _ in bar.track(range(max(updates // UPDATES // each, 1))):
            latencies = [_step(pool, source) for _ in range(each)]
            figures["resident"].append(resident())
            figures["arranged"].append(sum(info.bytes for info in pool.arrangements()))
            figures["latency"].append(float(np.median(latencies)))
    return figures


def _step(pool: Pool, source: Source) -> float:
    """One step of all views; the seconds that it took."""
    at = pool.frontier
    for table, rows, diffs in source.step():
        pool.feed(table, rows, diffs, at)
    begun = time.perf_counter()
    pool.advance(at + 1)
    taken = time.perf_counter() - begun
    for name in VIEWS:
        pool.drain(name)
    return taken


def main(
    updates: Annotated[int, typer.Option(min=UPDATES)] = 10_000_000,
    workers: Annotated[int, typer.Option(min=1)] = 1,
) -> None:
    """Run, print the figures, and exit with 1 where one has risen."""
    console = Console()
    figures = run(updates, workers, console)
    table = Table("figure", "first", "middle", "last", "rise", "allowed")
    for name, figure in figures.items():
        shown = [figure[0], figure[len(figure) // 2], figure[-1]]
        texts = [
            f"{x * 1e3:.2f} ms" if name == "latency" else f"{x / 2**20:.1f} MiB" for x in shown
        ]
        table.add_row(name, *texts, f"{rise(figure):+.1%}", f"{RISES[name]:+.0%}")
    console.print(table)
    if any(rise(figure) > RISES[name] for name, figure in figures.items()):
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
