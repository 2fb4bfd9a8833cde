"""Programs one after another over tables of pairs that are arranged already, and then change.

A program is installed against the arrangements of its tables and hydrated from them; that is one
round. Then the tables change, and it follows.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from time import perf_counter_ns
from typing import Protocol

import numpy as np

from benchmarks.course import Outputs, batch, pair
from benchmarks.inputs import Pairs
from benchmarks.workload import Phase, each_once
from ivm.dataflow.nodes import Node
from ivm.pool import Pool
from views.catalog import Catalog, Table
from views.compile import compile_view


def by_name(phases: Iterable[Phase], parts: int = 1) -> Iterator[tuple[list[str], list[Phase]]]:
    """The phases whose cases' names, in parts with commas between, have the first `parts` equal."""
    for name, group in groupby(phases, lambda phase: phase.case.split(", ")[:parts]):
        yield name, list(group)


def first_input(phases: Sequence[Phase]) -> Sequence[Phase]:
    """One round of every phase of the first input, for a rehearsal: it is the largest."""
    _, first = next(by_name(phases))
    return each_once(first)


class Replacing:
    """Rows of a table that go one after another, and those that come in their place."""

    def __init__(self, table: str, removed: Pairs, inserted: Pairs) -> None:
        self.table = table
        self._removed = removed
        self._inserted = inserted
        self._at = 0

    def next(self, count: int) -> tuple[Pairs, Pairs]:
        """The next `count` rows that go, and those that come."""
        here = slice(self._at, self._at + count)
        self._at += count
        return self._removed[here], self._inserted[here]


class Course(Protocol):
    """Tables of pairs, and one program at a time over them.

    All return the nanoseconds until the program's answer is complete.
    """

    def load(self, **tables: Pairs) -> int:
        """Put rows into tables."""

    def start(self, program: str) -> int:
        """Put a program in the place of the one that there is."""

    def arrange(self, name: str, node: Node, key: str) -> int:
        """Keep `node` arranged by `key`, for programs."""

    def follow(self, phase: Phase, *tables: Replacing) -> Iterator[None]:
        """Replace rows of tables in the rounds of `phase`, and print its case."""

    def report(self, case: str, took: list[int]) -> None:
        """Print a case; the answer is that of the program, if there is one."""


Make = Callable[[int, Mapping[str, Sequence[str]], Mapping[str, Node | str]], Course]
"""Makes a course: so many workers, the columns of each table, and programs: nodes, or Datalog."""


class Maintained:
    """A course of ours: every table is arranged by its first column."""

    def __init__(
        self,
        workers: int,
        tables: Mapping[str, Sequence[str]],
        programs: Mapping[str, Node | str],
    ) -> None:
        self._pool = Pool(workers)
        self._schemas = {name: pair(*columns) for name, columns in tables.items()}
        self._programs = programs
        self._outputs: Outputs | None = None
        for name, schema in self._schemas.items():
            self._pool.create_input(name, schema, [schema.names[0]])

    def load(self, **tables: Pairs) -> int:
        """Put rows into tables, and return the nanoseconds until they are arranged."""
        return self._step([(name, rows, 1) for name, rows in tables.items()])

    def start(self, program: str) -> int:
        """Install a program against the arrangements that there are."""
        self._stop()
        node = self._programs[program]
        if isinstance(node, str):
            node = self._compiled(node)
        began = perf_counter_ns()
        self._pool.install("out", node, None)
        took = perf_counter_ns() - began
        self._outputs = Outputs(self._pool, "out")
        self._outputs.drain()
        return took

    def _compiled(self, rules: str) -> Node:
        catalog = Catalog(Table(name, schema, ()) for name, schema in self._schemas.items())
        arranged = [info.name for info in self._pool.arrangements()]
        return compile_view(rules, catalog, arranged=arranged, language="datalog").node

    def arrange(self, name: str, node: Node, key: str) -> int:
        """Install `node` arranged by `key`."""
        self._stop()
        began = perf_counter_ns()
        self._pool.install(name, node, [key])
        return perf_counter_ns() - began

    def _stop(self) -> None:
        if self._outputs:
            self._pool.drop("out")
        self._outputs = None

    def follow(self, phase: Phase, *tables: Replacing) -> Iterator[None]:
        """Feed what the tables' changes are in each round."""
        took = []
        for _ in range(phase.rounds):
            changes = []
            for table in tables:
                removed, inserted = table.next(phase.size)
                changes += [(table.table, removed, -1), (table.table, inserted, 1)]
            took.append(self._step(changes))
            yield
        self.report(phase.case, took)

    def _step(self, changes: Iterable[tuple[str, Pairs, int]]) -> int:
        fed = [
            (name, batch(rows, self._schemas[name]), np.full(len(rows), diff, np.int64))
            for name, rows, diff in changes
        ]
        time = self._pool.frontier
        began = perf_counter_ns()
        for name, rows, diffs in fed:
            self._pool.feed(name, rows, diffs, time)
        self._pool.advance(time + 1)
        took = perf_counter_ns() - began
        if self._outputs:
            self._outputs.drain()
        return took

    def report(self, case: str, took: list[int]) -> None:
        """Print a case; without a program there are no rows."""
        (self._outputs or Outputs(self._pool, "out")).report(case, took)
