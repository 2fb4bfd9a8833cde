"""Static analyses of a generated program: where nulls flow to, and what pointers point to.

As in K-Pg (section 6.4), which takes the two analyses of Graspan. Nulls flow along assignments; of
the finished analysis the first 1,000 nulls are removed one by one. Points-to is the optimised one,
of assignments and dereferences: what two pointers flow from makes their memory the same, through
which values flow in turn.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.inputs import read, write
from benchmarks.programs import Maintained, Make, Replacing, by_name, first_input
from benchmarks.source_code import null_flow, pointers
from benchmarks.workload import Phase, Scale, Workload
from ivm.dataflow.nodes import Node
from views.programs import load

TABLES = {
    "dataflow": {"nulls": ("origin", "variable"), "assigned": ("source", "target")},
    "points-to": {"assigned": ("target", "source"), "dereferences": ("pointer", "memory")},
}
PROGRAMS: Mapping[str, Node | str] = {
    "dataflow": load("null_assignment").query({}),
    "points-to": load("points_to").query({}),
}
NONE = np.zeros((0, 2), np.uint32)


def run(
    path: Path, workers: int, phases: Sequence[Phase], make: Make = Maintained
) -> Iterator[None]:
    """Measure the phases of both analyses; `path` has two tables of each, in the order above."""
    sections = iter(read(path))
    for (analysis,), measured in by_name(phases):
        course = make(workers, TABLES[analysis], PROGRAMS)
        tables = {name: next(sections) for name in TABLES[analysis]}
        removing = Replacing("nulls", tables.get("nulls", NONE), NONE)
        for phase in measured:
            match phase.case.split(", ")[1]:
                case "load":
                    course.report(phase.case, [course.load(**tables)])
                    yield
                case "analysis":
                    course.report(phase.case, [course.start(analysis)])
                    yield
                case _:
                    yield from course.follow(phase, removing)


def _scale(functions: int, pointing: int, removed: int) -> Scale:
    phases = (
        Phase("dataflow, load", 0, 0, 0),
        Phase("dataflow, analysis", 0, 0, 0),
        Phase("dataflow, one null", removed, 1, 1),
        Phase("points-to, load", 0, 0, 0),
        Phase("points-to, analysis", 0, 0, 0),
    )
    return Scale(lambda path: write(path, [*null_flow(functions), *pointers(pointing)]), phases)


WORKLOAD = Workload(
    "graspan",
    {
        "tiny": _scale(300, 12, 50),
        "small": _scale(100_000, 2_000, 1_000),
        "full": _scale(1_000_000, 4_000, 1_000),
    },
    run,
    rehearsal=first_input,
)
