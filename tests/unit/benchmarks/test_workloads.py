"""Every workload end to end at a tiny scale: the output it ends with is the right one."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from benchmarks import arrange, bfs, count, install, pagerank, pagerank_rounded, reach, scc, wcc
from benchmarks.digest import Answer
from benchmarks.inputs import Pairs, rows_and_keys, sliding, write
from benchmarks.sides import Run, parse
from benchmarks.workload import Phase, Workload, changed
from tests.property import program_answers

PHASES = (
    Phase("one", 20, 1, 1),
    Phase("many", 2, 1, 20),
    Phase("many times", 2, 10, 1),
)
COUNTED = Phase("install a count", 0, 0, 0), *PHASES[:2], Phase("open", 1, 1, 50, rate=10**5)
NODES, EDGES = 40, 60

Rows = Iterable[tuple[int, int]]


def _distances(graph: nx.MultiDiGraph) -> Rows:
    return nx.single_source_shortest_path_length(graph, 0).items()


def _labels(graph: nx.MultiDiGraph) -> Rows:
    ended = graph.edge_subgraph(graph.edges)
    return [(n, min(part)) for part in nx.weakly_connected_components(ended) for n in part]


def _inner_edges(graph: nx.MultiDiGraph) -> Rows:
    of = {n: i for i, part in enumerate(nx.strongly_connected_components(graph)) for n in part}
    return [(a, b) for a, b, _ in graph.edges if of[a] == of[b]]


def _reached(graph: nx.MultiDiGraph) -> Rows:
    return [(n, root) for root in range(10) for n in {root, *nx.descendants(graph, root)}]


def _ranks(graph: nx.MultiDiGraph, step: int = 1) -> Rows:
    edges = [(src, dst) for src, dst, _ in graph.edges]
    return program_answers.pagerank({"edges": edges}, step=step)


def _counts(graph: nx.MultiDiGraph) -> Rows:
    return [(n, degree) for n, degree in graph.out_degree if degree]


GRAPHS = [
    (count.WORKLOAD, _counts),
    (bfs.WORKLOAD, _distances),
    (wcc.WORKLOAD, _labels),
    (scc.WORKLOAD, _inner_edges),
    (reach.WORKLOAD, _reached),
    (pagerank.WORKLOAD, _ranks),
    (pagerank_rounded.WORKLOAD, partial(_ranks, step=100)),
]


def measured(
    workload: Workload,
    sections: Sequence[Pairs],
    phases: Sequence[Phase],
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    workers: int = 1,
) -> Run:
    write(folder / "in.bin", sections)
    for _ in workload.run(folder / "in.bin", workers, phases):
        pass
    (run,) = parse(capsys.readouterr().out)
    return run


def digest(rows: Rows) -> tuple[int, int]:
    answer = Answer()
    words = np.array(list(rows), np.uint64).reshape(-1, 2)
    answer.absorb((words[:, 0], words[:, 1]), np.ones(len(words), np.int64))
    return answer.rows, answer.sum


@pytest.mark.parametrize(("workload", "truth"), GRAPHS, ids=lambda p: getattr(p, "name", ""))
@pytest.mark.parametrize("workers", [1, 2])
def test_a_graph_workload_ends_with_the_answer_for_its_last_edges(
    workload: Workload,
    truth: Callable[[nx.MultiDiGraph], Rows],
    workers: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    sections = sliding(NODES, NODES, EDGES, changed(PHASES))
    run = measured(workload, sections, PHASES, tmp_path, capsys, workers)
    graph: nx.MultiDiGraph = nx.MultiDiGraph()
    graph.add_nodes_from(range(NODES))
    graph.add_edges_from(np.concatenate([sections[0], sections[2]])[-EDGES:].tolist())
    assert [case.name for case in run.cases] == ["load", *(p.case for p in PHASES)]
    assert (run.cases[-1].rows, run.cases[-1].sum) == digest(truth(graph))


def test_arrange_ends_with_the_counts_of_its_last_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sections = sliding(30, 2**32, 50, changed(COUNTED))
    run = measured(arrange.WORKLOAD, sections, COUNTED, tmp_path, capsys)
    keys = np.concatenate([sections[0], sections[2]])[-50:, 0]
    assert (run.cases[-1].rows, run.cases[-1].sum) == digest(Counter(keys.tolist()).items())


def test_arrange_tells_the_memory_of_a_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = measured(arrange.WORKLOAD, sliding(30, 2**32, 50, 0), (), tmp_path, capsys)
    assert run.row_bytes is not None
    assert run.row_bytes > 0


def test_install_answers_every_join(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows, keys = rows_and_keys(20, 30)
    phases = Phase("10 keys", 2, 1, 10), Phase("5 keys", 2, 1, 5)
    run = measured(install.WORKLOAD, [rows, keys], phases, tmp_path, capsys)
    joined = [(k, v) for key in keys[:, 0].tolist() for k, v in rows.tolist() if k == key]
    assert (run.cases[-1].rows, run.cases[-1].sum) == digest(joined)
