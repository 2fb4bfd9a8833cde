"""Recursive views in every syntax, and what they must hold, by networkx and plain Python.

Graphs are small, with cycles where a problem allows them. Costs lie between 1 and 3, so that no
shortest path between six nodes costs more than `FARTHEST`.
"""

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from itertools import product
from typing import Any

import networkx as nx
import pyarrow as pa

from views.builder import Database, F, Table
from views.catalog import Catalog, Language
from views.catalog import Table as Source

Row = tuple[Any, ...]
Tables = Mapping[str, Set[Any]]
FARTHEST = 15


def _table(name: str, *columns: str) -> Source:
    fields = [pa.field(column, pa.int64(), False) for column in columns]
    return Source(name, pa.schema(fields), columns)


CATALOG = Catalog([
    _table("edges", "src", "dst"),
    _table("roads", "src", "dst", "cost"),
    _table("parts", "whole", "part", "quantity"),
    _table("news", "var", "object"),
    _table("copies", "target", "source"),
    _table("loads", "target", "base", "field"),
    _table("stores", "base", "field", "source"),
])  # fmt: skip
DATABASE = Database(CATALOG)


@dataclass(frozen=True)
class Program:
    """One view: its text, and the rows that it must have."""

    name: str
    language: Language
    text: str
    expected: Callable[[Tables], set[Row]]


def closure(tables: Tables) -> set[Row]:
    """The pairs joined by a path."""
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_edges_from(tables["edges"])
    return set(nx.transitive_closure(graph, reflexive=False).edges)


def same_generation(tables: Tables) -> set[Row]:
    """The pairs as far below a common node, by as many steps."""
    edges = tables["edges"]
    found = {(x, y) for (p, x), (q, y) in product(edges, edges) if p == q}
    while True:
        more = {(x, y) for (p, x), (q, y) in product(edges, edges) if (p, q) in found}
        if more <= found:
            return found
        found |= more


def distances(tables: Tables) -> set[Row]:
    """From node 1, which is 0 away, how far each node is."""
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_node(1)
    graph.add_weighted_edges_from(tables["roads"])
    found = nx.single_source_dijkstra_path_length(graph, 1)
    return {(node, int(cost)) for node, cost in found.items()}


def labels(tables: Tables) -> set[Row]:
    """Each node with the least node of its component."""
    graph: nx.Graph[int] = nx.Graph()
    graph.add_edges_from(tables["edges"])
    components = nx.connected_components(graph)
    return {(node, min(component)) for component in components for node in component}


def needs(tables: Tables) -> set[Row]:
    """How many of each part a whole needs, over all ways in which it needs them."""
    total: dict[Row, int] = {}

    def visit(top: int, whole: int, factor: int) -> None:
        for above, part, quantity in tables["parts"]:
            if above == whole:
                total[top, part] = total.get((top, part), 0) + factor * quantity
                visit(top, part, factor * quantity)

    for top in {whole for whole, _, _ in tables["parts"]}:
        visit(top, top, 1)
    return {(*pair, n) for pair, n in total.items()}


def kinds(tables: Tables) -> set[Row]:
    """How many different parts a whole needs."""
    pairs = {(whole, part) for whole, part, _ in needs(tables)}
    return {(whole, sum(w == whole for w, _ in pairs)) for whole, _ in pairs}


def points_to(tables: Tables) -> set[Row]:
    """Which objects a variable may hold (Andersen's analysis, with fields)."""
    holds, heap = set(tables["news"]), set[Row]()
    while True:
        more = {(t, o) for t, s in tables["copies"] for v, o in holds if v == s}
        more |= {
            (t, o)
            for t, b, f in tables["loads"]
            for v, base in holds
            for inside, field, o in heap
            if v == b and inside == base and field == f
        }
        stored = {
            (base, f, o)
            for b, f, s in tables["stores"]
            for v, base in holds
            for w, o in holds
            if v == b and w == s
        }
        if more <= holds and stored <= heap:
            return holds
        holds, heap = holds | more, heap | stored


def _closure(table: Table) -> Table:
    def step(found: Table) -> Table:
        return found.join(table.select(dst="src", far="dst"), on="dst").select("src", dst="far")

    return table.iterate(step)


def _same_generation() -> Table:
    edges = DATABASE["edges"]
    left, right = edges.select(p="src", x="dst"), edges.select(q="src", y="dst")

    def step(found: Table) -> Table:
        above = found.select(p="x", q="y")
        return above.join(left, on="p").join(right, on="q").select("x", "y")

    return left.join(right, on=left.p == right.q).select("x", "y").iterate(step)


def _distances() -> Table:
    roads = DATABASE["roads"].select(node="src", far="dst", cost="cost")

    def step(found: Table) -> Table:
        reached = found.join(roads, on="node")
        further = reached.select(node="far", away=reached.away + reached.cost)
        return further.filter(further.away <= FARTHEST)

    start = DATABASE.values([(1, 0)], node="bigint", away="bigint")
    return start.iterate(step).group_by("node").agg(away=F.min(F.col("away")))


def _labels() -> Table:
    edges = DATABASE["edges"]
    both = edges.union(edges.select(dst="src", src="dst"), distinct=True)
    met = _closure(both)
    return met.group_by("src").agg(least=F.min(F.col("dst")))


def _kinds() -> Table:
    pairs = _closure(DATABASE["parts"].select(src="whole", dst="part").distinct())
    return pairs.group_by("src").agg(n=F.count())


PROGRAMS = [
    Program("closure", "sql", """
        with recursive path(x, y) as (select src, dst from edges union
            select path.x, edges.dst from path join edges on edges.src = path.y)
        select * from path""", closure),
    Program("closure", "datalog", """
        path(x, y) :- edges(x, y). path(x, z) :- path(x, y), path(y, z).
        .output path""", closure),
    Program("what 1 reaches", "datalog", """
        path(x, y) :- edges(x, y). path(x, z) :- edges(x, y), path(y, z).
        ?- path(1, x).""", lambda tables: {(y,) for x, y in closure(tables) if x == 1}),
    Program("closure by a builder", "sql", _closure(DATABASE["edges"]).sql(), closure),
    Program("same generation", "sql", """
        with recursive sg(x, y) as (
            select a.dst, b.dst from edges a join edges b on a.src = b.src union
            select a.dst, b.dst from sg join edges a on a.src = sg.x join edges b on b.src = sg.y)
        select * from sg""", same_generation),
    Program("same generation", "datalog", """
        sg(x, y) :- edges(p, x), edges(p, y).
        sg(x, y) :- edges(p, x), sg(p, q), edges(q, y).
        .output sg""", same_generation),
    Program("the generation of 2", "datalog", """
        sg(x, y) :- edges(p, x), edges(p, y).
        sg(x, y) :- edges(p, x), sg(p, q), edges(q, y).
        ?- sg(x, 2).""", lambda tables: {(x,) for x, y in same_generation(tables) if y == 2}),
    Program("same generation by a builder", "sql", _same_generation().sql(), same_generation),
    Program("distances", "sql", f"""
        with recursive d(node, away) as (select 1::bigint, 0::bigint union
            select roads.dst, d.away + roads.cost from d join roads on roads.src = d.node
            where d.away + roads.cost <= {FARTHEST})
        select node, min(away) as away from d group by node""", distances),
    Program("distances", "datalog", f"""
        .decl d(node: bigint, away: bigint)
        d(1, 0).
        d(y, n) :- d(x, m), roads(x, y, c), n = m + c, n <= {FARTHEST}.
        near(x, n) :- d(x, _), n = min m : {{ d(x, m) }}.
        .output near""", distances),
    Program("distances by a builder", "sql", _distances().sql(), distances),
    Program("labels", "sql", """
        with recursive met(x, y) as (
            (select src, dst from edges union select dst, src from edges) union
            select met.x, case when e.src = met.y then e.dst else e.src end
            from met join edges e on e.src = met.y or e.dst = met.y)
        select x, min(y) as least from met group by x""", labels),
    Program("labels", "datalog", """
        linked(x, y) :- edges(x, y).    linked(x, y) :- edges(y, x).
        met(x, y) :- linked(x, y).      met(x, z) :- met(x, y), linked(y, z).
        label(x, n) :- linked(x, _), n = min y : { met(x, y) }.
        .output label""", labels),
    Program("labels by a builder", "sql", _labels().sql(), labels),
    Program("needs", "sql", """
        with recursive n(whole, part, quantity) as (select * from parts union all
            select n.whole, p.part, n.quantity * p.quantity
            from n join parts p on p.whole = n.part)
        select whole, part, sum(quantity)::bigint as n from n group by whole, part""", needs),
    Program("kinds", "datalog", """
        in(w, p) :- parts(w, p, _).     in(w, q) :- in(w, p), parts(p, q, _).
        ?- parts(whole: w), n = count : { in(w, _) }.""", kinds),
    Program("kinds by a builder", "sql", _kinds().sql(), kinds),
    Program("least distances within the recursion", "sql", """
        with mutually recursive d(node bigint, away bigint) as (
            select node, min(away) from (select 1::bigint as node, 0::bigint as away union all
                select roads.dst, d.away + roads.cost from d join roads on roads.src = d.node) r
            group by node)
        select * from d""", distances),
    Program("points to", "sql", """
        with mutually recursive
            holds(v bigint, o bigint) as (
                select var, object from news
                union select c.target, h.o from copies c join holds h on h.v = c.source
                union select l.target, p.o from loads l join holds h on h.v = l.base
                    join heap p on p.base = h.o and p.field = l.field),
            heap(base bigint, field bigint, o bigint) as (
                select distinct b.o, s.field, v.o from stores s
                    join holds b on b.v = s.base join holds v on v.v = s.source)
        select * from holds""", points_to),
    Program("points to", "datalog", """
        holds(v, o) :- news(v, o).
        holds(t, o) :- copies(t, s), holds(s, o).
        holds(t, o) :- loads(t, b, f), holds(b, base), heap(base, f, o).
        heap(base, f, o) :- stores(b, f, s), holds(b, base), holds(s, o).
        .output holds""", points_to),
]  # fmt: skip
