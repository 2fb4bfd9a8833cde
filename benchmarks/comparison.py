"""Two sides over one workload, in turn: answers are compared first, and then times."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.errors import BenchmarkError
from benchmarks.inputs import write
from benchmarks.sides import Case, Run, run
from benchmarks.workload import Phase, Workload, changed

LATENCIES = 100  # rounds from which on a case shows quantiles
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
        name = f"{self.workload.name}-{self.scale}-{changed(self.phases)}.bin"
        return self.folder / name

    @property
    def phases(self) -> tuple[Phase, ...]:
        """What is measured after the load."""
        return self.workload.scales[self.scale].phases

    def generate(self) -> None:
        """Write the input unless it is there."""
        if not self.file.exists():
            write(self.file, self.workload.scales[self.scale].generate())


def measure(
    setting: Setting, commands: dict[str, list[str]], pairs: int, step: Callable[[str], None]
) -> dict[str, list[Run]]:
    """Run every side `pairs` times, A B A B; `step` hears the side before each run.

    Raises BenchmarkError naming the workload and the case when the answers differ.
    """
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    for _ in range(pairs):
        for name, command in commands.items():
            step(name)
            started = [*command, setting.workload.name]
            runs[name].append(run(started, setting.file, setting.workers, setting.phases))
    compare_answers(setting.workload.name, runs)
    return runs


def compare_answers(workload: str, runs: dict[str, list[Run]]) -> None:
    """Raise BenchmarkError unless all runs of all sides put out the same."""
    everyone = [(name, run_) for name, mine in runs.items() for run_ in mine]
    first_name, first = everyone[0]
    for name, other in everyone[1:]:
        for ours, theirs in zip(first.cases, other.cases, strict=True):
            if (ours.name, *ours.answer) != (theirs.name, *theirs.answer):
                raise BenchmarkError(
                    f"{workload}, case {ours.name!r}: the answers differ (rows, sum, differences):"
                    f" {first_name} has {ours.answer}, {name} has {theirs.answer}"
                )


def results(setting: Setting, runs: dict[str, list[Run]]) -> Iterator[Result]:
    """The medians over the runs of each side: ours, and at most one peer's."""
    ours, *others = runs.values()
    peer_name = list(runs)[1] if others else None
    for column, case in enumerate(ours[0].cases):
        for label, statistic in statistics(case):
            mine, *theirs = (
                median(statistic(run_.cases[column]) for run_ in side) for side in (ours, *others)
            )
            power = min(int(np.log10(max(mine, 1)) // 3), 3)
            yield _result(
                setting,
                f"{case.name}, {label}" if label else case.name,
                UNITS[power],
                mine / 1000**power,
                peer_name,
                theirs[0] / 1000**power if theirs else None,
                case.differences,
            )
    if ours[0].row_bytes is not None:
        mine, *theirs = (median(r.row_bytes or 0 for r in side) for side in (ours, *others))
        peer = theirs[0] if theirs else None
        yield _result(setting, "memory of a row", "bytes", mine, peer_name, peer, 0)


def _result(
    setting: Setting,
    case: str,
    unit: str,
    ours: float,
    peer_name: str | None,
    peer: float | None,
    differences: int,
) -> Result:
    ratio = None if peer is None else peer / ours
    name, scale, workers = setting.workload.name, setting.scale, setting.workers
    return Result(name, case, scale, workers, unit, ours, peer_name, peer, ratio, differences)


def statistics(case: Case) -> Sequence[tuple[str, Callable[[Case], float]]]:
    """What to show of a case: of many rounds the median, the mean and p99, else the median."""
    if len(case.nanoseconds) < LATENCIES:
        return [("", lambda c: median(c.nanoseconds))]
    return [
        ("median", lambda c: median(c.nanoseconds)),
        ("mean", lambda c: float(np.mean(c.nanoseconds))),
        ("p99", lambda c: float(np.quantile(c.nanoseconds, 0.99))),
    ]
