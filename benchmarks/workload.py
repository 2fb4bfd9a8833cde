"""What a workload is: inputs to generate, phases to measure, and our program for it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
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


def each_once(phases: Sequence[Phase]) -> Sequence[Phase]:
    """One round of every phase."""
    return [replace(phase, rounds=min(phase.rounds, 1)) for phase in phases]


@dataclass(frozen=True, slots=True)
class Workload:
    """`run` maintains the workload over an input with so many workers, and prints its cases.

    It yields wherever another course may go on. A process runs the phases that `rehearsal` makes of
    its own first, from the load on, and what it prints of them does not count: pages that a process
    never had cost it many times what others do.
    """

    name: str
    scales: dict[str, Scale]
    run: Callable[[Path, int, Sequence[Phase]], Iterator[None]]
    rehearsal: Callable[[Sequence[Phase]], Sequence[Phase]] = each_once


def changed(phases: Sequence[Phase]) -> int:
    """How many rows all `phases` remove, and insert."""
    return sum(phase.rows for phase in phases)
