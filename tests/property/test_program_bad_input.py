"""The library's programs over what makes no sense: a right answer, or an error that says where."""

from collections import Counter
from collections.abc import Mapping
from math import inf, nan
from random import Random
from typing import Any

import networkx as nx
import pytest

from ivm.errors import CountOverflow, NoFixedPoint
from tests.property.program_answers import ANSWERS, Row
from tests.property.test_program_library import Maintained
from views.programs import load, names

MANY = 1 << 62
"""Copies of a row, of which two are more than 64 bits count."""
IN_A_LOOP = {
    "components": "label",
    "components_prioritised": "label",
    "gather_apply_scatter": "scattered",
    "top_hashtags": "label",
    "topological_levels": "level",
}
"""Programs that count copies in a recursion, and the binding in which they are too many."""


def example(name: str, copies: int) -> tuple[Maintained, dict[str, Counter[Row]]]:
    program = load(name)
    values = {k: v for k, v in program.example.items() if k in program.parameters}
    maintained = Maintained(program, **values)
    rows = {
        table: Counter(dict.fromkeys(program.example[table], copies)) for table in maintained.tables
    }
    return maintained, rows


@pytest.mark.parametrize("name", names())
def test_more_copies_than_64_bits_count_change_no_answer_or_are_told(name: str) -> None:
    maintained, rows = example(name, MANY)
    failure = refusal(maintained, rows)
    if failure is None:
        found = maintained.pool.scan("view")
        assert found.errors or maintained.rows() == Counter(load(name).example["rows"])
    else:
        assert failure.reasons["view"].startswith(("a row would have more", "in round"))
        assert maintained.pool.names == frozenset(maintained.tables)


def refusal(maintained: Maintained, rows: Mapping[str, Counter[Row]]) -> CountOverflow | None:
    try:
        maintained.lead(rows)
    except CountOverflow as error:
        return error
    return None


@pytest.mark.parametrize("name", sorted(IN_A_LOOP))
def test_a_program_that_counts_copies_in_its_loop_tells_when_they_are_too_many(name: str) -> None:
    maintained, rows = example(name, MANY)
    with pytest.raises(CountOverflow, match=f"of its recursion, in '{IN_A_LOOP[name]}'"):
        maintained.lead(rows)


@pytest.mark.parametrize(
    ("name", "values", "cyclic", "within", "binding"),
    [
        ("topological_levels", {}, {"edges": [(1, 2), (2, 1)]}, "1,000 rounds", "level"),
        ("topological_levels", {}, {"edges": [(3, 3)]}, "1,000 rounds", "level"),
        ("topological_levels", {"rounds": 7}, {"edges": [(1, 1)]}, "7 rounds", "level"),
        ("bill_of_materials", {}, {"parts": [(1, 2, 1), (2, 1, 1)]}, "10,000 rounds", "contains"),
        ("bill_of_materials", {}, {"parts": [(1, 1, -1)]}, "10,000 rounds", "contains"),
        (
            "pagerank_converged",
            {"tolerance": 0, "rounds": 5},
            {"edges": [(1, 2), (2, 1), (2, 3), (3, 1)]},
            "5 rounds",
            "rank",
        ),
    ],
)
def test_a_recursion_that_does_not_converge_names_its_binding_and_round(
    name: str,
    values: Mapping[str, Any],
    cyclic: Mapping[str, list[Row]],
    within: str,
    binding: str,
) -> None:
    maintained = Maintained(load(name), **values)
    bound = within.partition(" ")[0]
    said = f"view: no fixed point within {within}, .*: '{binding}' changes in round {bound}. Add"
    with pytest.raises(NoFixedPoint, match=said):
        maintained.lead({table: Counter(rows) for table, rows in cyclic.items()})
    assert maintained.pool.names == frozenset(maintained.tables)


def test_a_cycle_that_comes_later_fails_its_program_and_leaves_the_others() -> None:
    maintained = Maintained(load("topological_levels"))
    beside = Maintained(load("bfs"))
    edges = [(1, 2), (2, 3)]
    maintained.lead({"edges": Counter(edges)})
    assert maintained.rows() == Counter(ANSWERS["topological_levels"]({"edges": edges}))
    with pytest.raises(NoFixedPoint, match="'level' changes in round 1,000"):
        maintained.lead({"edges": Counter([*edges, (3, 1)])})
    beside.lead({"edges": Counter([*edges, (3, 1)]), "roots": Counter([(1,)])})
    assert beside.rows() == Counter([(1, 0), (2, 1), (3, 2)])


@pytest.mark.parametrize("seed", range(10))
def test_weights_that_are_no_lengths_are_left_out(seed: int) -> None:
    chance = Random(seed)
    maintained = Maintained(load("shortest_paths"), number="double precision")
    edges: list[Row] = []
    for _ in range(8):
        weights = (nan, None, -inf, -1.0, -0.0, 0.0, 0.5, 2.0)
        new = [tuple(chance.randrange(6) for _ in "sd") for _ in range(10)]
        edges = [row for row in edges if chance.random() < 0.6]
        edges += [(src, dst, chance.choice(weights)) for src, dst in new]
        roots = [(chance.randrange(6),)]
        maintained.lead({"edges": Counter(edges), "roots": Counter(roots)})
        assert maintained.rows() == Counter(paths(edges, roots[0][0]))


def paths(edges: list[Row], root: int) -> list[Row]:
    graph: nx.MultiDiGraph[int] = nx.MultiDiGraph()
    graph.add_node(root)
    for src, dst, weight in edges:
        if weight is not None and weight >= 0:
            graph.add_edge(src, dst, weight=weight)
    return list(nx.single_source_dijkstra_path_length(graph, root).items())
