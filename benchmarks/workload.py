"""What a workload is: inputs to generate, phases to measure, and our program for it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Phase:
    """`rounds` rounds, each of `times` logical times with `size` changed rows.

    With a `rate` it is an open loop of so many changes each second instead of rounds.
    """

    case: str
    rounds: int
    times: int
    size: int
    rate: int = 0

    @property
    def rows(self) -> int:
        """How many rows the phase removes, and inserts."""
        return self.rounds * self.times * self.size

    def __str__(self) -> str:
        return f"{self.case}:{self.rounds}:{self.times}:{self.size}:{self.rate}"

    @classmethod
    def parse(cls, text: str) -> "Phase":
        """The phase that `str` gave as `text`."""
        case, *numbers = text.split(":")
        return cls(case, *map(int, numbers))


@dataclass(frozen=True, slots=True)
class Scale:
    """One size of a workload: what writes its input to a path, and what is measured."""

    generate: Callable[[Path], None]
    phases: tuple[Phase, ...]


@dataclass(frozen=True, slots=True)
class Workload:
    """`run` maintains the workload over an input with so many workers, and prints its cases.

    A process runs `warm_up` first, if the phases do not follow on each other, and that is not
    measured: the first pages that a process ever has cost it up to 25 times what later ones do.
    """

    name: str
    scales: dict[str, Scale]
    run: Callable[[Path, int, Sequence[Phase]], None]
    warm_up: tuple[Phase, ...] = ()


def changed(phases: Sequence[Phase]) -> int:
    """How many rows all `phases` remove, and insert."""
    return sum(phase.rows for phase in phases)
