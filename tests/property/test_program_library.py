"""The library's programs follow their tables, as networkx and plain Python have the answers."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from string import Template
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.nodes import EnterAt
from ivm.dataflow.traversal import walk
from ivm.pool import Pool
from tests.property.program_answers import ANSWERS, Row, pagerank
from tests.property.shop import rows_of
from views.catalog import Catalog, Table
from views.compile import compile_view
from views.programs import Program, load, names
from views.types import parse_type

ROUNDS = 12
NUMBERS = (*range(-1, 5), None)
TEXTS = (*"xyz", None)
ONCE = {"roots", "vertices"}  # a row for each node
Bags = Mapping[str, Counter[Row]]


def tables_of(program: Program, values: Mapping[str, Any]) -> list[Table]:
    """The tables that a program reads, with columns that may be NULL."""
    parameters = {**program.parameters, **values}
    made = []
    for relation in program.relations:
        kinds = {c: Template(k).substitute(parameters) for c, k in relation.columns.items()}
        fields = [pa.field(column, parse_type(kind)) for column, kind in kinds.items()]
        made.append(Table(relation.name, pa.schema(fields), ()))
    return made


class Maintained:
    """A program's view in a pool, and the rows that its tables have."""

    def __init__(
        self, program: Program, on: Mapping[str, str] | None = None, **values: Any
    ) -> None:
        self.tables = {table.name: table for table in tables_of(program, values)}
        self.held: dict[str, Counter[Row]] = {name: Counter() for name in self.tables}
        self.time = 0
        query = program.query(on, **values)
        catalog = Catalog(self.tables.values())
        view = compile_view(query, catalog, program.key, language=program.language)
        self.pool = Pool()
        for table in self.tables.values():
            self.pool.create_input(table.name, table.schema, ())
        self.pool.install("view", view.node, view.key)

    def lead(self, target: Bags) -> None:
        """Lead the tables to hold the rows of `target`."""
        for name, bag in target.items():
            change = Counter(bag)
            change.subtract(self.held[name])
            rows = [row for row, diff in change.items() if diff]
            schema = self.tables[name].schema
            columns = [pa.array([r[i] for r in rows], f.type) for i, f in enumerate(schema)]
            diffs = np.array([change[row] for row in rows], dtype=np.int64)
            batch = pa.RecordBatch.from_arrays(columns, schema=schema)
            self.pool.feed(name, batch, diffs, self.time)
            self.held[name] = Counter(bag)
        self.time += 1
        self.pool.advance(self.time)

    def rows(self) -> Counter[Row]:
        found = self.pool.scan("view")
        return rows_of(found.rows, found.counts)


def rows_at_random(program: Program, chance: Random) -> dict[str, list[Row]]:
    """Rows over few nodes, with loops, copies, NULLs everywhere, and costs below zero."""
    acyclic = program.name in ("topological_levels", "bill_of_materials")
    nodes = [*range(1, 9), None]

    def value(kind: str) -> Any:
        if kind == "$node":
            return chance.choice(nodes)
        return chance.choice(TEXTS if kind in ("text", "$state") else NUMBERS)

    made: dict[str, list[Row]] = {}
    for relation in program.relations:
        many = 12 if len(relation.columns) > 1 else 2
        kinds = relation.columns.values()
        rows = [tuple(value(kind) for kind in kinds) for _ in range(chance.randint(0, many))]
        if relation.name in ONCE:
            rows = [*{row[0]: row for row in rows}.values()]
        if acyclic:
            rows = [r for r in rows if None in r[:2] or r[0] < r[1]]
        made[relation.name] = rows
    return made


def histories(program: Program, chance: Random) -> Iterator[dict[str, list[Row]]]:
    """States of a program's tables, of which each changes a few rows of the last; at last none."""
    held = rows_at_random(program, chance)
    yield held
    for _ in range(ROUNDS):
        come = rows_at_random(program, chance)
        held = {
            name: [r for r in rows if chance.random() < 0.7]
            + [r for r in come[name] if chance.random() < 0.3]
            for name, rows in held.items()
        }
        for name in held.keys() & ONCE:
            held[name] = [*{row[0]: row for row in held[name]}.values()]
        yield held
    yield {name: [] for name in held}


@pytest.mark.parametrize("name", sorted(ANSWERS))
@pytest.mark.parametrize("seed", range(3))
def test_a_program_follows_its_tables(name: str, seed: int) -> None:
    program = load(name)
    maintained = Maintained(program)
    for state in histories(program, Random(f"{name} {seed}")):
        maintained.lead({table: Counter(rows) for table, rows in state.items()})
        assert maintained.rows() == Counter(ANSWERS[name](state)), state


@pytest.mark.parametrize("seed", range(3))
def test_pagerank_ends_within_its_tolerance(seed: int) -> None:
    program = load("pagerank_converged")
    maintained = Maintained(program, tolerance="1e-6")
    for state in histories(program, Random(seed)):
        maintained.lead({table: Counter(rows) for table, rows in state.items()})
        found: dict[int, float] = dict(maintained.rows().keys())
        expected = {node: rank / 1_000_000 for node, rank in pagerank(state, 200)}
        assert found == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("step", [7, 1000])
def test_pagerank_moves_shares_by_its_step(step: int) -> None:
    program = load("pagerank")
    maintained = Maintained(program, step=str(step))
    for state in histories(program, Random(step)):
        maintained.lead({table: Counter(rows) for table, rows in state.items()})
        assert maintained.rows() == Counter(pagerank(state, step=step))


@pytest.mark.parametrize("name", names())
def test_the_example_of_a_program_is_true(name: str) -> None:
    program = load(name)
    values = {k: v for k, v in program.example.items() if k in program.parameters}
    maintained = Maintained(program, **values)
    maintained.lead({t: Counter(program.example[t]) for t in maintained.tables})
    assert maintained.rows() == Counter(program.example["rows"])


def test_priorities_change_no_row_and_save_state() -> None:
    chance = Random(5)
    edges = Counter((chance.randrange(2000), chance.randrange(2000)) for _ in range(4000))
    kept = {}
    for name in ("components", "components_prioritised"):
        maintained = Maintained(load(name))
        maintained.lead({"edges": edges})
        state = sum(info.bytes for info in maintained.pool.arrangements())
        kept[name] = (maintained.rows(), state)
    assert kept["components"][0] == kept["components_prioritised"][0]
    assert kept["components_prioritised"][1] < 0.5 * kept["components"][1]


def test_the_page_lists_every_program() -> None:
    page = (Path(__file__).parents[2] / "docs" / "programs.md").read_text()
    for program in map(load, names()):
        assert f"[{program.name}](../views/programs/{program.name}." in page
        assert f" | {program.summary} |" in page


def test_the_page_shows_the_priorities_of_a_program() -> None:
    page = (Path(__file__).parents[2] / "docs" / "programs.md").read_text()
    shown = re.findall(r"```sql\n(.*?)```", page, re.S)
    edges = Table("edges", pa.schema([("src", pa.int64()), ("dst", pa.int64())]), ())
    (view,) = (compile_view(text, Catalog([edges])) for text in shown)
    assert any(isinstance(node, EnterAt) for node in walk(view.node))
