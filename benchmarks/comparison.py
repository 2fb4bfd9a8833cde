"""Two sides over one workload, in turn: answers are compared first, and then times."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.errors import BenchmarkError
from benchmarks.sides import Case, Run, Side, run
from benchmarks.workload import Phase, Workload, changed

LATENCIES = 100  # rounds from which on a case shows quantiles
LOADS = 4  # of a course that runs beside another one
UNITS = ("ns", "µs", "ms", "s")


@dataclass(frozen=True, slots=True)
class Result:
    """One figure of both sides. `ratio` above 1 means that ours is better; None: no peer.

    Times are in `unit`; `differences` counts the output's changes in the case.
    """

    workload: str
    case: str
    scale: str
    workers: int
    unit: str
    ours: float
    peer_name: str | None
    peer: float | None
    ratio: float | None
    differences: int


@dataclass(frozen=True, slots=True)
class Setting:
    """A workload at a scale, over an input file in `folder`."""

    workload: Workload
    scale: str
    workers: int
    folder: Path

    @property
    def file(self) -> Path:
        """The input; phases that change more or fewer rows have another."""
        name = f"{self.workload.name}-{self.scale}-{changed(self.phases)}"
        return self.folder / name

    @property
    def phases(self) -> tuple[Phase, ...]:
        """What is measured after the load."""
        return self.workload.scales[self.scale].phases

    def generate(self) -> None:
        """Write the input unless it is there."""
        if not self.file.exists():
            self.workload.scales[self.scale].generate(self.file)


def measure(
    setting: Setting, commands: dict[Side, list[str]], pairs: int, step: Callable[[str], None]
) -> dict[str, list[Run]]:
    """Run every side `pairs` times, A B A B; `step` hears the side's name before each run.

    Two that take turns run in one process, slice by slice, and the other one begins each time: the
    first load takes longer. They load LOADS times: two threads are slowed down by a virtual
    machine's neighbours more often than one. Raises BenchmarkError naming the workload and the case
    when the answers differ.
    """
    runs: dict[str, list[Run]] = {side.name: [] for side in commands}
    sides = list(commands)
    together = len(sides) > 1 and all(side.takes_turns for side in sides)
    for pair in range(pairs):
        both = sides if pair % 2 == 0 else sides[::-1]
        for group in [both] if together else [[side] for side in sides]:
            for side in group:
                step(side.name)
            for side, run_ in zip(group, _run(setting, group, commands[group[0]]), strict=True):
                runs[side.name].append(run_)
    compare_answers(setting.workload.name, runs)
    return runs


def _run(setting: Setting, sides: Sequence[Side], command: Sequence[str]) -> list[Run]:
    """Run sides that have this command in common."""
    workers, phases = [side.workers or setting.workers for side in sides], setting.phases
    parts: list[Sequence[Phase]] = [phases]
    if len(sides) > 1:
        parts = [()] * (LOADS - 1) + parts
    if sides[0].rehearses:
        parts.insert(0, setting.workload.rehearsal(phases))
    return run([*command, setting.workload.name], setting.file, workers, parts)


def compare_answers(workload: str, runs: dict[str, list[Run]]) -> None:
    """Raise BenchmarkError unless all runs put out the same; a peer may lack some cases."""
    everyone = [(name, run_) for name, mine in runs.items() for run_ in mine]
    first_name, first = everyone[0]
    expected = {case.name: case.answer for case in first.cases}
    for name, other in everyone[1:]:
        if not other.cases:
            raise BenchmarkError(f"{workload}: {name} has no case")
        for theirs in other.cases:
            ours = expected.get(theirs.name)
            known = 2 if theirs.differences is None else 3
            if ours is None or ours[:known] != theirs.answer[:known]:
                raise BenchmarkError(
                    f"{workload}, case {theirs.name!r}: the answers differ (rows, sum, "
                    f"differences): {first_name} has {ours}, {name} has {theirs.answer}"
                )


def results(setting: Setting, runs: dict[str, list[Run]]) -> Iterator[Result]:
    """The medians over the runs of each side: ours, and at most one peer's."""
    ours, *others = runs.values()
    peer_name = list(runs)[1] if others else None
    for case in ours[0].cases:
        for label, statistic in statistics(case):
            mine = _over(ours, case, statistic)
            peer = _over(others[0], case, statistic) if others else None
            unit, convert = _unit(case, mine or 0)
            name = f"{case.name}, {label}" if label else case.name
            yield _result(setting, name, unit, convert, mine or 0, peer_name, peer, case)
    if ours[0].row_bytes is not None:
        mine, *theirs = (median(r.row_bytes or 0 for r in side) for side in (ours, *others))
        peer = theirs[0] if theirs else None
        yield _result(setting, "memory of a row", "bytes", float, mine, peer_name, peer, None)


def _over(runs: Sequence[Run], case: Case, statistic: Callable[[Case], float]) -> float | None:
    """The median over the runs, in which a peer may lack the case."""
    found = [c for run_ in runs for c in run_.cases if c.name == case.name]
    return median(map(statistic, found)) if found else None


def _unit(case: Case, nanoseconds: float) -> tuple[str, Callable[[float], float]]:
    """The unit to show times like `nanoseconds` in, and what turns nanoseconds into it."""
    if case.tuples:
        return "rows/s", lambda ns: case.tuples * 1e9 / ns
    power = min(int(np.log10(max(nanoseconds, 1)) // 3), 3)
    return UNITS[power], lambda ns: ns / 1000**power


def _result(
    setting: Setting,
    name: str,
    unit: str,
    convert: Callable[[float], float],
    ours: float,
    peer_name: str | None,
    peer: float | None,
    case: Case | None,
) -> Result:
    return Result(
        setting.workload.name,
        name,
        setting.scale,
        setting.workers,
        unit,
        convert(ours),
        peer_name,
        None if peer is None else convert(peer),
        None if peer is None else peer / ours,
        (case.differences or 0) if case else 0,
    )


def statistics(case: Case) -> Sequence[tuple[str, Callable[[Case], float]]]:
    """What to show: of many rounds median, mean and p99, of a load all, else the median."""
    if case.tuples:
        return [("", lambda c: sum(c.nanoseconds))]
    if len(case.nanoseconds) < LATENCIES:
        return [("", lambda c: median(c.nanoseconds))]
    return [
        ("median", lambda c: median(c.nanoseconds)),
        ("mean", lambda c: float(np.mean(c.nanoseconds))),
        ("p99", lambda c: float(np.quantile(c.nanoseconds, 0.99))),
    ]
