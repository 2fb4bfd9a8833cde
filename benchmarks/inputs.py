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
    partial = path.with_name(f"{path.name}.partial")
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


def sliding(first: int, second: int, rows: int, changed: int) -> list[Pairs]:
    """Random rows, and as many removed as inserted: a window of `rows` slides by `changed`.

    The columns are below `first` and `second`. The sections are the rows at first, those removed
    and those inserted, row by row at one time.
    """
    stream = _random(first, second, rows + changed)
    return [stream[:rows], stream[:changed], stream[rows:]]


def rows_and_keys(rows: int, keys: int) -> list[Pairs]:
    """Random rows whose keys are below `rows`, and keys to look up (the second column is 0)."""
    return [_random(rows, 2**32, rows), _random(rows, 1, keys)]


def interactive(nodes: int, edges: int, questions: int) -> list[Pairs]:
    """Nodes with states, the sections of `sliding` for edges, and pairs of nodes to ask of."""
    states = np.stack([np.arange(nodes), _random(nodes, 2**32, nodes)[:, 1]], axis=1)
    return [states, *sliding(nodes, nodes, edges, questions), _random(nodes, nodes, questions)]


def interleaved(removed: Pairs, inserted: Pairs) -> tuple[Pairs, NDArray[np.int64]]:
    """Rows removed and inserted in turn, and their diffs."""
    rows = np.stack([removed, inserted], axis=1).reshape(-1, 2)
    return rows, np.tile(np.array([-1, 1], np.int64), len(removed))


def _random(first: int, second: int, rows: int) -> Pairs:
    generator = np.random.default_rng(SEED)
    columns = [generator.integers(0, limit, rows, np.uint32) for limit in (first, second)]
    return np.stack(columns, axis=1)
