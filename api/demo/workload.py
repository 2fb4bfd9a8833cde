"""All changes of a demo, made beforehand from a fixed seed, in the order of their phases."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from api.demo.changes import Change, Recorder
from api.demo.graph import Graph
from api.demo.shop import Shop

SEED = 20_261_120
# Changes of the graph come in runs of this length, between five times as many of the shop.
RUN = 40


@dataclass(frozen=True, slots=True)
class Workload:
    """`stock` is there first; `bulk` is measured, `killed` interrupted, `paced` comes at a rate."""

    stock: list[Change]
    bulk: list[Change]
    killed: list[Change]
    paced: list[Change]


def make_workload(changes: int, paced: int) -> Workload:
    """`changes` changes in the first three phases, and `paced` more."""
    recorder = Recorder()
    shop = Shop(np.random.default_rng(SEED), recorder)
    graph = Graph(np.random.default_rng(SEED + 1), recorder, accounts=max(changes // 25, 50))
    customers, products = max(changes // 20, 10), max(changes // 200, 10)
    stock = list(shop.stock(customers, products))
    rest = changes - len(stock)
    mixed = _mixed(shop, graph)
    bulk = [next(mixed) for _ in range(rest * 2 // 3)]
    killed = [next(mixed) for _ in range(rest - len(bulk))]
    return Workload(stock, bulk, killed, [next(mixed) for _ in range(paced)])


def _mixed(shop: Shop, graph: Graph) -> Iterator[Change]:
    while True:
        yield from shop.changes(5 * RUN)
        yield from graph.changes(RUN)
