"""Graph workloads of `benchmarks/` computed anew by rustworkx: `WORKLOAD FILE WORKERS PHASE…`.

That is what one does without views: a graph in memory takes each change, and an algorithm runs over
all of it again. Its time is that of both, without that of making rows of the answer; a round of
several times is as many runs. Of a case with many rounds only the last few are timed, with the
changes of all. It prints no differences.
"""

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter_ns

import numpy as np
import rustworkx as rx
from numpy.typing import NDArray

from benchmarks.digest import Answer
from benchmarks.inputs import Pairs, read
from benchmarks.workload import Phase

TEN = {root: root for root in range(10)}
TIMED = 3  # rounds of a case

Rows = Callable[[], Pairs]
"""Makes the rows of an answer, once its algorithm has run."""
Algorithm = Callable[[rx.PyDiGraph], Rows]


def distances(graph: rx.PyDiGraph, root: int = 0) -> Rows:
    """Each node that `root` reaches with the least number of steps, as (node, distance)."""
    layers = rx.bfs_layers(graph, [root])
    return lambda: _labelled([(layer, distance) for distance, layer in enumerate(layers)])


def reached(graph: rx.PyDiGraph, roots: Mapping[int, int] = TEN) -> Rows:
    """What each root reaches, as (node, the root's label)."""
    found = [(rx.descendants(graph, root) | {root}, label) for root, label in roots.items()]
    return lambda: _labelled(found)


def labels(graph: rx.PyDiGraph) -> Rows:
    """The smallest node that each node with an edge is connected with, as (node, smallest)."""
    parts = rx.weakly_connected_components(graph)

    def rows() -> Pairs:
        labelled = _labelled([(part, min(part)) for part in parts])
        return labelled[np.isin(labelled[:, 0], _edges(graph))]

    return rows


def within(graph: rx.PyDiGraph) -> Rows:
    """The edges whose ends are in one strongly connected component."""
    parts = rx.strongly_connected_components(graph)

    def rows() -> Pairs:
        edges, part_of = _edges(graph), np.empty(graph.num_nodes(), np.int64)
        for number, part in enumerate(parts):
            part_of[part] = number
        inside: NDArray[np.bool_] = part_of[edges[:, 0]] == part_of[edges[:, 1]]
        return edges[inside]

    return rows


REWIRED: dict[str, Algorithm] = {
    "bfs": distances,
    "reach": reached,
    "scc": within,
    "wcc": labels,
}


def rewire(algorithm: Algorithm, path: Path, phases: list[Phase]) -> None:
    """Load the edges of `path`, then rewire some in every round, and print every case."""
    initial, removed, inserted = read(path)
    nodes = 1 + int(max(section.max(initial=len(TEN)) for section in (initial, inserted)))
    began = perf_counter_ns()
    graph = _graph(nodes, initial)
    answer = algorithm(graph)
    report("load", [perf_counter_ns() - began], answer)
    at = 0
    for phase in phases:
        size = phase.times * phase.size
        timed = min(TIMED, phase.rounds)
        untimed = (phase.rounds - timed) * size
        _replace(graph, removed[at : at + untimed], inserted[at : at + untimed])
        at += untimed
        took = []
        for _ in range(timed):
            began = perf_counter_ns()
            for start in range(at, at + size, phase.size):
                now = slice(start, start + phase.size)
                _replace(graph, removed[now], inserted[now])
                answer = algorithm(graph)
            took.append(perf_counter_ns() - began)
            at += size
        report(phase.case, took, answer)


def batch(path: Path, phases: list[Phase]) -> None:
    """Compute what `batch_graph` does of each graph of `path`; there are no indices to make."""
    shapes = dict.fromkeys(phase.case.split(", ")[0] for phase in phases)
    graphs = dict(zip(shapes, read(path), strict=False))
    for shape, edges in graphs.items():
        graph, root = _graph(1 + int(edges.max()), edges), int(edges[:, 0].min())
        computed: dict[str, Algorithm] = {
            "reach": partial(reached, roots={root: 0}),
            "distances": partial(distances, root=root),
            "components": labels,
        }
        for phase in phases:
            of, case = phase.case.split(", ")
            if of == shape and case in computed:
                began = perf_counter_ns()
                answer = computed[case](graph)
                report(phase.case, [perf_counter_ns() - began], answer)


def report(case: str, took: list[int], rows: Rows) -> None:
    """Print a case as one line of JSON."""
    answer, found = Answer(), rows().astype(np.uint64)
    answer.absorb((found[:, 0], found[:, 1]), np.ones(len(found), np.int64))
    line = {"case": case, "ns": took, "rows": answer.rows, "sum": answer.sum}
    print(json.dumps(line | {"differences": None}), flush=True)


def _graph(nodes: int, edges: Pairs) -> rx.PyDiGraph:
    graph = rx.PyDiGraph()
    graph.add_nodes_from(range(nodes))
    graph.extend_from_edge_list(_tuples(edges))
    return graph


def _replace(graph: rx.PyDiGraph, removed: Pairs, inserted: Pairs) -> None:
    graph.add_edges_from_no_data(_tuples(inserted))
    graph.remove_edges_from(_tuples(removed))


def _tuples(edges: Pairs) -> list[tuple[int, int]]:
    return [(source, target) for source, target in edges.tolist()]


def _edges(graph: rx.PyDiGraph) -> Pairs:
    return np.array(graph.edge_list(), np.uint32).reshape(-1, 2)


def _labelled(groups: Sequence[tuple[Iterable[int], int]]) -> Pairs:
    """A row for each node of each group, with the group's label."""
    parts = [np.fromiter(nodes, np.uint32) for nodes, _ in groups]
    of = np.repeat([label for _, label in groups], [len(part) for part in parts])
    return np.stack([np.concatenate(parts), of.astype(np.uint32)], axis=1)


def main(workload: str, file: str, _: str, *phases: str) -> None:
    """Run `workload` over the input `file`; rustworkx runs on one thread."""
    measured = [Phase.parse(phase) for phase in phases]
    if workload in REWIRED:
        rewire(REWIRED[workload], Path(file), measured)
    else:
        batch(Path(file), measured)


if __name__ == "__main__":
    main(*sys.argv[1:])
