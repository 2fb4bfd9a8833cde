"""The figures of the service as a page: a table beside what was asked, and the look-ups drawn."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

from benchmarks.bounds import Machine
from benchmarks.comparison import Result
from benchmarks.report import number, save

ASKED: Mapping[str, str] = {
    "first console page": "2 s",
    "look-ups on one core, idle": "3,000/s",
    "look-up, 20,000 changes/s, p99": "10 ms",
    "look-up, full speed, p99": "50 ms",
    "query by key, p50": "3 ms",
    "query that joins, p50": "20 ms",
    "switch of a replacement over 1,000,000 rows": "200 ms",
    "deltas missing of 200 feeds": "0",
    "idle with 200 views, service": "2%",
    "p99 with keys and grants, over that without": "1.2",
}
"""What the service is meant to keep to, by case."""

_POINTS = 200


def page(found: Sequence[Result], machine: Machine, load: float, chart: str) -> str:
    """The figures as Markdown; `load` is the machine's load average before they were measured."""
    rows = [
        f"| {r.case} | {number(r.ours)} {r.unit} | {ASKED.get(r.case, '')} |".replace("  ", " ")
        for r in found
    ]
    lines = [
        "# The service",
        "",
        f"Measured on {machine}, where client, feeder, Spark and service share the cores. Its load"
        f" average was {load:.1f} before: with more than 0.5 other work took part of the cores.",
        "",
        f"`python -m benchmarks service --scale {found[0].scale}` makes this page, and"
        " `benchmarks/README.md` says what each case is.",
        "",
        "| case | figure | asked |",
        "| --- | ---: | ---: |",
        *rows,
        "",
        f"![How many look-ups take longer than a time]({chart})",
    ]
    return "\n".join(lines) + "\n"


def draw(taken: Mapping[str, Sequence[float]], path: Path) -> None:
    """Draw the share of look-ups that take longer than a time, by what went on meanwhile."""
    figure, axis = plt.subplots(figsize=(7, 4))
    for meanwhile, milliseconds in taken.items():
        shares = np.geomspace(1, 1 / len(milliseconds), _POINTS)
        longer = np.quantile(milliseconds, 1 - shares, method="inverted_cdf")
        axis.step(longer, shares, where="post", label=meanwhile)
    axis.set(xscale="log", yscale="log", xlabel="ms", ylabel="share of look-ups that take longer")
    axis.grid(alpha=0.3)
    axis.legend()
    save(figure, path)
