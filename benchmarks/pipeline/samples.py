"""Processor time of processes by what spends it: counted by the kernel, divided by samples of perf.

perf sees compiled code and what the JVM compiled alike. Each sample is counted by the file that its
code is of. A virtual machine loses many, so that only their proportions are taken.
"""

import os
import re
import signal
import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.errors import BenchmarkError

HERTZ = 499
KERNEL, PYTHON, OURS, ARROW, KAFKA, JVM, OTHER = (
    *("the kernel", "Python", "extensions", "Arrow", "librdkafka", "the JVM", "other libraries"),
)
PARTS = (JVM, PYTHON, OURS, ARROW, KAFKA, OTHER, KERNEL)

_TICKS = os.sysconf("SC_CLK_TCK")
_LINE = re.compile(r"^\s*(?P<pid>\d+)\s+[0-9a-f]+\s+\((?P<file>.*)\)$")
_KERNELS = re.compile(r"\[(kernel|guest|hypervisor)")
_FILES = (
    (PYTHON, re.compile(r"libpython|python3?")),
    (ARROW, re.compile(r"libarrow|libparquet|lib\.cpython|_compute|_flight")),
    (KAFKA, re.compile(r"librdkafka|cimpl")),
)


@dataclass(frozen=True, slots=True)
class Spent:
    """Processor seconds of a process, and of its children that have ended."""

    user: float
    kernel: float


_NOTHING = Spent(0.0, 0.0)


def spent(pid: int) -> Spent:
    """Ask the kernel; all of it is 0 once the process has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return _NOTHING
    user, kernel, user_of_children, kernel_of_children = map(int, fields[11:15])
    return Spent((user + user_of_children) / _TICKS, (kernel + kernel_of_children) / _TICKS)


@dataclass(slots=True)
class Sampled:
    """Processor seconds by kind of process and part, whole once the context has ended."""

    seconds: dict[str, dict[str, float]]


@contextmanager
def sampled(
    pids: Callable[[], Mapping[str, Sequence[int]]], extensions: frozenset[str], data: Path
) -> Iterator[Sampled]:
    """Sample the processes that there are, by kind, and those that they fork meanwhile.

    `extensions` are the names of our files.
    """
    first = pids()
    every = [pid for each in first.values() for pid in each]
    command = ["perf", "record", "--quiet", "--event", "cpu-clock", "--freq", str(HERTZ)]
    which = ",".join(map(str, every))
    try:
        process = subprocess.Popen(
            [*command, "--pid", which, "--output", data], stderr=subprocess.PIPE, text=True
        )
    except FileNotFoundError as error:
        raise BenchmarkError("perf is needed: apt install linux-perf") from error
    while process.poll() is None and not (data.exists() and data.stat().st_size):
        time.sleep(0.05)
    if process.poll() is not None:
        assert process.stderr is not None
        raise BenchmarkError(f"perf ended before anything was sampled: {process.stderr.read()}")
    before = {pid: spent(pid) for pid in every}
    found = Sampled({})
    yield found
    last = pids()
    after = {pid: spent(pid) for pid in [*every, *(pid for each in last.values() for pid in each)]}
    process.send_signal(signal.SIGINT)
    process.wait()
    counts = _counts(data)
    for kind in {**first, **last}:
        # One that has ended counts with the one that forked it, which is among them.
        each = {*first.get(kind, ()), *last.get(kind, ())}
        user = sum(after[pid].user - before.get(pid, _NOTHING).user for pid in each)
        kernel = sum(after[pid].kernel - before.get(pid, _NOTHING).kernel for pid in each)
        shares: dict[str, int] = defaultdict(int)
        for pid in each:
            for file, count in counts[pid].items():
                if not _KERNELS.match(file):
                    shares[_part(file, extensions, kind == "jvm")] += count
        if not shares:  # less than was sampled
            shares[OTHER] = 1
        whole = sum(shares.values())
        found.seconds[kind] = {part: user * count / whole for part, count in shares.items()}
        found.seconds[kind][KERNEL] = kernel


def _counts(data: Path) -> dict[int, Counter[str]]:
    """The number of samples that each process has in each file."""
    command = ["perf", "script", "--input", str(data), "-F", "pid,ip,dso"]
    script = subprocess.run(command, capture_output=True, text=True, check=False)
    found: dict[int, Counter[str]] = defaultdict(Counter)
    for line in script.stdout.splitlines():
        if match := _LINE.match(line):
            found[int(match["pid"])][Path(match["file"]).name] += 1
    return found


def _part(file: str, extensions: frozenset[str], is_java: bool) -> str:
    if is_java:
        return JVM
    known = next((part for part, pattern in _FILES if pattern.match(file)), None)
    return known or (OURS if file in extensions else OTHER)


def extensions_of(root: Path) -> frozenset[str]:
    """The names of the files of our extensions."""
    return frozenset(
        path.name for name in ("ivm", "connectors") for path in (root / name).rglob("*.so")
    )
