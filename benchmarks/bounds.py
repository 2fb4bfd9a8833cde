"""What the machine gives: its processor, memory bandwidth, the time of a cache miss, and threads.

The cores of a virtual machine are shared with its neighbours, now more and now less.
"""

import hashlib
import json
import os
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

IN_CACHE = bytes(1 << 18)
DIGESTS = 64  # some ten milliseconds
BEYOND_CACHES = 1 << 26  # bytes that a thread copies


@dataclass(frozen=True, slots=True)
class Together:
    """What several threads do at once, in multiples of what one does."""

    arithmetic: float
    copying: float


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine that figures are of: `read` in bytes per second, `miss` in nanoseconds.

    `together` has what the workers' threads did at once before each run.
    """

    processor: str
    cores: int
    read: float | None
    miss: float | None
    together: tuple[Together, ...]

    def __str__(self) -> str:
        known = f"{self.processor}, {self.cores} cores"
        if self.read is not None and self.miss is not None:
            known += (
                f"; sequential read {self.read / 1e9:.1f} GB/s on one core, a dependent read"
                f" that misses the caches {self.miss:.0f} ns"
            )
        if self.together:
            arithmetic = _spread([measured.arithmetic for measured in self.together])
            copying = _spread([measured.copying for measured in self.together])
            known += (
                f"; all workers' threads at once did {arithmetic} times the arithmetic of one, and"
                f" copied {copying} times as much memory (medians of what was measured before each"
                " run)"
            )
        return known


def _spread(figures: Sequence[float]) -> str:
    return f"{median(figures):.2f} ({min(figures):.2f} to {max(figures):.2f})"


def together(threads: int) -> Together:
    """What so many threads do at once, in multiples of what one does."""
    with ThreadPoolExecutor(threads) as pool:
        blocks = list(pool.map(_blocks, range(threads)))
        return Together(_times(pool, _digest, [None] * threads), _times(pool, _copy, blocks))


def _times(pool: ThreadPoolExecutor, work: Callable[[Any], None], given: Sequence[Any]) -> float:
    """How many times the work of one all do at once, each with one of what is `given`."""
    alone = median(_time(pool, work, given[:1]) for _ in range(3))
    return len(given) * alone / median(_time(pool, work, given) for _ in range(3))


def _time(pool: ThreadPoolExecutor, work: Callable[[Any], None], given: Sequence[Any]) -> float:
    began = perf_counter()
    list(pool.map(work, given))
    return perf_counter() - began


def _digest(_nothing: None) -> None:
    for _ in range(DIGESTS):
        hashlib.sha256(IN_CACHE)


def _blocks(_: int) -> NDArray[np.uint8]:
    return np.ones((2, BEYOND_CACHES), np.uint8)


def _copy(blocks: NDArray[np.uint8]) -> None:
    np.copyto(blocks[0], blocks[1])


def machine(command: Sequence[str] | None, together: Sequence[Together]) -> Machine:
    """This machine, with the bounds that `command` (the peer's program) measures."""
    read = miss = None
    if command is not None:
        done = subprocess.run([*command, "bounds"], capture_output=True, text=True, check=True)
        measured = json.loads(done.stdout)
        read, miss = measured["read bytes per second"], measured["dependent miss ns"]
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(": ")[1] for line in lines if line.startswith("model name")]
    processor = names[0] if names else "processor unknown"
    return Machine(processor, os.cpu_count() or 1, read, miss, tuple(together))
