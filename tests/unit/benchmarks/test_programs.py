"""Workloads of programs over tables: each case ends with the right answer for its last rows."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType

import networkx as nx
import numpy as np
import pytest

from benchmarks import batch_graph, datalog, graspan, mentions
from benchmarks.datalog import CHANGES
from benchmarks.digest import Answer
from benchmarks.inputs import Pairs, read
from benchmarks.peers.duckdb.program import Recomputed
from benchmarks.programs import Maintained
from benchmarks.sides import Case, parse
from benchmarks.workload import Phase, Workload
from tests.property.program_answers import null_assignment, points_to, same_generation

Rows = Iterable[tuple[int, ...]]
Truth = Iterator[tuple[str, Rows]]


def pairs(section: Pairs) -> list[tuple[int, int]]:
    return [(int(first), int(second)) for first, second in section]


def batch_graph_truth(sections: list[Pairs], phases: tuple[Phase, ...]) -> Truth:
    for shape, edges in zip(
        dict.fromkeys(p.case.split(", ")[0] for p in phases), sections, strict=True
    ):
        graph = nx.DiGraph(pairs(edges))
        distances = nx.single_source_shortest_path_length(graph, int(edges[:, 0].min()))
        yield f"{shape}, reach", [(node, 0) for node in distances]
        yield f"{shape}, distances", distances.items()
        yield f"{shape}, components", labels(pairs(edges))


def datalog_truth(sections: list[Pairs], phases: tuple[Phase, ...]) -> Truth:
    for first, graph in enumerate(dict.fromkeys(p.case.split(", ")[0] for p in phases)):
        edges, going, coming, _, new = map(pairs, sections[5 * first : 5 * first + 5])
        edge, argument = CHANGES
        later = Counter(edges)
        later.subtract(going)
        later.update(coming)
        for change, links in (("", edges), (f", {edge}", list(later.elements()))):
            yield f"{graph}, tc{change}", closure(links)
            yield f"{graph}, sg{change}", same_generation({"edges": links})
        ((asked, _),) = new[-1:]
        paths, same = closure(edges), same_generation({"edges": edges})
        yield f"{graph}, tc(x,?), {argument}", [p for p in paths if p[0] == asked]
        yield f"{graph}, tc(?,x), {argument}", [p for p in paths if p[1] == asked]
        yield f"{graph}, sg(x,?), {argument}", [p for p in same if p[0] == asked]


def closure(edges: list[tuple[int, int]]) -> set[tuple[int, int]]:
    graph = nx.DiGraph(edges)
    return {(x, z) for x in graph for y in graph[x] for z in {y, *nx.descendants(graph, y)}}


def graspan_truth(sections: list[Pairs], phases: tuple[Phase, ...]) -> Truth:
    nulls, assigned, flowing, dereferences = map(pairs, sections)
    yield "dataflow, analysis", null_assignment({"nulls": nulls, "assigned": assigned})
    left = nulls[next(phase.rounds for phase in phases if phase.rounds) :]
    yield "dataflow, one null", null_assignment({"nulls": left, "assigned": assigned})
    tables = {"assigned": flowing, "dereferences": dereferences}
    yield "points-to, analysis", points_to(tables)


def mentions_truth(sections: list[Pairs], phases: tuple[Phase, ...]) -> Truth:
    for i, program in ((1, "components"), (3, "top hashtags")):
        slid = phases[i].rounds * phases[i].size
        for case, start in (("at first", 0), ("one second", slid)):
            window = slice(start, start + len(sections[0]))
            rows = [
                pairs(np.concatenate([s[0], s[2]])[window]) for s in (sections[:3], sections[3:])
            ]
            yield f"{program}, {case}", labels(rows[0]) if i == 1 else top_hashtags(*rows)


def labels(links: list[tuple[int, int]]) -> Rows:
    parts = [(min(part), part) for part in nx.connected_components(nx.Graph(links))]
    return [(node, least) for least, part in parts for node in part]


def top_hashtags(links: list[tuple[int, int]], hashtags: list[tuple[int, int]]) -> Rows:
    parts = [(min(p), p) for p in nx.strongly_connected_components(nx.DiGraph(links))]
    of = {user: least for least, part in parts for user in part}
    within = {user for a, b in links if of[a] == of[b] for user in (a, b)}
    uses = Counter((of[user], tag) for user, tag in hashtags if user in within)
    best: dict[int, tuple[int, int]] = {}
    for (component, tag), count in uses.items():
        best[component] = min(best.get(component, (0, 0)), (-count, tag))
    return [(component, tag, -count) for component, (count, tag) in best.items()]


@pytest.mark.parametrize(
    ("workload", "truth"),
    [
        (batch_graph.WORKLOAD, batch_graph_truth),
        (datalog.WORKLOAD, datalog_truth),
        (graspan.WORKLOAD, graspan_truth),
        (mentions.WORKLOAD, mentions_truth),
    ],
    ids=lambda p: getattr(p, "name", ""),
)
@pytest.mark.parametrize("workers", [1, 2])
def test_every_case_ends_with_the_answer_for_its_last_rows(
    workload: Workload,
    truth: Callable[[list[Pairs], tuple[Phase, ...]], Truth],
    workers: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    tiny = workload.scales["tiny"]
    tiny.generate(tmp_path / "in.bin")
    for _ in workload.run(tmp_path / "in.bin", workers, tiny.phases):
        pass
    (run,) = parse(capsys.readouterr().out)
    assert [case.name for case in run.cases] == [phase.case for phase in tiny.phases]
    cases = {case.name: case for case in run.cases}
    answered = dict(truth(read(tmp_path / "in.bin"), tiny.phases))
    for name, rows in answered.items():
        assert (name, *answer(cases[name])) == (name, *digest(rows))
    assert all(case.rows == 0 for name, case in cases.items() if name not in answered)


@pytest.mark.parametrize("workload", [batch_graph, datalog, graspan, mentions])
def test_a_rehearsal_runs_by_itself(
    workload: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tiny = workload.WORKLOAD.scales["tiny"]
    tiny.generate(tmp_path / "in.bin")
    rehearsed = workload.WORKLOAD.rehearsal(tiny.phases)
    for _ in workload.run(tmp_path / "in.bin", 1, rehearsed):
        pass
    (run,) = parse(capsys.readouterr().out)
    assert [case.name for case in run.cases] == [phase.case for phase in rehearsed]
    assert all(phase.rounds <= 1 for phase in rehearsed)


@pytest.mark.parametrize("workload", [batch_graph, datalog, graspan, mentions])
def test_recomputed_by_duckdb_every_case_that_it_has_ends_with_the_same_answer(
    workload: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tiny = workload.WORKLOAD.scales["tiny"]
    tiny.generate(tmp_path / "in.bin")
    runs = []
    for make in (Maintained, Recomputed):
        for _ in workload.run(tmp_path / "in.bin", 1, tiny.phases, make):
            pass
        runs += parse(capsys.readouterr().out)
    ours, anew = ({case.name: answer(case) for case in run.cases} for run in runs)
    assert anew.items() <= ours.items()
    assert anew


def answer(case: Case) -> tuple[int, int]:
    return case.rows, case.sum


def digest(rows: Rows) -> tuple[int, int]:
    answer = Answer()
    words = np.array(sorted(rows), np.uint64)
    if len(words):
        answer.absorb(tuple(words.T), np.ones(len(words), np.int64))
    return answer.rows, answer.sum
