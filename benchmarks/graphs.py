"""Graphs of several shapes, generated from a fixed seed: their edges as pairs, none twice.

Edges are in a random order, so that neither side gains from one that it happens to like.
"""

import numpy as np

from benchmarks.inputs import SEED, Pairs

QUADRANTS = (0.57, 0.19, 0.19, 0.05)
"""The shares of R-MAT's quadrants, as Graph500 has them."""


def rmat(scale: int, edges: int) -> Pairs:
    """A graph with 2**scale nodes whose degrees are skewed, as those of a social network are.

    Each bit of an edge's ends chooses a quadrant of the adjacency matrix. Edges that come up twice
    are there once.
    """
    generator = np.random.default_rng(SEED)
    ends = np.zeros((edges, 2), np.uint32)
    bounds = np.cumsum(QUADRANTS[:-1])
    for _ in range(scale):
        quadrant = np.searchsorted(bounds, generator.random(edges), "right").astype(np.uint32)
        ends = 2 * ends + np.stack([quadrant // 2, quadrant % 2], axis=1)
    return _in_any_order(ends)


def uniform(nodes: int, edges: int) -> Pairs:
    """A random graph, each edge as likely as any other."""
    generator = np.random.default_rng(SEED)
    return _in_any_order(generator.integers(0, nodes, (edges, 2), np.uint32))


def grid(side: int) -> Pairs:
    """A square of `side` by `side` nodes with edges to the right and downwards."""
    nodes = np.arange(side * side, dtype=np.uint32).reshape(side, side)
    right = np.stack([nodes[:, :-1], nodes[:, 1:]], axis=2).reshape(-1, 2)
    down = np.stack([nodes[:-1], nodes[1:]], axis=2).reshape(-1, 2)
    return _in_any_order(np.concatenate([right, down]))


def tree(depth: int, least: int, most: int) -> Pairs:
    """A tree whose nodes above `depth` have `least` to `most` children; node 0 is the root."""
    generator = np.random.default_rng(SEED)
    level, count = np.zeros(1, np.uint32), 1
    levels = []
    for _ in range(depth):
        parents = np.repeat(level, generator.integers(least, most + 1, len(level)))
        level = np.arange(count, count + len(parents), dtype=np.uint32)
        count += len(parents)
        levels.append(np.stack([parents, level], axis=1))
    return _in_any_order(np.concatenate(levels))


def _in_any_order(edges: Pairs) -> Pairs:
    words = np.unique(edges[:, 0].astype(np.uint64) << np.uint64(32) | edges[:, 1])
    np.random.default_rng(SEED).shuffle(words)
    ends = words >> np.uint64(32), words & np.uint64(2**32 - 1)
    return np.stack(ends, axis=1).astype(np.uint32)
