"""What a workload is: inputs to generate, phases to measure, and our program for it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.inputs import Pairs


@dataclass(frozen=True, slots=True)
class Phase:
    """`rounds` rounds, each of `times` logical times with `size` changed rows."""

    case: str
    rounds: int
    times: int
    size: int

    def __str__(self) -> str:
        return f"{self.case}:{self.rounds}:{self.times}:{self.size}"

    @classmethod
    def parse(cls, text: str) -> "Phase":
        """The phase that `str` gave as `text`."""
        case, rounds, times, size = text.split(":")
        return cls(case, int(rounds), int(times), int(size))


@dataclass(frozen=True, slots=True)
class Scale:
    """One size of a workload: what generates its input, and what is measured."""

    generate: Callable[[], Sequence[Pairs]]
    phases: tuple[Phase, ...]


@dataclass(frozen=True, slots=True)
class Workload:
    """`run` maintains the workload over a file with so many workers, and prints its cases."""

    name: str
    scales: dict[str, Scale]
    run: Callable[[Path, int, Sequence[Phase]], None]


def rewired(phases: Sequence[Phase]) -> int:
    """How many rows all `phases` change."""
    return sum(phase.rounds * phase.times * phase.size for phase in phases)
