"""What the machine gives: its processor, memory bandwidth, the time of a cache miss, and its cores.

The cores of a virtual machine are shared with its neighbours, now more and now less.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.sides import MEMORY


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine that figures are of: `read` in bytes per second, `miss` in nanoseconds.

    `at_once` has what as many processes as there are workers did before each pair of runs.
    """

    processor: str
    cores: int
    read: float | None
    miss: float | None
    at_once: tuple[float, ...]

    def __str__(self) -> str:
        known = f"{self.processor}, {self.cores} cores"
        if self.read is not None and self.miss is not None:
            known += (
                f"; sequential read {self.read / 1e9:.1f} GB/s on one core, a dependent read"
                f" that misses the caches {self.miss:.0f} ns"
            )
        if self.at_once:
            least, most = min(self.at_once), max(self.at_once)
            known += (
                "; as many processes as there are workers, with a pool of one worker each, loaded"
                f" {median(self.at_once):.2f} ({least:.2f} to {most:.2f}) times the rows of one in"
                " its time (the median of what was measured before each pair of runs)"
            )
        return known


def at_once(processes: int) -> float:
    """What so many processes with a pool each do at once, in multiples of what one does."""
    command = [sys.executable, "-m", "benchmarks.at_once", str(processes)]
    environment = MEMORY | os.environ
    return float(
        subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout
    )


def machine(command: Sequence[str] | None, at_once: Sequence[float]) -> Machine:
    """This machine, with the bounds that `command` (the peer's program) measures."""
    read = miss = None
    if command is not None:
        done = subprocess.run([*command, "bounds"], capture_output=True, text=True, check=True)
        measured = json.loads(done.stdout)
        read, miss = measured["read bytes per second"], measured["dependent miss ns"]
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(": ")[1] for line in lines if line.startswith("model name")]
    processor = names[0] if names else "processor unknown"
    return Machine(processor, os.cpu_count() or 1, read, miss, tuple(at_once))
