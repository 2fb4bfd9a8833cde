"""Input files: what both sides of a comparison read.

A file is a list of sections, each of pairs of 32-bit numbers. All numbers are little-endian: a u64
with the number of sections, a u64 with the number of pairs of each, then the pairs of every section
in turn. Files are generated once for each workload and scale, from a fixed seed.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Pairs = NDArray[np.uint32]

SEED = 20_240_131


def write(path: Path, sections: Iterable[Pairs]) -> None:
    """Write `sections`, arrays of shape (n, 2); the file appears whole or not at all."""
    written = [np.ascontiguousarray(section, "<u4") for section in sections]
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    with partial.open("wb") as file:
        np.array([len(written), *map(len, written)], "<u8").tofile(file)
        for section in written:
            section.tofile(file)
    partial.replace(path)


def read(path: Path) -> list[Pairs]:
    """The sections of the file at `path`."""
    with path.open("rb") as file:
        count = int(np.fromfile(file, "<u8", 1)[0])
        lengths = np.fromfile(file, "<u8", count)
        return [np.fromfile(file, "<u4", 2 * int(n)).reshape(-1, 2) for n in lengths]


def sliding_edges(nodes: int, edges: int, rewired: int) -> list[Pairs]:
    """Random edges, and as many removed as inserted: the window of `edges` slides by `rewired`.

    The sections are the edges at first, those removed and those inserted, row by row at one time.
    """
    stream = np.random.default_rng(SEED).integers(0, nodes, (edges + rewired, 2), np.uint32)
    return [stream[:edges], stream[:rewired], stream[edges:]]
