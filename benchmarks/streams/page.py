"""The figures as a page: rates with ratios, memory and times by query and system, and a chart."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from benchmarks.bounds import Machine
from benchmarks.report import gmean, number, save
from benchmarks.streams.queries import QUERIES
from benchmarks.streams.run import SCALES, Figure, Found
from benchmarks.streams.systems import OURS, PEERS, System

_MIB = 2**20

_MEASURED = """
All read the same messages from Kafka, which are JSON in topics of two partitions, maintain one
query, and write its result to another topic. A run fills new topics in a transaction, but for an
opening record of each partition, starts the system, waits until it has taken these and has nothing
to do but to ask for more, and commits: from that moment readers of committed records see
everything. The clock stops with the message after which the result is, and stays, the answer that
DuckDB gives over the same rows. So no start of a process, no import and no compilation of a query
is in a time, and no time is shown without a right answer. All read committed records only.
Memory is the most that all processes of a system held together, pages that they share counted once.
Broker, reader of the results and system share the two cores.
""".strip()

_CLOSING = """
Each partition ends with a closing record, of a minute later. Flink's windows need it, as they do
wherever a stream pauses: they close once a later record has come in every partition. The windows of
the closing records themselves are in the results of the others, and have to be, and not in Flink's.
The others' results are right at any moment, and change with every record that comes; those of
Flink's windows are said once.
""".strip()


def page(found: Found, machine: Machine, chart: str) -> str:
    """The figures as Markdown, beside a chart."""
    systems = _systems(found.figures)
    lines = [
        "# Nexmark through Kafka",
        "",
        f"Measured on {machine}, of which each system had two. The load average was"
        f" {found.load:.1f} before: with more than 0.5 other work took part of the cores.",
        "",
        f"`python -m benchmarks streams --scale {found.scale} --page benchmarks/streams.md` makes"
        f" this page, in {found.seconds / 60:.0f} minutes. There are {SCALES[found.scale]:,}"
        " events, of 50 of which one is a person, three are auctions and 46 bids.",
        "",
        *_MEASURED.splitlines(),
        "",
        *_CLOSING.splitlines(),
        "",
        "## Changes a second",
        "",
        "Each figure of a peer has behind it how many times as many ours takes.",
        "",
        *_table(found.figures, systems, lambda f: f.rate, above=True),
        "",
        f"![Changes a second and memory, by query and system]({chart})",
        "",
        "## Memory, MiB",
        "",
        "Behind each figure of a peer: how many times as much as ours it is.",
        "",
        *_table(found.figures, systems, lambda f: f.bytes / _MIB, above=False),
        "",
        "## Seconds",
        "",
        *_table(found.figures, systems, lambda f: f.seconds, above=None),
        "",
        "## Processor time of a change, µs",
        "",
        "Of all processes of a system, without the broker; other work hardly moves it.",
        "",
        *_table(found.figures, systems, lambda f: 1e6 * f.processor / f.changes, above=False),
        "",
        "## Queries and systems",
        "",
        *(f"- {q.name}: {q.about}, of {' and '.join(q.tables)}" for q in QUERIES),
        "",
        *(f"- {system.name}: {system.about}" for system in systems),
    ]
    return "\n".join(lines) + "\n"


def as_json(found: Found) -> str:
    """All figures as a JSON document."""
    return json.dumps(asdict(found), indent=1) + "\n"


def draw(found: Found, path: Path) -> None:
    """Draw rates and memory, a group of bars for each query."""
    figure, axes = plt.subplots(2, 1, figsize=(7, 6))
    units: tuple[tuple[str, Callable[[Figure], float]], ...] = (
        ("changes/s", lambda f: f.rate),
        ("MiB", lambda f: f.bytes / _MIB),
    )
    for axis, (unit, value) in zip(axes, units, strict=True):
        _bars(axis, found.figures, value)
        axis.set_ylabel(unit)
    axes[0].set_yscale("log")
    axes[0].legend(ncols=4, loc="upper center", bbox_to_anchor=(0.5, 1.2), frameon=False)
    save(figure, path)


def _bars(axis: Axes, figures: Sequence[Figure], value: Callable[[Figure], float]) -> None:
    systems, queries = _systems(figures), [*dict.fromkeys(f.query for f in figures)]
    width = 0.8 / len(systems)
    for place, system in enumerate(systems):
        of = {f.query: value(f) for f in figures if f.system == system.name}
        middles = np.arange(len(of)) + (place - (len(systems) - 1) / 2) * width
        axis.bar(middles, [*of.values()], width, label=system.name)
    axis.set_xticks(range(len(queries)), queries)
    axis.grid(axis="y", alpha=0.3)


def _table(
    figures: Sequence[Figure],
    systems: Sequence[System],
    value: Callable[[Figure], float],
    *,
    above: bool | None,
) -> list[str]:
    """A row for each query; with `above` ratios of ours to a peer's, else of a peer's to ours."""
    head = ["query", "changes", *(system.name for system in systems)]
    rows = [f"| {' | '.join(head)} |", f"| --- |{' ---: |' * (len(head) - 1)}"]
    ratios: dict[str, list[float]] = {system.name: [] for system in systems}
    for query in dict.fromkeys(figure.query for figure in figures):
        of = {f.system: f for f in figures if f.query == query}
        ours = value(of[OURS.name])
        cells = [query, f"{of[OURS.name].changes:,}"]
        for system in systems:
            theirs = value(of[system.name])
            ratio = ours / theirs if above else theirs / ours
            ratios[system.name].append(ratio)
            is_compared = above is not None and system is not OURS
            cells.append(number(theirs) + (f" ({number(ratio)})" if is_compared else ""))
        rows.append(f"| {' | '.join(cells)} |")
    if above is not None:
        means = [f"({number(gmean(ratios[s.name]))})" if s is not OURS else "" for s in systems]
        rows.append(f"| geometric mean | | {' | '.join(means)} |")
    return rows


def _systems(figures: Sequence[Figure]) -> list[System]:
    named = {figure.system for figure in figures}
    return [system for system in (OURS, *PEERS.values()) if system.name in named]
