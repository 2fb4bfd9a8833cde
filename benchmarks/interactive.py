"""Interactive queries over a graph that changes: look-ups, hops, and paths of at most four edges.

The workload of K-Pg (section 6.2 and figure 5). Questions are rows of tables: a round puts some in,
takes those of the round before out, and rewires as many edges. Each join with the graph reads one
of two arrangements that all share, or has a copy of the graph of its own
(`interactive_unshared`). Cases named `install …` install one query over the shared arrangements,
ask one question, and drop it.
"""

import json
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from time import perf_counter_ns

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks.course import Outputs, batch, pair
from benchmarks.inputs import Pairs, interactive, interleaved, read, write
from benchmarks.workload import Phase, Scale, Workload, changed
from ivm.dataflow.nodes import Arrange, Get, Node
from ivm.dataflow.traversal import walk
from ivm.pool import Pool
from views.catalog import Catalog, Table
from views.compile import compile_view
from views.programs import load

EDGES, NODES, PATHS = pair("src", "dst"), pair("node", "state"), pair("src", "dst")
ASKED = pa.schema([NODES.field(0)])
# The class of a case, its program, and the table of its questions.
CLASSES = {
    "look-up": ("look_up", "asked", ASKED),
    "one hop": ("one_hop", "asked", ASKED),
    "two hops": ("two_hops", "asked", ASKED),
    "paths": ("pairs", "pairs", PATHS),
}
ONCE = "once"
_JOINED = re.compile(r"(?<=JOIN )edges\b")


def run(shared: bool, path: Path, workers: int, phases: Sequence[Phase]) -> Iterator[None]:
    """Answer the questions of `path` over its graph, printing every case."""
    nodes, initial, removed, inserted, asked = read(path)
    course = _Course(Pool(workers), shared, interleaved(removed, inserted), asked)
    yield
    course.load(nodes, initial)
    for phase in phases:
        yield
        yield from course.run(phase)


class _Course:
    def __init__(
        self, pool: Pool, shared: bool, changes: tuple[Pairs, NDArray[np.int64]], asked: Pairs
    ) -> None:
        self.pool = pool
        self.rewired, self.diffs = batch(changes[0], EDGES), changes[1]
        self.asked = asked
        self.at = 0
        self.time = 1
        self.open: dict[str, pa.RecordBatch] = {}
        compiled = {name: _compiled(name, f"asked {name}", shared) for name in CLASSES}
        # The inputs that are the graph, each with the column by which it is arranged first.
        self.copies: dict[str, str] = {}
        for node in compiled.values():
            for name, key in _graphs(node):
                self.copies.setdefault(name, key)
        for name, key in self.copies.items():
            pool.create_input(name, EDGES, [key])
        pool.create_input("nodes", NODES, ["node"])
        for name, node in compiled.items():
            pool.create_input(f"asked {name}", CLASSES[name][2], [CLASSES[name][2].names[0]])
            pool.install(name, node, None)
        self.outputs = Outputs(pool, *CLASSES)

    def load(self, nodes: Pairs, edges: Pairs) -> None:
        states, graph = batch(nodes, NODES), batch(edges, EDGES)
        began = perf_counter_ns()
        self.pool.feed("nodes", states, np.ones(len(states), np.int64), 0)
        for name in self.copies:
            self.pool.feed(name, graph, np.ones(len(graph), np.int64), 0)
        self.pool.advance(1)
        took = perf_counter_ns() - began
        self.outputs.drain()
        self.outputs.report("load", [took])
        held = sum(info.bytes for info in self.pool.arrangements())
        print(json.dumps({"bytes": held, "records": len(edges)}), flush=True)

    def run(self, phase: Phase) -> Iterator[None]:
        kind, _, rest = phase.case.partition(" ")
        if kind == "install":
            yield from self.install(phase, rest)
            return
        name = phase.case.rpartition(" ")[0]
        names = list(CLASSES) if name == "mix" else [name]
        took = []
        for _ in range(phase.rounds):
            took.append(self.round(phase.size, names))
            self.outputs.drain()
            yield
        self.outputs.report(phase.case, took)

    def round(self, size: int, names: Sequence[str]) -> int:
        asked = self.asked[self.at : self.at + size]
        shares = np.array_split(asked, len(names))
        questions = {n: batch(s, CLASSES[n][2]) for n, s in zip(names, shares, strict=True)}
        rewired = self.rewired.slice(2 * self.at, 2 * size)
        diffs = self.diffs[2 * self.at : 2 * (self.at + size)]
        self.at += size
        began = perf_counter_ns()
        for name in self.copies:
            self.pool.feed(name, rewired, diffs, self.time)
        for name, rows in self.open.items():
            self.pool.feed(f"asked {name}", rows, np.full(len(rows), -1, np.int64), self.time)
        for name, rows in questions.items():
            self.pool.feed(f"asked {name}", rows, np.ones(len(rows), np.int64), self.time)
        self.time += 1
        self.pool.advance(self.time)
        took = perf_counter_ns() - began
        self.open = questions
        return took

    def install(self, phase: Phase, name: str) -> Iterator[None]:
        node, schema = _compiled(name, ONCE, True), CLASSES[name][2]
        outputs = Outputs(self.pool, f"{ONCE} asked")
        took = []
        for _ in range(phase.rounds):
            question = batch(self.asked[self.at : self.at + phase.size], schema)
            self.at += phase.size
            took.append(self.installed(node, question, outputs))
            yield
        outputs.report(phase.case, took)

    def installed(self, node: Node, question: pa.RecordBatch, outputs: Outputs) -> int:
        """Install a query, answer one question, and drop it: the time without the drain."""
        pool = self.pool
        began = perf_counter_ns()
        pool.create_input(ONCE, question.schema, [question.schema.names[0]])
        pool.feed(ONCE, question, np.ones(len(question), np.int64), self.time)
        self.time += 1
        pool.advance(self.time)
        pool.install(f"{ONCE} asked", node, None)
        answered = perf_counter_ns()
        outputs.drain()
        drained = perf_counter_ns()
        pool.drop(f"{ONCE} asked")
        pool.drop_input(ONCE)
        return answered - began + perf_counter_ns() - drained


def _compiled(name: str, table: str, shared: bool) -> Node:
    """The dataflow of a class whose questions are in `table`."""
    program, questions, schema = CLASSES[name]
    values = {"state": "bigint"} if program == "look_up" else {}
    text = load(program).query({questions: f'"{table}"'}, **values)
    copies = count()
    if not shared:
        text = _JOINED.sub(lambda _: f'"edges {name} {next(copies)}"', text)
    catalog = Catalog([Table("edges", EDGES, ()), Table("nodes", NODES, ())])
    for copy in range(next(copies)):
        catalog.add_table(Table(f"edges {name} {copy}", EDGES, ()))
    catalog.add_table(Table(table, schema, ()))
    return compile_view(text, catalog).node


def _graphs(node: Node) -> Iterator[tuple[str, str]]:
    """The inputs with edges that `node` arranges, and by which column."""
    for each in walk(node):
        if (
            isinstance(each, Arrange)
            and isinstance(each.input, Get)
            and each.input.name.startswith("edges")
        ):
            yield each.input.name, EDGES.names[each.key[0]]


SIZES = {1: 1_000, 10: 300, 100: 100, 1_000: 20}  # questions of a round: rounds
ASKING = tuple(
    Phase(f"{name} {size}", rounds, 1, size)
    for name in (*CLASSES, "mix")
    for size, rounds in SIZES.items()
)
INSTALLING = tuple(Phase(f"install {name}", 300, 1, 1) for name in CLASSES)
NODES_EDGES = {
    "tiny": (5_000, 32_500),
    "small": (200_000, 1_300_000),
    "full": (2_000_000, 13_000_000),
}


def scale(nodes: int, edges: int, *phases: Phase) -> Scale:
    """A graph of this size, with these phases."""

    def generate(path: Path) -> None:
        write(path, interactive(nodes, edges, changed(phases)))

    return Scale(generate, phases)


def scales(*phases: Phase) -> dict[str, Scale]:
    """The sizes of the graph, with these phases."""
    return {name: scale(*size, *phases) for name, size in NODES_EDGES.items()}


WORKLOAD = Workload("interactive", scales(*ASKING, *INSTALLING), partial(run, True))
