"""Interactive queries: hundreds of questions at a time, and Datalog queries, over one graph."""

from collections import Counter
from collections.abc import Iterator
from itertools import permutations
from random import Random

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest

from ivm.pool import Pool
from tests.property.program_answers import ANSWERS, Row
from tests.property.shop import rows_of
from views.catalog import Catalog, Table
from views.compile import compile_query, compile_view
from views.programs import load

CLASSES = ("look_up", "one_hop", "two_hops", "pairs")
NODES = 300
INT = pa.int64()
COLUMNS: dict[str, dict[str, pa.DataType]] = {
    "edges": {"src": INT, "dst": INT},
    "nodes": {"node": INT, "state": pa.string()},
    "asked": {"node": INT},
    "pairs": {"src": INT, "dst": INT},
}
SCHEMAS = {
    name: pa.schema([pa.field(column, kind) for column, kind in columns.items()])
    for name, columns in COLUMNS.items()
}


class Graph:
    """A pool with the tables of all classes, and the rows that they have."""

    def __init__(self) -> None:
        self.catalog = Catalog(Table(name, schema, ()) for name, schema in SCHEMAS.items())
        self.rows: dict[str, list[Row]] = {name: [] for name in SCHEMAS}
        self.pool = Pool()
        self.time = 0
        for name, schema in SCHEMAS.items():
            self.pool.create_input(name, schema, ())

    @property
    def arranged(self) -> list[str]:
        return [info.name for info in self.pool.arrangements()]

    def install(self, program: str) -> None:
        view = compile_view(load(program).text, self.catalog, arranged=self.arranged)
        self.pool.install(f"{program} asked", view.node, view.key)

    def lead(self, **target: list[Row]) -> None:
        """Lead tables to hold these rows, all at one time."""
        for name, rows in target.items():
            change = Counter(rows)
            change.subtract(self.rows[name])
            changed = [(row, diff) for row, diff in change.items() if diff]
            schema = SCHEMAS[name]
            columns = [pa.array([r[i] for r, _ in changed], f.type) for i, f in enumerate(schema)]
            batch = pa.RecordBatch.from_arrays(columns, schema=schema)
            self.pool.feed(name, batch, np.array([d for _, d in changed], np.int64), self.time)
            self.rows[name] = rows
        self.time += 1
        self.pool.advance(self.time)

    def answers(self, name: str) -> Counter[Row]:
        found = self.pool.scan(name)
        return rows_of(found.rows, found.counts)

    def ask(self, program: str) -> tuple[set[Row], set[str]]:
        """The answer to a Datalog query, and the arrangements of the graph made for it."""
        before = set(self.arranged)
        query = compile_query(program, self.catalog, before, "datalog")
        self.pool.install("query", query.node, ())
        made = {name for name in set(self.arranged) - before if name.startswith("edges")}
        found = set(self.answers("query"))
        self.pool.drop("query")
        return found, made


def graphs(chance: Random) -> Iterator[list[Row]]:
    """A graph of which every state has a tenth of its edges other than the last."""
    edges: list[Row] = [
        (chance.randrange(NODES), chance.randrange(NODES)) for _ in range(3 * NODES)
    ]
    edges += [(None, 1), (1, None), edges[0]]
    while True:
        yield edges
        kept = [edge for edge in edges if chance.random() < 0.9]
        come = [(chance.randrange(NODES), chance.randrange(NODES)) for _ in edges[len(kept) :]]
        edges = kept + come


@pytest.mark.parametrize("seed", range(2))
def test_hundreds_of_questions_are_answered_while_the_graph_changes(seed: int) -> None:
    chance = Random(seed)
    graph, edges = Graph(), graphs(chance)
    for program in CLASSES:
        graph.install(program)
    nodes: list[Row] = [(node, f"state {node}") for node in range(NODES)]
    asked: list[Row] = []
    pairs: list[Row] = []
    for step in range(8):
        asked = asked[100:] + [
            (chance.randrange(NODES + 9),) for _ in range(100 + 200 * (step < 2))
        ]
        pairs = pairs[50:] + [(chance.randrange(NODES), chance.randrange(NODES)) for _ in range(99)]
        nodes[step] = (step, "changed")
        tables = {"edges": next(edges), "nodes": nodes, "asked": asked, "pairs": pairs}
        graph.lead(**{name: [*rows] for name, rows in tables.items()})
        for program in CLASSES:
            expected = ANSWERS[program]({**tables, "pairs": [*dict.fromkeys(pairs)]})
            assert graph.answers(f"{program} asked") == Counter(expected), (program, step)
    graph.lead(asked=[], pairs=[])
    assert not any(graph.answers(f"{program} asked") for program in CLASSES)


@pytest.mark.parametrize("order", list(permutations(CLASSES[1:])), ids=" ".join)
def test_all_classes_share_two_arrangements_of_the_graph(order: tuple[str, ...]) -> None:
    graph = Graph()
    for program in order:
        graph.install(program)
    edges = next(graphs(Random(0)))
    graph.lead(edges=edges)
    large = {info.name for info in graph.pool.arrangements() if info.records >= len(edges) // 2}
    assert large == {"edges[]", "edges[src]", "edges[dst]"}  # the first is the input's own


CLOSURE = "tc(x, y) :- edges(x, y). tc(x, z) :- tc(x, y), edges(y, z). "
GENERATION = (
    "sg(x, y) :- edges(p, x), edges(p, y), x != y. sg(x, y) :- edges(a, x), sg(a, b), edges(b, y). "
)


def test_datalog_queries_with_bound_arguments_read_shared_arrangements() -> None:
    chance = Random(3)
    graph, edges = Graph(), graphs(chance)
    graph.install("pairs")
    graph.lead(edges=next(edges))
    graph.ask(f"{GENERATION}?- sg(1, y).")
    for _ in range(5):
        held = [*next(edges)][: NODES + 40]
        graph.lead(edges=held)
        whole: nx.DiGraph[int] = nx.DiGraph([edge for edge in held if None not in edge])
        whole.add_nodes_from(range(NODES))
        same = ANSWERS["same_generation"]({"edges": held})
        for node in chance.sample(range(NODES), 20):
            on_cycle = any(node in whole[n] for n in nx.descendants(whole, node) | {node})
            after = nx.descendants(whole, node) | ({node} if on_cycle else set())
            found, made = graph.ask(f"{CLOSURE}?- tc({node}, y).")
            assert {y for (y,) in found} - {None} == after
            assert not made
            before = nx.ancestors(whole, node) | ({node} if on_cycle else set())
            found, made = graph.ask(f"{CLOSURE}?- tc(x, {node}).")
            assert {x for (x,) in found} - {None} == before
            assert not made
            found, made = graph.ask(f"{GENERATION}?- sg({node}, y).")
            assert {(node, y) for (y,) in found} == {row for row in same if row[0] == node}
            assert not made
