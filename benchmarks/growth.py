"""The cost of workloads as they grow: time and memory at four sizes, and the exponents between.

`python -m benchmarks growth [NAME…] [--up-to GIB] [--peer PEER]`. The largest size is that of which
the hungrier side takes so many GiB at most; each other one is a quarter of the next. An exponent is
the slope of a line through the logarithms: 1 where a cost grows as the input does.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
from matplotlib import pyplot as plt

from benchmarks import arrange, bfs, interactive, scc, wcc
from benchmarks.bounds import Machine
from benchmarks.comparison import Setting, measure
from benchmarks.inputs import sliding, write
from benchmarks.report import number, save
from benchmarks.rewiring import scale
from benchmarks.sides import Run, Side
from benchmarks.tpch import stream
from benchmarks.tpch.data import generate
from benchmarks.workload import Phase, Scale, Workload, changed

SIZES = 4
FACTOR = 4
SMALL = 1_000
"""Rows of an input so small that what a process takes of memory is its own."""
TPCH_ROWS = 8_661_245  # at scale factor 1
GIB = 1 << 30

FEW = Phase("one edge", 500, 1, 1), Phase("1000 edges", 3, 1, 1_000)
ROUNDS = (
    Phase("rounds arranged", 50, 1, 5_000),
    Phase("install a count", 0, 0, 0),
    Phase("rounds counted", 50, 1, 5_000),
)
ASKING = (
    *(Phase(f"{name} 10", 50, 1, 10) for name in interactive.CLASSES),
    *(Phase(f"install {name}", 50, 1, 1) for name in ("one hop", "paths")),
)
QUERIES = ("q01", "q03", "q06", "q09", "q13", "q18")  # of each kind one
STREAMED = tuple(Phase(f"{query} by 1000", 0, 0, 1_000) for query in QUERIES)


@dataclass(frozen=True, slots=True)
class Growing:
    """A workload with its input of so many rows, of each of which the peak is so many bytes.

    The times of all cases are one if they belong `together`.
    """

    workload: Workload
    scale: Callable[[int], Scale]
    row_bytes: int
    together: str = ""

    def sizes(self, up_to: float) -> list[int]:
        """The numbers of rows to measure, so that the largest input takes `up_to` GiB."""
        largest = int(up_to * GIB / self.row_bytes)
        return [largest // FACTOR**step for step in reversed(range(SIZES))]

    def setting(self, rows: int, folder: Path) -> Setting:
        """The workload with `rows` rows, and with its cases as they are at every size."""
        named = str(rows)
        workload = replace(self.workload, scales={named: self.scale(rows)})
        return Setting(workload, named, 1, folder / "growth")


def _graph(degree: int, rows: int) -> Scale:
    return scale(max(rows // degree, 1), rows, *FEW)


def _rows(rows: int) -> Scale:
    return Scale(lambda path: write(path, sliding(rows, 2**32, rows, changed(ROUNDS))), ROUNDS)


def _asked(rows: int) -> Scale:
    return interactive.scale(max(rows * 2 // 13, 100), rows, *ASKING)


def _tables(rows: int) -> Scale:
    return Scale(partial(generate, factor=max(rows / TPCH_ROWS, 0.001)), STREAMED)


GROWING: Mapping[str, Growing] = {
    "arrange": Growing(arrange.WORKLOAD, _rows, 200),
    "bfs": Growing(bfs.WORKLOAD, partial(_graph, 5), 240),
    "wcc": Growing(wcc.WORKLOAD, partial(_graph, 20), 300),
    "scc": Growing(scc.WORKLOAD, partial(_graph, 2), 2_800),
    "interactive": Growing(interactive.WORKLOAD, _asked, 240),
    "tpch": Growing(stream.WORKLOAD, _tables, 1_200, "all queries"),
}


@dataclass(frozen=True, slots=True)
class Cost:
    """A cost at each size, in seconds or bytes: of one side."""

    name: str
    unit: str
    side: str
    values: tuple[float, ...]

    def exponent(self, rows: Sequence[int]) -> float:
        """The slope of the line through the logarithms."""
        slope, _ = np.polyfit(np.log(rows), np.log(self.values), 1)
        return float(slope.round(2)) + 0.0  # never -0


@dataclass(frozen=True, slots=True)
class Growth:
    """The costs of a workload over inputs of so many rows."""

    workload: str
    rows: tuple[int, ...]
    costs: tuple[Cost, ...]


def grow(
    name: str,
    commands: dict[Side, list[str]],
    up_to: float,
    folder: Path,
    step: Callable[[str], None],
) -> Growth:
    """Measure a workload at its sizes; `step` hears of each.

    Raises BenchmarkError where the answers differ.
    """
    growing = GROWING[name]
    rows = growing.sizes(up_to)
    measured = []
    for count in [SMALL, *rows]:
        step(f"{name}: {count:,} rows")
        setting = growing.setting(count, folder)
        setting.generate()
        runs = measure(setting, commands, 1, lambda side: None)
        measured.append({side: run for side, (run,) in runs.items()})
    own, *each = measured
    costs = [
        cost
        for side in own
        for cost in _costs(side, own[side], [m[side] for m in each], growing.together)
    ]
    first = list(dict.fromkeys(cost.name for cost in costs))
    return Growth(name, tuple(rows), tuple(sorted(costs, key=lambda c: first.index(c.name))))


def _costs(side: str, own: Run, runs: Sequence[Run], together: str) -> list[Cost]:
    """The cost of one side: the median time of each case, or of all together, and memory."""
    if together:
        taken = tuple(sum(sum(c.nanoseconds) for c in run.cases) / 1e9 for run in runs)
        costs = [Cost(together, "s", side, taken)]
    else:
        costs = [
            Cost(case.name, "s", side, tuple(_median(run, case.name) for run in runs))
            for case in own.cases
        ]
    more = tuple(max(run.peak_bytes - own.peak_bytes, 1) for run in runs)
    return [*costs, Cost("memory", "bytes", side, tuple(map(float, more)))]


def _median(run: Run, case: str) -> float:
    return next(median(c.nanoseconds) for c in run.cases if c.name == case) / 1e9


def page(found: Sequence[Growth], machine: Machine, up_to: float, chart: str) -> str:
    """The costs as Markdown."""
    lines = [
        "# What workloads cost as they grow",
        "",
        f"Measured on {machine}.",
        "",
        f"`python -m benchmarks growth --up-to {up_to:g} --peer differential` makes this page. Each"
        " size ran once on each side, and the answers were compared and are equal. Times are"
        " medians of a case's rounds; memory is the most that a process held, with its input,"
        f" beyond what it holds for {SMALL:,} rows. An exponent is the slope of a line through the"
        " logarithms: 1 means that a cost grows as the input does.",
    ]
    for growth in found:
        header = [growth.workload, "side", *(f"{rows:,} rows" for rows in growth.rows), "exponent"]
        lines += ["", f"| {' | '.join(header)} |"]
        lines.append(f"| --- | --- | {'---: | ' * (SIZES + 1)}".rstrip())
        for cost in growth.costs:
            values = (_shown(value, cost.unit) for value in cost.values)
            cells = [cost.name, cost.side, *values, f"{cost.exponent(growth.rows):.2f}"]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", f"![Times and memory by size]({chart})"]) + "\n"


def _shown(value: float, unit: str) -> str:
    units = [("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)]
    if unit == "bytes":
        units = [("GiB", GIB), ("MiB", 1 << 20)]
    name, size = next((u for u in units if value >= u[1]), units[-1])
    return f"{number(value / size)} {name}"


def draw(found: Sequence[Growth], path: Path) -> None:
    """Draw the costs of each workload: times above, memory below."""
    figure, axes = plt.subplots(2, len(found), figsize=(4 * len(found), 7), squeeze=False)
    for (times, memory), growth in zip(axes.T, found, strict=True):
        sides = list(dict.fromkeys(cost.side for cost in growth.costs))
        names = list(dict.fromkeys(cost.name for cost in growth.costs))
        for cost in growth.costs:
            axis = memory if cost.unit == "bytes" else times
            style = f"C{names.index(cost.name)}o{'-' if cost.side == sides[0] else '--'}"
            axis.plot(growth.rows, cost.values, style, label=f"{cost.name}, {cost.side}")
        for axis, label in ((times, "seconds"), (memory, "bytes")):
            axis.set(xscale="log", yscale="log", xlabel="rows", ylabel=label)
            axis.set_title(growth.workload)
            axis.grid(alpha=0.3)
            axis.legend(fontsize=6)
    save(figure, path)
