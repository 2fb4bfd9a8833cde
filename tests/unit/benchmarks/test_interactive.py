"""The interactive workloads at a tiny scale: shared or not, they end with the right answers."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest

from benchmarks import interactive, interactive_unshared
from benchmarks.digest import Answer
from benchmarks.inputs import interactive as generated
from benchmarks.workload import Phase, Workload, changed
from tests.property.program_answers import ANSWERS
from tests.unit.benchmarks.test_workloads import measured

NODES, EDGES = 40, 120
SIZES = {"look-up 5": 5, "one hop 5": 5, "two hops 7": 7, "paths 9": 9, "mix 22": 22}
PHASES = tuple(Phase(case, 3, 1, size) for case, size in SIZES.items())
WORKLOADS = [interactive.WORKLOAD, interactive_unshared.WORKLOAD]


def digest(rows: Iterable[Sequence[int]], answer: Answer) -> None:
    for row in rows:
        answer.absorb([np.array([value], np.uint64) for value in row], np.ones(1, np.int64))


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
@pytest.mark.parametrize("workers", [1, 2])
def test_the_last_questions_are_answered_over_the_last_edges(
    workload: Workload, workers: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sections = generated(NODES, EDGES, changed(PHASES))
    run = measured(workload, sections, PHASES, tmp_path, capsys, workers)
    nodes, initial, _, inserted, asked = sections
    edges = [tuple(edge) for edge in np.concatenate([initial, inserted])[-EDGES:].tolist()]
    answer = Answer()
    for place, share in enumerate(np.array_split(asked[-22:], 4)):
        program, table, schema = list(interactive.CLASSES.values())[place]
        questions = [tuple(row[: len(schema)]) for row in share.tolist()]
        tables = {"nodes": list(map(tuple, nodes.tolist())), "edges": edges, table: questions}
        digest([(place, *row) for row in ANSWERS[program](tables)], answer)
    assert [case.name for case in run.cases] == ["load", *SIZES]
    assert (run.cases[-1].rows, run.cases[-1].sum) == (answer.rows, answer.sum)


def test_sharing_takes_less_than_half_of_the_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    taken = []
    for workload in WORKLOADS:
        run = measured(workload, generated(1_000, 6_500, 0), (), tmp_path, capsys)
        assert run.row_bytes is not None
        taken.append(run.row_bytes)
    assert 2.5 * taken[0] < taken[1]


@pytest.mark.parametrize("name", interactive.CLASSES)
def test_an_installed_query_answers_its_question(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    phases = (Phase(f"install {name}", 30, 1, 1),)
    sections = generated(NODES, EDGES, changed(phases))
    run = measured(interactive.WORKLOAD, sections, phases, tmp_path, capsys)
    nodes, initial, _, _, asked = sections
    program, table, schema = interactive.CLASSES[name]
    edges = list(map(tuple, initial.tolist()))
    answer = Answer()
    for row in asked.tolist():
        tables = {"nodes": nodes.tolist(), "edges": edges, table: [tuple(row[: len(schema)])]}
        digest(ANSWERS[program](tables), answer)
    assert (run.cases[-1].rows, run.cases[-1].sum) == (answer.rows, answer.sum)
