"""Workloads of `benchmarks/`, written for Pathway: `WORKLOAD FILE WORKERS PHASE…`.

A commit is Pathway's logical time: a round of several times is as many commits, each awaited. Every
commit brings a row that marks it, which comes out beside the output of its time, since Pathway does
not tell of a time at which nothing has changed.
"""

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event
from time import perf_counter_ns

import numpy as np
import pathway as pw

from benchmarks.digest import Answer
from benchmarks.inputs import Pairs, read
from benchmarks.workload import Phase

ROOTS = 10


class Numbered(pw.Schema):
    """Rows are told apart by a key: equal ones have different numbers."""

    number: int = pw.column_definition(primary_key=True)
    first: int
    second: int


class Course(pw.io.python.ConnectorSubject):
    """Loads the rows of a file, then replaces some in every round, and prints every case."""

    def __init__(self, sections: Sequence[Pairs], phases: Sequence[Phase]) -> None:
        super().__init__()
        self.initial, self.removed, self.inserted = sections
        self.phases = phases
        self.at = 0
        self.commits = 0
        self.marked = False
        self.complete = Event()
        self.changes: list[tuple[int, int, int]] = []
        self.answer = Answer()

    def run(self) -> None:
        """Called by Pathway, in a thread of its own."""
        rows = self.initial.tolist()
        began = perf_counter_ns()
        for number, (first, second) in enumerate(rows):
            self.next(number=number, first=first, second=second)
        self.finish()
        self.report("load", [perf_counter_ns() - began])
        for phase in self.phases:
            self.report(phase.case, [self.round(phase) for _ in range(phase.rounds)])

    def round(self, phase: Phase) -> int:
        """Replace rows, `phase.size` in each commit; the nanoseconds that it took."""
        end = self.at + phase.times * phase.size
        removed, inserted = (
            self.removed[self.at : end].tolist(),
            self.inserted[self.at : end].tolist(),
        )
        began = perf_counter_ns()
        for i, (old, new) in enumerate(zip(removed, inserted, strict=True), self.at):
            self.delete(number=i, first=old[0], second=old[1])
            self.next(number=len(self.initial) + i, first=new[0], second=new[1])
            if (i + 1 - self.at) % phase.size == 0:
                self.finish()
        self.at = end
        return perf_counter_ns() - began

    def finish(self) -> None:
        """Commit, and wait for the output."""
        self.commits += 1
        self.complete.clear()
        self.next(number=-self.commits, first=-1, second=self.commits)
        self.commit()
        self.complete.wait()

    def on_change(self, key: pw.Pointer, row: dict[str, int], time: int, is_addition: bool) -> None:
        """Keep a change of the output."""
        first, second = row.values()
        if first < 0:
            self.marked = True
        else:
            self.changes.append((first, second, 1 if is_addition else -1))

    def on_time_end(self, time: int) -> None:
        """End a round, if that was its time."""
        if self.marked:
            self.marked = False
            self.complete.set()

    def report(self, case: str, nanoseconds: list[int]) -> None:
        """Print a case as one line of JSON."""
        changes = np.array(self.changes, np.int64).reshape(-1, 3)
        first, second, diffs = np.ascontiguousarray(changes.T)
        self.answer.absorb((first.view(np.uint64), second.view(np.uint64)), diffs)
        line = {"case": case, "ns": nanoseconds, "rows": self.answer.rows}
        line |= {"sum": self.answer.sum, "differences": len(changes)}
        print(json.dumps(line), flush=True)
        self.changes = []


def constant(*rows: tuple[int, int]) -> pw.Table:
    """Rows that are there from the start."""
    return pw.debug.table_from_rows(pw.schema_from_types(first=int, second=int), list(rows))


def counts(rows: pw.Table) -> pw.Table:
    """How often each key occurs."""
    return rows.groupby(rows.first).reduce(rows.first, second=pw.reducers.count())


def distances(edges: pw.Table) -> pw.Table:
    """Distances from node 0, as (node, distance)."""

    def step(known: pw.Table, edges: pw.Table, roots: pw.Table) -> dict[str, pw.Table]:
        along = known.join(edges, known.first == edges.first).select(
            first=edges.second, second=known.second + 1
        )
        return {"known": least(roots.concat_reindex(along))}

    roots = constant((0, 0))
    return pw.iterate(step, known=pw.iterate_universe(roots), edges=edges, roots=roots).known


def labels(edges: pw.Table) -> pw.Table:
    """The smallest node that each node with an edge is connected with."""

    def step(known: pw.Table, both: pw.Table, own: pw.Table) -> dict[str, pw.Table]:
        along = known.join(both, known.first == both.first).select(
            first=both.second, second=known.second
        )
        return {"known": least(own.concat_reindex(along))}

    smaller = pw.if_else(edges.first < edges.second, edges.first, edges.second)
    ends = edges.select(first=smaller)
    own = ends.groupby(ends.first).reduce(ends.first, second=ends.first)
    both = edges.concat_reindex(edges.select(first=edges.second, second=edges.first))
    return pw.iterate(step, known=pw.iterate_universe(own), both=both, own=own).known


def reached(edges: pw.Table) -> pw.Table:
    """What each of ten roots reaches, as (node, root)."""

    def step(known: pw.Table, edges: pw.Table, roots: pw.Table) -> dict[str, pw.Table]:
        along = known.join(edges, known.first == edges.first).select(
            first=edges.second, second=known.second
        )
        both = roots.concat_reindex(along)
        return {"known": both.groupby(both.first, both.second).reduce(both.first, both.second)}

    roots = constant(*((root, root) for root in range(ROOTS)))
    return pw.iterate(step, known=pw.iterate_universe(roots), edges=edges, roots=roots).known


def least(pairs: pw.Table) -> pw.Table:
    """The least second number of each first one."""
    return pairs.groupby(pairs.first).reduce(pairs.first, second=pw.reducers.min(pairs.second))


PROGRAMS: dict[str, Callable[[pw.Table], pw.Table]] = {
    "bfs": distances,
    "count": counts,
    "reach": reached,
    "wcc": labels,
}


def main(workload: str, file: str, workers: str, *phases: str) -> None:
    """Run `workload` over the input `file`."""
    os.environ["PATHWAY_THREADS"] = workers
    course = Course(read(Path(file)), [Phase.parse(phase) for phase in phases])
    fed = pw.io.python.read(course, schema=Numbered, autocommit_duration_ms=None)
    rows = fed.filter(fed.first >= 0).select(pw.this.first, pw.this.second)
    marks = fed.filter(fed.first < 0).select(pw.this.first, pw.this.second)
    output = PROGRAMS[workload](rows).concat_reindex(marks)
    pw.io.subscribe(output, on_change=course.on_change, on_time_end=course.on_time_end)
    pw.run(monitoring_level=pw.MonitoringLevel.NONE)


if __name__ == "__main__":
    main(*sys.argv[1:])
