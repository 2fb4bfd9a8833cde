"""What the machine gives: its processor, memory bandwidth and the time of a cache miss."""

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine that figures are of: `read` in bytes per second, `miss` in nanoseconds."""

    processor: str
    cores: int
    read: float | None
    miss: float | None

    def __str__(self) -> str:
        known = f"{self.processor}, {self.cores} cores"
        if self.read is None or self.miss is None:
            return known
        return (
            f"{known}; sequential read {self.read / 1e9:.1f} GB/s on one core, a dependent read"
            f" that misses the caches {self.miss:.0f} ns"
        )


def machine(command: Sequence[str] | None) -> Machine:
    """This machine, with the bounds that `command` (the peer's program) measures."""
    read = miss = None
    if command is not None:
        done = subprocess.run([*command, "bounds"], capture_output=True, text=True, check=True)
        measured = json.loads(done.stdout)
        read, miss = measured["read bytes per second"], measured["dependent miss ns"]
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(": ")[1] for line in lines if line.startswith("model name")]
    return Machine(names[0] if names else "processor unknown", os.cpu_count() or 1, read, miss)
