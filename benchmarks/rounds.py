"""Changed labels in each round of connected components, by the way they are computed.

The figure 1 of differential dataflow's paper (CIDR 2013), over the window of `mentions`: stateless,
where each round computes every label; incremental, where only what changed goes on; prioritised,
where small labels set out first; and what changes in these rounds when the window slides by one
second. Counts follow from the definition, so that they depend on neither machine nor engine;
`tests/unit/benchmarks/test_rounds.py` compares them with the engine's.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from numpy.typing import NDArray

from benchmarks.inputs import Pairs
from benchmarks.mentions import SIZES, stream
from benchmarks.report import save

Labels = NDArray[np.int64]
Place = tuple[int, int]
"""A priority, and a round of it."""

ABSENT = np.int64(2**32)  # above every label


@dataclass(slots=True)
class Spread:
    """The labels' differences at each place: nodes with labels that go and that come."""

    differences: dict[Place, Mapping[int, Labels]] = field(default_factory=dict)

    def note(self, place: Place, before: Labels, after: Labels) -> bool:
        """Note what changed at a place, and return whether anything did."""
        changed = np.flatnonzero(before != after)
        there = changed[before[changed] != ABSENT]
        gone, come = there << 32 | before[there], changed << 32 | after[changed]
        self.differences[place] = {-1: gone, 1: come}
        return len(changed) > 0

    def counts(self) -> list[int]:
        """The number of differences in one round after the other."""
        return [sum(map(len, found.values())) for _, found in sorted(self.differences.items())]


def spread(links: Pairs, *, prioritised: bool) -> Spread:
    """Spread least labels along `links` in both directions until nothing changes."""
    found = Spread()
    both = np.concatenate([links, links[:, ::-1]]).astype(np.int64)
    both = both[np.argsort(both[:, 1], kind="stable")]
    nodes, starts = np.unique(both[:, 1], return_index=True)
    least = np.unique(links.min(axis=1)).astype(np.int64)
    own = np.full(both.max() + 1, ABSENT)
    labels = own.copy()
    priorities = np.frexp(least.astype(np.float64))[1] if prioritised else np.zeros(len(least), int)
    for priority in np.unique(priorities).tolist():
        entering = least[priorities == priority]
        own[entering] = entering
        rounds, changes = 0, True
        while changes:
            after = own.copy()
            offered = np.minimum.reduceat(labels[both[:, 0]], starts)
            after[nodes] = np.minimum(own[nodes], offered)
            changes = found.note((priority, rounds), labels, after)
            labels, rounds = after, rounds + 1
    return found


def changed(before: Spread, after: Spread) -> list[int]:
    """The number of differences at each place that are others afterwards."""
    nothing: Mapping[int, Labels] = {-1: np.zeros(0, np.int64), 1: np.zeros(0, np.int64)}
    counts = []
    for place in sorted(before.differences.keys() | after.differences.keys()):
        signed = [
            (sign * way, each.differences.get(place, nothing)[sign])
            for way, each in ((-1, before), (1, after))
            for sign in (-1, 1)
        ]
        keys, which = np.unique(np.concatenate([keys for _, keys in signed]), return_inverse=True)
        diffs = np.concatenate([np.full(len(keys), sign) for sign, keys in signed])
        counts.append(int(np.count_nonzero(np.bincount(which, diffs, len(keys)))))
    return counts


def curves(links: Pairs, slid: Pairs) -> dict[str, list[int]]:
    """The curves of the figure, for a window and the same a second later."""
    incremental = spread(links, prioritised=False).counts()
    prioritised, later = (spread(each, prioritised=True) for each in (links, slid))
    nodes = len(np.unique(links))
    return {
        "stateless": [nodes] * len(incremental),
        "incremental": incremental,
        "prioritised": prioritised.counts(),
        "one second": changed(prioritised, later),
    }


def figure(scale: str) -> dict[str, list[int]]:
    """The curves for the window of `mentions` at a scale."""
    users, seconds, rate = SIZES[scale]
    mentions, leaving, coming, *_ = stream(users, seconds * rate, rate)
    return curves(mentions, np.concatenate([mentions[len(leaving) :], coming]))


def draw(found: Mapping[str, list[int]], path: Path) -> None:
    """Draw the curves."""
    drawn, axis = plt.subplots(figsize=(7, 4))
    for name, counts in found.items():
        axis.plot(
            range(1, len(counts) + 1), [count or np.nan for count in counts], ".-", label=name
        )
    axis.set(yscale="log", xlabel="round", ylabel="differences")
    axis.grid(alpha=0.3)
    axis.legend()
    save(drawn, path)


def page(found: Mapping[str, list[int]], scale: str, chart: str) -> str:
    """The curves' sums as Markdown."""
    users, seconds, rate = SIZES[scale]
    stateless = sum(found["stateless"])
    rows = [
        f"| {name} | {len(counts)} | {sum(counts):,} | {sum(counts) / stateless:.3%} |"
        for name, counts in found.items()
    ]
    lines = [
        "# Differences in each round of connected components",
        "",
        f"A window of {seconds:,} seconds with {rate} mentions each, of {users:,} users by Zipf's"
        " law. `python -m benchmarks rounds` makes this page; the counts depend on no machine.",
        "",
        "| computed | rounds | differences | of stateless |",
        "| --- | ---: | ---: | ---: |",
        *rows,
        "",
        f"![Differences in each round]({chart})",
        "",
        "In the paper (CIDR 2013, section 2 and figure 1), over a day of mentions on Twitter,"
        " prioritised is 10% of incremental and 4% of stateless.",
    ]
    return "\n".join(lines) + "\n"
