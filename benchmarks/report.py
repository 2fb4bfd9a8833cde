"""What a comparison leaves behind: a table on the terminal, JSON, a page and a chart."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from rich.table import Table

from benchmarks.bounds import Machine
from benchmarks.comparison import Result
from benchmarks.sides import Run

# The keys of the JSON objects; a result has more fields.
KEYS = tuple(f.name for f in fields(Result) if f.name != "differences")

# The cases of the chart: workload, case.
CHARTED = (
    ("arrange", "open loop"),
    ("bfs", "one edge"),
    ("wcc", "one edge"),
    ("scc", "one edge"),
    ("reach", "one edge after 1k"),
    ("reach", "one edge after 1M"),
    ("datalog", "random, tc(x,?), one argument"),
    ("graspan", "dataflow, one null"),
    ("mentions", "components, one second"),
)

POINTS = 200  # of a curve, evenly over the logarithm of the share

Runs = Mapping[str, Mapping[str, Sequence[Run]]]  # by workload, then by side


def as_json(results: Iterable[Result]) -> str:
    """A list of objects with the keys `KEYS`."""
    objects = [{key: asdict(result)[key] for key in KEYS} for result in results]
    return json.dumps(objects, indent=1, ensure_ascii=False) + "\n"


def table(results: Sequence[Result]) -> Table:
    """The results for a terminal."""
    shown = Table(*_header(results[0].peer_name))
    for column in shown.columns[2:]:
        column.justify = "right"
    for result in results:
        shown.add_row(*_cells(result))
    return shown


def page(results: Sequence[Result], machine: Machine, pairs: int, charts: Mapping[str, str]) -> str:
    """The results as Markdown."""
    header = _header(results[0].peer_name)
    rows = [header, ["---", "---", *["---:"] * (len(header) - 2)], *map(_cells, results)]
    lines = [
        f"# ivm beside {results[0].peer_name or 'nothing'}",
        "",
        f"Measured on {machine}.",
        "",
        f"Scale {results[0].scale}, workers: {results[0].workers}. Both sides read the same files"
        f" and ran {pairs} times each, in turn; a figure is the median over its runs. The answers"
        " were compared first and are equal. A ratio above 1 means that ours is better.",
        "`benchmarks/README.md` says what each case is, and which figures the papers have.",
        "",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]
    for caption, chart in charts.items():
        lines += ["", f"![{caption}]({chart})"]
    return "\n".join(lines) + "\n"


def draw(runs: Runs, path: Path) -> bool:
    """Draw the latencies' complementary distributions; False when no case has any."""
    found = [(w, case) for w, case in CHARTED if w in runs and _latencies(runs[w], case)]
    if not found:
        return False
    columns = min(len(found), 3)
    rows = -(-len(found) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(4 * columns, 3 * rows), squeeze=False)
    for axis in axes.flat[len(found) :]:
        axis.set_axis_off()
    for axis, (workload, case) in zip(axes.flat, found, strict=False):
        for side, latencies in _latencies(runs[workload], case).items():
            ordered = np.sort(latencies) / 1e6
            shares = np.geomspace(1, 1 / len(ordered), POINTS)
            longer = np.quantile(ordered, 1 - shares, method="inverted_cdf")
            axis.step(longer, shares, where="post", label=side)
        axis.set(xscale="log", yscale="log", title=f"{workload}: {case}", xlabel="ms")
        axis.set_ylabel("share that takes longer")
        axis.grid(alpha=0.3)
        axis.legend()
    save(figure, path)
    return True


def draw_ratios(results: Sequence[Result], path: Path) -> bool:
    """Draw each workload's ratios, and their geometric mean; False without a peer."""
    ratios: dict[str, list[float]] = {}
    for result in results:
        if result.ratio is not None:
            ratios.setdefault(result.workload, []).append(result.ratio)
    if not ratios:
        return False
    figure, axis = plt.subplots(figsize=(7, 0.4 * len(ratios) + 1))
    for place, found in enumerate(ratios.values()):
        axis.barh(place, gmean(found) - 1, left=1, color="tab:blue", alpha=0.4)
        axis.plot(found, [place] * len(found), ".", color="tab:blue")
    names = [f"{name}  {gmean(found):.1f}" for name, found in ratios.items()]
    axis.set_yticks(range(len(ratios)), names)
    axis.invert_yaxis()
    axis.axvline(1, color="black", linewidth=1)
    axis.set(xscale="log", xlabel=f"times as fast as {results[0].peer_name}")
    axis.grid(axis="x", alpha=0.3)
    save(figure, path)
    return True


def gmean(values: Sequence[float]) -> float:
    """The geometric mean."""
    return float(np.exp(np.mean(np.log(values))))


def save(figure: Figure, path: Path) -> None:
    """Write a figure and forget it; equal figures give equal files."""
    figure.tight_layout()
    # Text as text; and no date or random identifier.
    with plt.rc_context({"svg.hashsalt": "ivm", "svg.fonttype": "none"}):
        figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def _latencies(sides: Mapping[str, Sequence[Run]], case: str) -> dict[str, list[int]]:
    found = {
        name: [ns for run in runs for c in run.cases if c.name == case for ns in c.nanoseconds]
        for name, runs in sides.items()
    }
    return found if all(found.values()) else {}


def _header(peer: str | None) -> list[str]:
    return ["workload", "case", "unit", "ivm", *([peer, "ratio"] if peer else []), "differences"]


def _cells(result: Result) -> list[str]:
    cells = [result.workload, result.case, result.unit, number(result.ours)]
    if result.peer is not None and result.ratio is not None:
        cells += [number(result.peer), f"{result.ratio:.2f}"]
    elif result.peer_name is not None:
        cells += ["", ""]
    return [*cells, f"{result.differences:,}"]


def number(value: float) -> str:
    """Three digits, or all of a whole number."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
