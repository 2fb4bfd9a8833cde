"""The programs that a comparison runs: ours, and the peers'.

Every side takes `WORKLOAD FILE WORKERS PHASE…` and prints a line of JSON for each case: how long
each round took, and a digest of what was put out. One that rehearses may be given other phases and
`--` before these: it runs those first, says so on a line, and then runs these from the load on.
Ours may be given more than two such parts; a case that it runs in several has all their rounds.
"""

import filecmp
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile

from benchmarks.errors import BenchmarkError
from benchmarks.workload import Phase

HERE = Path(__file__).parent
BUILD = HERE.parent / "build"
MEMORY = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1", "MIMALLOC_PURGE_DELAY": "10000"}
"""Huge pages, as the peers' own allocator takes them. That keeps what is free for ten seconds, as
ours does."""


LOOK = 0.05  # seconds between looks at a process's memory


@dataclass(frozen=True, slots=True)
class Case:
    """What one run measured: `nanoseconds` of each round, and the output after the last.

    `rows` and `sum` digest the whole output; `differences` counts its changes in this case, which a
    side that computes it anew does not know. With `tuples` the rounds together are one load of so
    many rows, and what counts is its rate.
    """

    name: str
    nanoseconds: list[int]
    rows: int
    sum: int
    differences: int | None
    tuples: int = 0

    @property
    def answer(self) -> tuple[int, int, int | None]:
        """What both sides must have in common, as far as both know it."""
        return self.rows, self.sum, self.differences


@dataclass(slots=True)
class Run:
    """The cases of one run, and the bytes of each row at rest, where it tells them.

    `peak_bytes` is the most that its process held, with all runs of the process.
    """

    cases: list[Case] = field(default_factory=list)
    row_bytes: float | None = None
    peak_bytes: int = 0

    def add(self, case: Case) -> None:
        """Add a case, or its rounds if it was run before (raises BenchmarkError if it differs)."""
        for before in self.cases:
            if before.name == case.name:
                if before.answer != case.answer:
                    raise BenchmarkError(
                        f"case {case.name!r} gave {before.answer} first (rows, sum, differences), "
                        f"and {case.answer} when it was run again"
                    )
                before.nanoseconds.extend(case.nanoseconds)
                return
        self.cases.append(case)


@dataclass(frozen=True, slots=True)
class Side:
    """A program; `prepare` builds it and returns the command that starts it.

    It runs with so many `workers`, whatever a comparison asks for; None: with as many as that.
    `rehearses` says whether it can run other phases first, and `takes_turns` whether it can run
    several courses in turn in one process.
    """

    name: str
    workloads: frozenset[str]
    prepare: Callable[[], list[str]]
    workers: int | None = None
    rehearses: bool = False
    takes_turns: bool = False


def run(
    command: Sequence[str],
    file: Path,
    workers: Sequence[int],
    parts: Sequence[Sequence[Phase]],
) -> list[Run]:
    """Run `command`, which ends with the workload's name, on `parts` (raises BenchmarkError).

    Each is run from the load on, and the first of several is not measured. One that takes turns may
    be given several numbers of `workers`, and runs as many courses.
    """
    each = ",".join(map(str, workers))
    first, *others = parts
    phases = [*map(str, first), *(word for part in others for word in ("--", *map(str, part)))]
    arguments = [*command, str(file), each, *phases]
    environment = MEMORY | os.environ
    with TemporaryFile("w+") as out, TemporaryFile("w+") as errors:
        process = subprocess.Popen(arguments, env=environment, stdout=out, stderr=errors)
        try:
            peak = _await(process)
        except BaseException:  # an interrupt: it would go on by itself
            process.kill()
            raise
        out.seek(0)
        errors.seek(0)
        if process.returncode != 0:
            last = "\n".join(errors.read().strip().splitlines()[-5:])
            status = process.returncode
            raise BenchmarkError(f"{' '.join(command)} ended with status {status}:\n{last}")
        runs = parse(out.read(), len(workers))
    for run_ in runs:
        run_.peak_bytes = peak
    return runs


def _await(process: subprocess.Popen[bytes]) -> int:
    """Wait until a process has ended, and return the most bytes of memory that it was seen with.

    Its own account after its end (`wait4`) would count those of the process that started it.
    """
    status = Path(f"/proc/{process.pid}/status")
    peak = 0
    while process.poll() is None:
        found = re.search(r"VmHWM:\s*(\d+) kB", status.read_text())
        peak = max(peak, 1024 * int(found[1]) if found else 0)
        with suppress(subprocess.TimeoutExpired):
            process.wait(LOOK)
    return peak


def parse(output: str, courses: int = 1) -> list[Run]:
    """What a side printed of each of its courses, which a line tells when another one goes on."""
    runs = [Run() for _ in range(courses)]
    measured = runs[0]
    for line in map(json.loads, output.splitlines()):
        if "course" in line:
            measured = runs[line["course"]]
        elif "rehearsed" in line:
            for run_ in runs:
                run_.cases.clear()
        elif "case" in line:
            digest = line["rows"], line["sum"], line["differences"]
            measured.add(Case(line["case"], line["ns"], *digest, line.get("tuples", 0)))
        else:
            measured.row_bytes = line["bytes"] / line["records"]
    return runs


def build(arguments: Sequence[str], folder: Path, what: str) -> None:
    """Run a build in `folder` (raises BenchmarkError with the end of what it printed)."""
    if shutil.which(arguments[0]) is None:
        raise BenchmarkError(f"{arguments[0]} is needed to build {what}, and it is not installed")
    done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = "\n".join(done.stderr.strip().splitlines()[-15:])
        raise BenchmarkError(f"{what} does not build:\n{last}")


def _ours() -> list[str]:
    return [sys.executable, "-m", "benchmarks.run"]


def _crate(name: str) -> list[str]:
    """Build the peer's crate, and the command that starts its program."""
    folder = HERE / "peers" / name
    build(["cargo", "build", "--release", "--locked"], folder, f"the peer `{name}`")
    return [str(BUILD / "peers" / name / "release" / f"{name}-peer")]


def package(name: str, program: str = "program") -> list[str]:
    """Install the peer's packages by themselves, and the command that starts its program."""
    lock = HERE / "peers" / name / "requirements.lock"
    home = BUILD / "peers" / name
    python, installed = home / "bin" / "python", home / lock.name
    if not installed.exists() or not filecmp.cmp(lock, installed, shallow=False):
        what = f"the peer `{name}`"
        build([sys.executable, "-m", "venv", "--clear", str(home)], HERE, what)
        # The lock names all; the resolver of an older pip would look for others all the same.
        locked = ["--require-hashes", "--no-deps", "--requirement", str(lock)]
        build([str(python), "-m", "pip", "install", *locked], HERE, what)
        shutil.copy(lock, installed)
    return [str(python), "-m", f"benchmarks.peers.{name}.{program}"]


def _recomputed() -> list[str]:
    return [sys.executable, "-m", "benchmarks.peers.duckdb.program"]


PROGRAMS = frozenset({"batch_graph", "datalog", "graspan", "mentions"})
ALL = frozenset(
    {
        *("arrange", "install", "count", "bfs", "wcc", "scc", "reach", "tpch"),
        *("interactive", "interactive_unshared", "pagerank", "pagerank_rounded"),
        *PROGRAMS,
    }
)
OURS = Side("ivm", ALL, _ours, rehearses=True, takes_turns=True)
PEERS = {
    "ivm": Side("one worker", ALL, _ours, workers=1, rehearses=True, takes_turns=True),
    "differential": Side("differential", ALL, partial(_crate, "differential"), rehearses=True),
    "dbsp": Side("dbsp", frozenset({"count", "bfs", "reach"}), partial(_crate, "dbsp")),
    "pathway": Side(
        "pathway", frozenset({"count", "bfs", "wcc", "reach"}), partial(package, "pathway")
    ),
    "duckdb": Side("duckdb", PROGRAMS, _recomputed),
    "rustworkx": Side(
        "rustworkx",
        frozenset({"batch_graph", "bfs", "reach", "scc", "wcc"}),
        partial(package, "rustworkx"),
        workers=1,
    ),
}
