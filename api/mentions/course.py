"""The course of the window: forward, back by half of the way, forward again, and so on."""

from collections.abc import Iterator
from itertools import accumulate, chain, cycle, islice, repeat


def course(start: int, end: int, steps: int) -> Iterator[int]:
    """The last second of the window after each of `steps` steps from `start`, never past `end`.

    >>> list(course(10, 99, 8))
    [11, 12, 13, 14, 13, 12, 13, 14]
    """
    turn = max(min(steps // 2, end - start), 1)
    half = max(turn // 2, 1)
    back_and_forth = cycle([-1] * half + [1] * half)
    moves = islice(chain(repeat(1, turn), back_and_forth), steps)
    return islice(accumulate(moves, initial=start), 1, None)
