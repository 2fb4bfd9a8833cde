"""What the machine gives: its processor, memory bandwidth, the time of a cache miss, and threads.

The cores of a virtual machine are shared with its neighbours, now more and now less.
"""

import hashlib
import json
import os
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

IN_CACHE = bytes(1 << 18)
DIGESTS = 64  # some ten milliseconds


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine that figures are of: `read` in bytes per second, `miss` in nanoseconds.

    `together` has, as of before each run, how much arithmetic the workers' threads do at once, in
    multiples of what one does.
    """

    processor: str
    cores: int
    read: float | None
    miss: float | None
    together: tuple[float, ...]

    def __str__(self) -> str:
        known = f"{self.processor}, {self.cores} cores"
        if self.read is not None and self.miss is not None:
            known += (
                f"; sequential read {self.read / 1e9:.1f} GB/s on one core, a dependent read"
                f" that misses the caches {self.miss:.0f} ns"
            )
        if self.together:
            known += (
                f"; all workers' threads at once did {median(self.together):.2f} times the"
                f" arithmetic of one (the median of what was measured before each run: from"
                f" {min(self.together):.2f} to {max(self.together):.2f})"
            )
        return known


def together(threads: int) -> float:
    """How many times the arithmetic of one thread so many do at once."""
    with ThreadPoolExecutor(threads) as pool:
        alone = median(_time(pool, 1) for _ in range(3))
        return threads * alone / median(_time(pool, threads) for _ in range(3))


def _time(pool: ThreadPoolExecutor, threads: int) -> float:
    began = perf_counter()
    list(pool.map(_digest, range(threads)))
    return perf_counter() - began


def _digest(_: int) -> None:
    for _ in range(DIGESTS):
        hashlib.sha256(IN_CACHE)


def machine(command: Sequence[str] | None, together: Sequence[float]) -> Machine:
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
