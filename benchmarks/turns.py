"""Two programs that measure in turn, a slice of time each: a machine changes by the second.

A byte goes to and fro through two pipes. Who has it runs, and the other one waits for it; once one
has ended, the other one runs on.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter

VARIABLE = "BENCHMARK_TURNS"
SLICE = 0.02  # seconds

Ends = tuple[int, int]
"""Of pipes: where a program gets the byte, and where it puts it."""


class Turns:
    """This program's turns. `environment` tells its ends of the pipes; without, it never waits."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        taken, _, given = environment.get(VARIABLE, "").partition(",")
        self._ends = (int(taken), int(given)) if given else None
        self._began = 0.0

    def begin(self) -> None:
        """Wait for the first turn."""
        if self._ends and not os.read(self._ends[0], 1):
            self._ends = None
        self._began = perf_counter()

    def go_on(self) -> None:
        """Let the other program run first, if this one has run for a slice."""
        if self._ends is None or perf_counter() - self._began < SLICE:
            return
        try:
            os.write(self._ends[1], b"1")
        except BrokenPipeError:
            self._ends = None
        self.begin()


TURNS = Turns(os.environ)


@contextmanager
def two_ends() -> Iterator[tuple[Ends, Ends]]:
    """What two programs are to be started with, the first of which has the first turn."""
    (first, to_first), (second, to_second) = os.pipe(), os.pipe()
    try:
        os.write(to_first, b"1")
        yield (first, to_second), (second, to_first)
    finally:
        for end in (first, to_first, second, to_second):
            os.close(end)


def told(ends: Ends) -> dict[str, str]:
    """The environment that tells a program its ends."""
    return {VARIABLE: ",".join(map(str, ends))}
