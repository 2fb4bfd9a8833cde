"""A window of mentions that slides by a second: its components, and the top hashtag of each.

The demonstration of differential dataflow's paper (CIDR 2013). Users mention others and use
hashtags, both by Zipf's law, so many times a second. Components are those of the graph that
mentions make, small labels first; the top hashtags are those of its strongly connected components:
loops in a loop, and a count and a top-k over it.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.course import NUMBER, pair
from benchmarks.inputs import SEED, Pairs, read, write
from benchmarks.programs import Maintained, Make, Replacing, by_name
from benchmarks.rewiring import EDGES, edges
from benchmarks.scc import components
from benchmarks.wcc import both_ways, labels
from benchmarks.workload import Phase, Scale, Workload, changed
from ivm.dataflow.aggregates import Aggregate, Order
from ivm.dataflow.nodes import Arrange, Get, Join, Node, Reduce, TopK

HASHTAGS = pair("author", "tag")
TAGS = 10_000
ANSWERS = 0.2  # the share of mentions that are answers
RECENT = 1_000  # to one of the last so many


def top_hashtags() -> TopK:
    """The hashtag that the users of each strongly connected component use most, and how often.

    A component is named by its smallest user; users that are one by themselves have none.
    """
    within = components()
    component = Arrange(labels(within, [both_ways(within)]), (0,))
    hashtags = Arrange(Get("hashtags", HASHTAGS), (0,))
    used = Join(component, hashtags, (("component", 1), ("tag", 2)))
    uses = Aggregate("count", None, "uses", NUMBER, False)
    most = Order(2, descending=True), Order(1)
    return TopK(Reduce(used, (0, 1), (uses,)), (0,), most, 1)


TABLES = {"edges": EDGES.names, "hashtags": HASHTAGS.names}
PROGRAMS: Mapping[str, Node | str] = {
    "components": labels(edges, [both_ways(edges)]),
    "top hashtags": top_hashtags(),
}


def run(
    path: Path, workers: int, phases: Sequence[Phase], make: Make = Maintained
) -> Iterator[None]:
    """Measure the phases of each program over the same window; `path` is as `stream` has it."""
    sections = read(path)
    (mentions, *mentioning), (hashtags, *tagging) = sections[:3], sections[3:]
    for (program,), measured in by_name(phases):
        course = make(workers, TABLES, PROGRAMS)
        course.load(edges=mentions, hashtags=hashtags)
        sliding = Replacing("edges", *mentioning), Replacing("hashtags", *tagging)
        for phase in measured:
            if phase.rounds:
                yield from course.follow(phase, *sliding)
            else:
                course.report(phase.case, [course.start(program)])
                yield


def stream(users: int, window: int, sliding: int) -> list[Pairs]:
    """Mentions at first, those that leave and those that come, and then as many hashtags.

    Some mentions are answers, by whom one of the last mentions mentioned.
    """
    random = np.random.default_rng(SEED)
    count = window + sliding
    names = random.permutation(users).astype(np.uint32)
    mentions = names[np.stack([_zipf(random, users, count) for _ in range(2)], axis=1)]
    answers = np.flatnonzero(random.random(count) < ANSWERS)
    answered = answers - random.integers(1, RECENT, len(answers))
    mentions[answers[answered >= 0]] = mentions[answered[answered >= 0], ::-1]
    hashtags = np.stack([mentions[:, 0], _zipf(random, TAGS, count)], axis=1)
    both = mentions, hashtags
    return [part for rows in both for part in (rows[:window], rows[:sliding], rows[window:])]


def _zipf(random: np.random.Generator, values: int, count: int) -> Pairs:
    """So many numbers below `values`, the k-th of them with a frequency of one in k."""
    weights = np.cumsum(1 / np.arange(1, values + 1))
    chosen: Pairs = np.searchsorted(weights, weights[-1] * random.random(count), "right")
    return chosen.astype(np.uint32)


def _scale(size: tuple[int, int, int], *rounds: int) -> Scale:
    users, seconds, rate = size
    phases = []
    for program, count in zip(PROGRAMS, rounds, strict=True):
        phases.append(Phase(f"{program}, at first", 0, 0, 0))
        phases.append(Phase(f"{program}, one second", count, 1, rate))
    sliding = max(map(changed, ([phase] for phase in phases)))
    return Scale(lambda path: write(path, stream(users, seconds * rate, sliding)), tuple(phases))


SIZES = {"tiny": (2_000, 600, 5), "small": (200_000, 86_400, 5), "full": (2_000_000, 86_400, 50)}
"""Users, the window's seconds, and the mentions in each."""

WORKLOAD = Workload(
    "mentions",
    {
        "tiny": _scale(SIZES["tiny"], 100, 20),
        "small": _scale(SIZES["small"], 1_000, 100),
        "full": _scale(SIZES["full"], 1_000, 100),
    },
    run,
)
