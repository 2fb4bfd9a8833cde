"""Bounds of a recursion: what it may take in a step before it comes to a fixed point."""

from math import inf
from typing import NamedTuple

MOST = 1 << 62
"""Rounds, updates or bytes; no recursion has as many."""


class Bounds(NamedTuple):
    """Bounds on each recursion of a step: where it exceeds one, its dataflow is dropped.

    `updates` are those given to its operators, with those of loops within it. `bytes` are those
    that it holds, with the strings that the step has added. Once the process has `process_bytes`
    in memory, a recursion that has grown in the step ends as well.
    """

    rounds: int = 10_000
    updates: int = 2_000_000_000
    bytes: int = MOST
    process_bytes: int = MOST
    seconds: float = inf
