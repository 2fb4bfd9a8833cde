"""Courses in turn: each has a slice of time, and whoever is left runs on."""

from collections.abc import Iterator
from itertools import groupby
from time import perf_counter

from benchmarks.turns import SLICE, run_in_turn

Round = tuple[str, float]


def course(name: str, rounds: int, ran: list[Round]) -> Iterator[None]:
    """Rounds of a quarter of a slice, each of which notes the name and when it was over."""
    for _ in range(rounds):
        end = perf_counter() + SLICE / 4
        while perf_counter() < end:
            pass
        ran.append((name, perf_counter()))
        yield


def ran_in_turn(**rounds: int) -> list[Round]:
    """What courses of so many rounds noted."""
    ran: list[Round] = []
    run_in_turn([course(name, count, ran) for name, count in rounds.items()], lambda _: None)
    return ran


def test_each_course_runs_for_a_slice_of_time() -> None:
    slices = [[*rounds] for _, rounds in groupby(ran_in_turn(a=20, b=20), lambda one: one[0])]
    assert len(slices) > 2
    for rounds in slices[:-2]:  # the first round of which began a quarter before it was over
        assert rounds[-1][1] - rounds[0][1] > SLICE / 2


def test_all_rounds_of_all_courses_run() -> None:
    names = [name for name, _ in ran_in_turn(a=2, b=30, c=0)]
    assert (names.count("a"), names.count("b")) == (2, 30)


def test_who_goes_on_is_announced() -> None:
    told: list[object] = []

    def course(name: str) -> Iterator[None]:
        told.append(name)
        yield

    run_in_turn([course("first"), course("second")], told.append)
    assert told == [0, "first", 1, "second"]
