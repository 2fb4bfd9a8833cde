"""Transitive closure and same generation of trees, grids and random graphs.

As in K-Pg (section 6.3 and appendix D): both in full, over edges that are arranged; then one edge
goes, and the one that went before comes back; and then queries with a bound argument, the row of a
table: each round puts another argument in the place of one. The compiler makes magic sets of those.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.graphs import grid, tree, uniform
from benchmarks.inputs import SEED, Pairs, read, write
from benchmarks.programs import Maintained, Make, Replacing, by_name, first_input
from benchmarks.workload import Phase, Scale, Workload
from ivm.dataflow.nodes import Node
from views.programs.library import load

TABLES = {"edges": ("src", "dst"), "asked": ("x", "number")}
_CLOSURE, _SAME = (
    load(name).query({}).replace(f".output {relation}", "")
    for name, relation in (("transitive_closure", "closure"), ("same_generation", "same"))
)
PROGRAMS: Mapping[str, Node | str] = {
    "tc": f"{_CLOSURE} .output closure",
    "sg": f"{_SAME} .output same",
    "tc(x,?)": f"{_CLOSURE} found(x, y) :- asked(x, _), closure(x, y). .output found",
    "tc(?,x)": f"{_CLOSURE} found(y, x) :- asked(x, _), closure(y, x). .output found",
    "sg(x,?)": f"{_SAME} found(x, y) :- asked(x, _), same(x, y). .output found",
}
CHANGES = ("one edge", "one argument")


def run(
    path: Path, workers: int, phases: Sequence[Phase], make: Make = Maintained
) -> Iterator[None]:
    """Measure each program of each graph, which has five sections in `path`: see `_sections`."""
    sections = read(path)
    graphs: dict[str, list[Pairs]] = {}
    for (graph, program), measured in by_name(phases, 2):
        first = 5 * len(graphs)
        edges, going, coming, old, new = graphs.setdefault(graph, sections[first : first + 5])
        course = make(workers, TABLES, PROGRAMS)
        course.load(edges=edges, asked=old[:1])
        replacing = Replacing("edges", going, coming), Replacing("asked", old, new)
        changes = dict(zip(CHANGES, replacing, strict=True))
        took = course.start(program)
        for phase in measured:
            if phase.rounds:
                yield from course.follow(phase, changes[phase.case.split(", ")[2]])
            else:
                course.report(phase.case, [took])
                yield


def _sections(graph: Pairs, phases: Sequence[Phase]) -> list[Pairs]:
    """The edges without one, the edges that go and come, and the arguments that go and come.

    In each round the edge that is away comes and another one goes, and likewise for arguments.
    """
    edges, arguments = (
        1 + max(phase.rounds for phase in phases if phase.case.endswith(change))
        for change in CHANGES
    )
    nodes = np.random.default_rng(SEED).choice(np.unique(graph), arguments)
    asked = np.stack([nodes, nodes], axis=1)
    return [graph[1:], graph[1:edges], graph[: edges - 1], asked[:-1], asked[1:]]


def _phases(graph: str, rounds: int, queries: int) -> list[Phase]:
    """Both programs in full and with changing edges, and three queries with changing arguments."""
    edge, argument = CHANGES
    phases = []
    for program in ("tc", "sg"):
        phases.append(Phase(f"{graph}, {program}", 0, 0, 0))
        phases.append(Phase(f"{graph}, {program}, {edge}", rounds, 1, 1))
    asked = ("tc(x,?)", "tc(?,x)", "sg(x,?)")
    return phases + [Phase(f"{graph}, {query}, {argument}", queries, 1, 1) for query in asked]


def _scale(rounds: int, queries: int, **graphs: partial[Pairs]) -> Scale:
    phases = {name: _phases(name, rounds, queries) for name in graphs}

    def generate(path: Path) -> None:
        graph_sections = (_sections(make(), phases[name]) for name, make in graphs.items())
        write(path, [section for sections in graph_sections for section in sections])

    return Scale(generate, tuple(phase for each in phases.values() for phase in each))


WORKLOAD = Workload(
    "datalog",
    {
        "tiny": _scale(
            5,
            20,
            tree=partial(tree, 4, 2, 3),
            grid=partial(grid, 7),
            random=partial(uniform, 40, 120),
        ),
        "small": _scale(
            20,
            100,
            tree=partial(tree, 6, 2, 4),
            grid=partial(grid, 31),
            random=partial(uniform, 500, 5_000),
        ),
        "full": _scale(
            20,
            100,
            tree=partial(tree, 7, 2, 4),
            grid=partial(grid, 71),
            random=partial(uniform, 2_000, 20_000),
        ),
    },
    run,
    rehearsal=first_input,
)
