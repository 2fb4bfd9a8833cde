"""Courses that run in turn in one process, a slice of time each.

What a machine can do changes by the second, and what a process can by where its memory lies.
"""

from collections.abc import Callable, Iterator, Sequence
from time import perf_counter

SLICE = 0.02  # seconds


def run_in_turn(courses: Sequence[Iterator[None]], announce: Callable[[int], None]) -> None:
    """Run all courses to their ends; `announce` hears which one goes on.

    A course yields wherever another one may go on.
    """
    left = dict(enumerate(courses))
    while left:
        for i, course in [*left.items()]:
            announce(i)
            end = perf_counter() + SLICE
            for _ in course:
                if perf_counter() >= end:
                    break
            else:
                del left[i]
