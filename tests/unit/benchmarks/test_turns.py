"""Two programs in turn: one runs at a time, and whoever is left runs on."""

import json
import os
import subprocess
import sys
from itertools import groupby, pairwise
from operator import itemgetter

import pytest

from benchmarks.turns import Turns, told, two_ends

PATIENCE = 20
PROGRAM = """
import json, sys, time
from benchmarks.turns import TURNS
name, rounds, status = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
TURNS.begin()
took = []
for _ in range(rounds):
    TURNS.go_on()
    began = time.monotonic_ns()
    while time.monotonic_ns() < began + 5_000_000:
        pass
    took.append((began, time.monotonic_ns(), name))
print(json.dumps(took))
sys.exit(status)
"""

Round = tuple[int, int, str]


def rounds_of(first: tuple[int, int], second: tuple[int, int]) -> list[Round]:
    """When two programs of so many rounds, which end with a status, had each of them."""
    with two_ends() as both:
        running = [
            subprocess.Popen(
                [sys.executable, "-c", PROGRAM, name, *map(str, program)],
                env=os.environ | told(ends),
                pass_fds=ends,
                stdout=subprocess.PIPE,
            )
            for name, program, ends in zip("AB", (first, second), both, strict=True)
        ]
    outputs = [process.communicate(timeout=PATIENCE)[0] for process in running]
    return sorted(tuple(one) for output in outputs for one in json.loads(output))


def test_one_program_runs_at_a_time_and_the_first_begins() -> None:
    rounds = rounds_of((30, 0), (30, 0))
    assert all(end <= begin for (_, end, _), (begin, _, _) in pairwise(rounds))
    assert rounds[0][2] == "A"


def test_each_runs_for_slices_of_several_rounds() -> None:
    slices = [[*rounds] for _, rounds in groupby(rounds_of((40, 0), (40, 0)), itemgetter(2))]
    assert len(slices) > 2
    for rounds in slices[:-2]:
        assert rounds[-1][1] - rounds[0][0] > 15_000_000


@pytest.mark.parametrize(("first", "second"), [((4, 0), (40, 0)), ((40, 0), (4, 0))])
@pytest.mark.parametrize("status", [0, 3])
def test_who_is_left_runs_on(first: tuple[int, int], second: tuple[int, int], status: int) -> None:
    rounds = rounds_of((first[0], status), second)
    assert len(rounds) == 44


def test_a_program_by_itself_never_waits() -> None:
    turns = Turns({})
    turns.begin()
    for _ in range(3):
        turns.go_on()
