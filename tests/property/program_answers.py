"""The answers of the library's programs, by networkx and plain Python.

Each function takes the rows of the program's tables, copies and NULLs among them, and returns the
rows of the view.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import trunc
from typing import Any

import networkx as nx

Row = tuple[Any, ...]
Tables = Mapping[str, Sequence[Row]]
Answer = Callable[[Tables], Iterable[Row]]


def _graph(tables: Tables, table: str = "edges") -> "nx.DiGraph[int]":
    """The edges that have both ends."""
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_edges_from(row[:2] for row in tables[table] if None not in row[:2])
    return graph


def _equal(one: object, other: object) -> bool:
    """Whether two values are known to be equal: NULL is not, to anything."""
    return one is not None and one == other


def _both_ways(tables: Tables, table: str = "edges") -> "nx.Graph[int]":
    return _graph(tables, table).to_undirected()


def bfs(tables: Tables) -> set[Row]:
    graph = _graph(tables)
    roots = {node for (node,) in tables["roots"] if node is not None}
    graph.add_nodes_from(roots)
    levels = nx.bfs_layers(graph, roots) if roots else ()
    return {(node, steps) for steps, level in enumerate(levels) for node in level}


def reachability(tables: Tables) -> set[Row]:
    return {(node,) for node, _ in bfs(tables)}


def shortest_paths(tables: Tables) -> set[Row]:
    graph = _graph({"edges": ()})
    for src, dst, weight in tables["edges"]:
        if None in (src, dst, weight) or weight < 0:
            continue
        least = min(weight, graph.get_edge_data(src, dst, {"weight": weight})["weight"])
        graph.add_edge(src, dst, weight=least)
    roots = {node for (node,) in tables["roots"] if node is not None}
    graph.add_nodes_from(roots)
    return set(nx.multi_source_dijkstra_path_length(graph, roots).items()) if roots else set()


def pairs(tables: Tables) -> set[Row]:
    graph = _graph(tables)
    asked = [pair for pair in tables["pairs"] if None not in pair]
    graph.add_nodes_from(node for pair in asked for node in pair)
    return {
        (src, dst, steps)
        for src, dst in asked
        for steps in [nx.single_source_shortest_path_length(graph, src, cutoff=4).get(dst)]
        if steps is not None
    }


def look_up(tables: Tables) -> list[Row]:
    return [
        (asked, state) for (asked,) in tables["asked"] for node, state in tables["nodes"]
        if _equal(asked, node)
    ]  # fmt: skip


def one_hop(tables: Tables) -> list[Row]:
    edges = [row for row in tables["edges"] if None not in row]
    return [(asked, dst) for (asked,) in tables["asked"] for src, dst in edges if src == asked]


def two_hops(tables: Tables) -> list[Row]:
    edges = [row for row in tables["edges"] if None not in row]
    return [(asked, dst) for asked, node in one_hop(tables) for src, dst in edges if src == node]


def components(tables: Tables, table: str = "edges") -> set[Row]:
    found = nx.connected_components(_both_ways(tables, table))
    return {(node, min(component)) for component in found for node in component}


def scc(tables: Tables) -> set[Row]:
    graph = _graph(tables)
    least = {n: min(part) for part in nx.strongly_connected_components(graph) for n in part}
    return {(s, d, least[s]) for s, d in graph.edges if least[s] == least[d]}


def trimming(tables: Tables) -> set[Row]:
    graph = _graph(tables)
    while dead := [n for n in graph if not (graph.in_degree(n) and graph.out_degree(n))]:
        graph.remove_nodes_from(dead)
    return set(graph.edges)


def pagerank(tables: Tables, rounds: int = 20, step: int = 1) -> set[Row]:
    edges = [row for row in tables["edges"] if None not in row]
    degrees = Counter(src for src, _ in edges)
    nodes = {node for edge in edges for node in edge}
    rank: dict[int, int] = {}
    for _ in range(rounds):
        moved = dict.fromkeys(nodes, 150000)
        for src, dst in edges:
            if src in rank:
                moved[dst] += rank[src] * 85 // (100 * step * degrees[src]) * step
        rank = moved
    return set(rank.items())


def gather_apply_scatter(tables: Tables, rounds: int = 10) -> set[Row]:
    own: dict[int, int] = dict(row for row in tables["vertices"] if None not in row)
    scattered: Counter[int] = Counter()
    heat: dict[int, int] = {}
    for _ in range(rounds):
        heat = {node: value + trunc(scattered[node] / 2) for node, value in own.items()}
        scattered = Counter()
        for src, dst in tables["edges"]:
            if src in heat and dst is not None:
                scattered[dst] += heat[src]
    return set(heat.items())


def label_propagation(tables: Tables, rounds: int = 10) -> set[Row]:
    graph = _both_ways(tables)
    label: dict[int, int] = {}
    for _ in range(rounds):
        moved = {}
        for node in graph:
            counted = Counter(label[n] for n in graph.neighbors(node) if n in label)
            moved[node] = min(counted, key=lambda c: (-counted[c], c)) if counted else node
        label = moved
    return set(label.items())


def triangles(tables: Tables) -> Iterable[Row]:
    edges = [row for row in tables["edges"] if None not in row]
    return [
        (a, b, c) for a, b in edges for b2, c in edges if b2 == b for c2, a2 in edges
        if (c2, a2) == (c, a)
    ]  # fmt: skip


def k_core(tables: Tables) -> set[Row]:
    graph = _both_ways(tables)
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    return {(node,) for node in nx.k_core(graph, 2)}


def degrees_of_degrees(tables: Tables) -> set[Row]:
    degrees = Counter(src for src, _ in tables["edges"] if src is not None)
    return set(Counter(degrees.values()).items())


def transitive_closure(tables: Tables) -> set[Row]:
    """The closure of the edges that have both ends, and what NULL ends pass on."""
    found = set(tables["edges"])
    whole = set(nx.transitive_closure(_graph(tables), reflexive=False).edges)
    found |= {(None, z) for x, y in found if x is None for y2, z in whole if _equal(y, y2)}
    found |= {(x, None) for y, z in found if z is None for x, y2 in whole if _equal(y, y2)}
    both = any(x is None and (y, None) in found for x, y in found if y is not None)
    return found | whole | ({(None, None)} if both else set())


def same_generation(tables: Tables) -> set[Row]:
    edges = set(tables["edges"])
    known = [(p, x) for p, x in edges if x is not None]
    found = {(x, y) for p, x in known for q, y in known if _equal(p, q) and x != y}
    while (
        more := {
            (x, y) for a, x in edges for b, y in edges if None not in (a, b) and (a, b) in found
        }
        - found
    ):
        found |= more
    return found


def null_assignment(tables: Tables) -> set[Row]:
    """A NULL variable is one that nothing is known of: no assignment is from it."""
    found = set(tables["nulls"])
    while more := {
        (origin, target)
        for origin, variable in found
        for source, target in tables["assigned"] if _equal(variable, source)
    } - found:  # fmt: skip
        found |= more
    return found


def points_to(tables: Tables) -> set[Row]:
    """The rules as Graspan has them, with value flow and value alias in full."""
    assigned, dereferences = set(tables["assigned"]), set(tables["dereferences"])
    ends = {node for pair in assigned | dereferences for node in pair}
    flows, shared = {(x, x) for x in ends}, set[Row]()
    while True:
        steps = {(source, target) for target, source in assigned}
        steps |= {(x, z) for x, y in steps for y2, z in shared if _equal(y2, y)}
        more = {(x, y) for x, z in flows for z2, y in steps if _equal(z, z2)}
        alias = {(x, y) for z, x in flows for z2, y in flows if _equal(z, z2)}
        alias |= {
            (x, y)
            for z, w in shared
            for z2, x in flows if _equal(z2, z)
            for w2, y in flows if _equal(w2, w)
        }  # fmt: skip
        memory = {
            (x, y)
            for z, w in alias
            for z2, x in dereferences if _equal(z2, z)
            for w2, y in dereferences if _equal(w2, w)
        }  # fmt: skip
        if more <= flows and memory <= shared:
            return shared
        flows, shared = flows | more, shared | memory


def bill_of_materials(tables: Tables) -> set[Row]:
    parts = [row for row in tables["parts"] if None not in row]

    def contained(whole: int, times: int, found: Counter[int]) -> Counter[int]:
        for above, part, quantity in parts:
            if above == whole:
                found[part] += times * quantity
                contained(part, times * quantity, found)
        return found

    wholes = {whole for whole, _, _ in parts}
    return {(w, part, n) for w in wholes for part, n in contained(w, 1, Counter()).items()}


def topological_levels(tables: Tables) -> set[Row]:
    graph, longest = _graph(tables), dict[int, int]()
    for node in nx.topological_sort(graph):
        longest[node] = max((longest[p] + 1 for p in graph.predecessors(node)), default=0)
    return set(longest.items())


def top_hashtags(tables: Tables) -> set[Row]:
    component: dict[int, int] = dict(components(tables, "mentions"))
    uses = Counter((component[a], tag) for a, tag in tables["hashtags"] if a in component and tag)
    best: dict[int, tuple[int, str]] = {}
    for (label, tag), count in uses.items():
        best[label] = min(best.get(label, (0, "")), (-count, tag))
    return {(label, tag, -count) for label, (count, tag) in best.items()}


ANSWERS: dict[str, Answer] = {
    "bfs": bfs,
    "bill_of_materials": bill_of_materials,
    "components": components,
    "components_prioritised": components,
    "degrees_of_degrees": degrees_of_degrees,
    "gather_apply_scatter": gather_apply_scatter,
    "k_core": k_core,
    "label_propagation": label_propagation,
    "look_up": look_up,
    "null_assignment": null_assignment,
    "one_hop": one_hop,
    "pagerank": pagerank,
    "pairs": pairs,
    "points_to": points_to,
    "reachability": reachability,
    "same_generation": same_generation,
    "scc": scc,
    "shortest_paths": shortest_paths,
    "top_hashtags": top_hashtags,
    "topological_levels": topological_levels,
    "transitive_closure": transitive_closure,
    "triangles": triangles,
    "trimming": trimming,
    "two_hops": two_hops,
}
