"""How a cluster grows: the same work on 1, 2, 4 and 8 members, as processes of this machine.

`python -m benchmarks scale [--scale tiny|small] [--json FILE] [--page FILE]`. What is counted
depends on no machine: meetings, bytes that members exchange, and how evenly rows lie. Times are
shown for one member and two, and beside them what the machine gives to two processes at that
minute.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks import bounds, report
from benchmarks.bounds import Machine
from benchmarks.course import NUMBER
from benchmarks.errors import BenchmarkError
from benchmarks.rewiring import EDGES, edges
from benchmarks.wcc import both_ways, labels
from ivm.cluster.processes import Processes
from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.nodes import Arrange, Get, Join, Node, Reduce
from ivm.results import Snapshot

MEMBERS = (1, 2, 4, 8)
TIMED = 2
"""Up to so many members times mean something on a machine of two cores."""
LOADS = 3
ONES = 200
"""Changes of one row that are timed."""
BULK = 10_000
"""Rows that are changed at once."""
SIZES = {"tiny": 20_000, "small": 1_000_000}

Numbers = NDArray[np.int64]


def _schema(*names: str) -> pa.Schema:
    return pa.schema([pa.field(name, NUMBER, nullable=False) for name in names])


CUSTOMERS = _schema("id", "segment")
ORDERS = _schema("id", "customer")
ITEMS = _schema("id", "order", "amount")


@dataclass(frozen=True, slots=True)
class Table:
    """An input, which has its `part` of a workload's rows: `columns` makes those of some numbers.

    The numbers of its rows count up from 0; `columns` is told how many the workload has.
    """

    schema: pa.Schema
    key: tuple[str, ...]
    part: float
    columns: Callable[[Numbers, int], Sequence[Numbers]]


@dataclass(frozen=True, slots=True)
class Growing:
    """A workload: a dataflow by a key over tables, of which the last one changes.

    If it `comes_later`, its tables are there before it, and its load is its installation.
    """

    tables: Mapping[str, Table]
    node: Callable[[], Node]
    key: str
    comes_later: bool = False


@dataclass(frozen=True, slots=True)
class Grown:
    """What one workload took on so many members.

    `load` and `bulk` are seconds, `one` microseconds; None where there are more members than cores.
    Bytes are those that all members sent, for each row; meetings are those of one member. `fullest`
    is what the member with most records has, over its even share.
    """

    workload: str
    members: int
    rows: int
    load: float | None
    bulk: float | None
    one: float | None
    load_bytes: float
    load_meetings: int
    bulk_bytes: float
    one_meetings: float
    fullest: float


def _joined() -> Node:
    """The amounts of items by the segment of the customer who ordered them."""
    items, orders = Get("items", ITEMS), Get("orders", ORDERS)
    customers = Get("customers", CUSTOMERS)
    ordered = Join(Arrange(items, (1,)), Arrange(orders, (0,)), (("customer", 3), ("amount", 2)))
    bought = Join(Arrange(ordered, (0,)), Arrange(customers, (0,)), (("segment", 2), ("amount", 1)))
    return Reduce(bought, (0,), (Aggregate("sum", 1, "amount", NUMBER, False),))


def _sold() -> Node:
    """The amounts of sales by the group of the product sold, of which there are few."""
    sales, products = Get("sales", ITEMS), Get("products", CUSTOMERS)
    sold = Join(Arrange(sales, (1,)), Arrange(products, (0,)), (("segment", 3), ("amount", 2)))
    return Reduce(sold, (0,), (Aggregate("sum", 1, "amount", NUMBER, False),))


def _counted() -> Node:
    return Reduce(edges, (1,), (Aggregate("count", None, "n", NUMBER, False),))


def _random(numbers: Numbers, rows: int) -> Sequence[Numbers]:
    """Edges of a random graph with a tenth as many nodes."""
    nodes = np.uint64(max(rows // 10, 2))
    mixed = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    return [((mixed >> np.uint64(shift)) % nodes).astype(np.int64) for shift in (8, 32)]


_GRAPH = {"edges": Table(EDGES, ("src", "dst"), 1.0, _random)}
_SHOP = {
    "customers": Table(CUSTOMERS, ("id",), 0.05, lambda n, rows: [n, n % 10]),
    "orders": Table(ORDERS, ("id",), 0.3, lambda n, rows: [n, n * 7919 % (rows // 20)]),
    "items": Table(ITEMS, ("id",), 0.65, lambda n, rows: [n, n * 7907 % (rows * 3 // 10), n % 99]),
}
_SALES = {
    "products": Table(CUSTOMERS, ("id",), 0.001, lambda n, rows: [n, n % 10]),
    "sales": Table(ITEMS, ("id",), 0.999, lambda n, rows: [n, n * 7907 % (rows // 1000), n % 99]),
}
WORKLOADS = {
    "count": Growing(_GRAPH, _counted, "dst"),
    "three-table join": Growing(_SHOP, _joined, "segment"),
    "small side": Growing(_SALES, _sold, "segment", comes_later=True),
    "wcc": Growing(_GRAPH, lambda: labels(edges, [both_ways(edges)]), "node"),
}


def grow(
    rows: int, step: Callable[[str], None], all_members: Sequence[int] = MEMBERS
) -> list[Grown]:
    """Run all workloads, of so many rows, on each number of members (raises BenchmarkError).

    `step` hears of each.
    """
    found = []
    for name, growing in WORKLOADS.items():
        expected: object = None
        for members in all_members:
            step(f"{name}: {members} members")
            grown, answer = _grown(name, growing, members, rows)
            if expected is not None and answer != expected:
                raise BenchmarkError(f"{name}: {members} members have another answer than one")
            expected = answer
            found.append(grown)
    return found


def _grown(name: str, growing: Growing, members: int, rows: int) -> tuple[Grown, object]:
    is_timed = members <= TIMED
    loads, bulks, ones = [], [], []
    for _ in range(LOADS if is_timed else 1):
        with Processes(members) as pool:
            for table, each in growing.tables.items():
                pool.create_input(table, each.schema, each.key)
            steps = [partial(_load, pool, growing, rows), partial(_install, pool, growing)]
            first, last = steps if growing.comes_later else reversed(steps)
            first()
            before = _sent(pool)
            loads.append(_timed(partial(_drained, pool, last)))
            loaded = _sent(pool)
            bulks.append(_timed(partial(_change, pool, growing, rows, 0, BULK)))
            changed = _sent(pool)
            firsts = range(BULK, BULK + ONES)
            ones += [_timed(partial(_change, pool, growing, rows, first, 1)) for first in firsts]
            end, shares = _sent(pool), pool.shares()
            answer = _answer(pool.scan("out"))
    records = [share.records for share in shares]
    return (
        Grown(
            name,
            members,
            rows,
            median(loads) if is_timed else None,
            median(bulks) if is_timed else None,
            1e6 * median(ones) if is_timed else None,
            (loaded[0] - before[0]) / rows,
            loaded[1] - before[1],
            (changed[0] - loaded[0]) / (2 * BULK),
            (end[1] - changed[1]) / ONES,
            max(records) * members / max(sum(records), 1),
        ),
        answer,
    )


def _timed(act: Callable[[], object]) -> float:
    began = perf_counter()
    act()
    return perf_counter() - began


def _load(pool: Processes, growing: Growing, rows: int) -> None:
    for name, table in growing.tables.items():
        _feed(pool, name, table, np.arange(int(rows * table.part)), rows, 1)
    pool.advance(pool.frontier + 1)


def _install(pool: Processes, growing: Growing) -> None:
    pool.install("out", growing.node(), [growing.key])


def _drained(pool: Processes, act: Callable[[], object]) -> None:
    act()
    pool.drain("out")


def _change(pool: Processes, growing: Growing, rows: int, first: int, count: int) -> None:
    """Take some of the first rows of the last table away, and put as many new ones in."""
    name, table = list(growing.tables.items())[-1]
    old = np.arange(first, first + count)
    _feed(pool, name, table, old, rows, -1)
    _feed(pool, name, table, old + int(rows * table.part), rows, 1)
    _complete(pool)


def _feed(pool: Processes, name: str, table: Table, numbers: Numbers, rows: int, diff: int) -> None:
    batch = pa.record_batch(list(table.columns(numbers, rows)), schema=table.schema)
    pool.feed(name, batch, np.full(len(numbers), diff), pool.frontier)


def _complete(pool: Processes) -> None:
    pool.advance(pool.frontier + 1)
    pool.drain("out")


def _sent(pool: Processes) -> tuple[int, int]:
    """The bytes that all members have sent, and the meetings of one."""
    shares = pool.shares()
    return sum(share.sent_bytes for share in shares), shares[0].meetings


def _answer(found: Snapshot) -> object:
    columns = [column.to_pylist() for column in found.rows.columns]
    return sorted(zip(*columns, found.counts.tolist(), strict=True))


def as_json(found: Sequence[Grown]) -> str:
    """A list of objects, one for each workload and number of members."""
    return json.dumps([asdict(grown) for grown in found], indent=1) + "\n"


def page(found: Sequence[Grown], machine: Machine) -> str:
    """What was found as Markdown."""
    lines = [
        "# What a cluster costs as it grows",
        "",
        f"Measured on {machine}.",
        "",
        "`python -m benchmarks scale --page benchmarks/scale.md` makes this page, and"
        " `docs/scale.md` says what follows from it. The answers were compared and are equal."
        " Bytes are those that all members send each other; meetings are those of one member; the"
        " fullest member has so many times its even share of the records. Times are medians, for as"
        " many members as there are cores.",
        "",
        "| workload | members | load | 10,000 rows | one row | bytes a row, load |"
        " bytes a row, 10,000 | meetings, load | meetings, one row | fullest |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [f"| {' | '.join(_cells(grown))} |" for grown in found]
    return "\n".join(lines) + "\n"


def _cells(grown: Grown) -> Sequence[str]:
    shown = report.number
    return (
        grown.workload,
        str(grown.members),
        "" if grown.load is None else f"{shown(grown.load)} s",
        "" if grown.bulk is None else f"{shown(1e3 * grown.bulk)} ms",
        "" if grown.one is None else f"{shown(grown.one)} µs",
        shown(grown.load_bytes),
        shown(grown.bulk_bytes),
        f"{grown.load_meetings:,}",
        shown(grown.one_meetings),
        shown(grown.fullest),
    )


def measure(scale: str, page_: Path | None, step: Callable[[str], None]) -> list[Grown]:
    """Run all, and write the page where one is wanted (raises BenchmarkError)."""
    if scale not in SIZES:
        raise BenchmarkError(f"scale has no scale {scale!r}, but {', '.join(SIZES)}")
    at_once = [bounds.at_once(TIMED)]
    found = grow(SIZES[scale], step)
    at_once.append(bounds.at_once(TIMED))
    if page_ is not None:
        page_.write_text(page(found, bounds.machine(None, at_once)))
    return found
