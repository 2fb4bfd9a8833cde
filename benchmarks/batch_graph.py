"""Graphs that are there from the start: two indices, and three computations over them.

As in K-Pg (appendix C): the edges by source, what a root reaches, how far away it is, the edges by
target, and undirected connectivity over both indices. Each is timed from the end of the last one.
The graphs have three shapes: skewed degrees, where few rounds do all (R-MAT); a random graph; and a
grid, whose long paths take many rounds in which little happens.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.bfs import distances
from benchmarks.course import pair
from benchmarks.graphs import grid, rmat, uniform
from benchmarks.inputs import Pairs, read, write
from benchmarks.programs import Course, Maintained, Make, by_name, first_input
from benchmarks.reach import reached
from benchmarks.rewiring import EDGES, edges
from benchmarks.wcc import labels
from benchmarks.workload import Phase, Scale, Workload
from ivm.dataflow.nodes import Get, Node, project

backwards = Get("backwards", pair("dst", "src"))
PROGRAMS: Mapping[str, Node | str] = {
    "reach": reached(),
    "distances": distances(),
    "components": labels(edges, [edges, backwards]),
}


def run(
    path: Path, workers: int, phases: Sequence[Phase], make: Make = Maintained
) -> Iterator[None]:
    """Measure the phases of each graph, whose edges are a section of `path` each."""
    for (_, measured), graph in zip(by_name(phases), read(path), strict=False):
        course = make(workers, {"edges": EDGES.names, "roots": EDGES.names}, PROGRAMS)
        root = graph[:, 0].min()  # the first node that an edge leaves
        course.load(roots=np.array([[root, 0]], np.uint32))
        for phase in measured:
            course.report(phase.case, [_measure(course, phase.case.split(", ")[1], graph)])
            yield


def _measure(course: Course, what: str, graph: Pairs) -> int:
    match what:
        case "index forward":
            return course.load(edges=graph)
        case "index backward":
            return course.arrange("backwards", project(edges, (1, 0)), "dst")
        case program:
            return course.start(program)


CASES = ("index forward", "reach", "distances", "index backward", "components")


def _scale(**shapes: partial[Pairs]) -> Scale:
    phases = [Phase(f"{shape}, {case}", 0, 0, 0) for shape in shapes for case in CASES]
    return Scale(lambda path: write(path, [make() for make in shapes.values()]), tuple(phases))


WORKLOAD = Workload(
    "batch_graph",
    {
        "tiny": _scale(
            skewed=partial(rmat, 12, 16 << 12),
            uniform=partial(uniform, 20_000, 100_000),
            grid=partial(grid, 60),
        ),
        "small": _scale(
            skewed=partial(rmat, 18, 16 << 18),
            uniform=partial(uniform, 500_000, 2_500_000),
            grid=partial(grid, 400),
        ),
        "full": _scale(
            skewed=partial(rmat, 20, 16 << 20),
            larger=partial(rmat, 21, 16 << 21),
            uniform=partial(uniform, 5_000_000, 25_000_000),
            grid=partial(grid, 1_500),
        ),
    },
    run,
    rehearsal=first_input,
)
