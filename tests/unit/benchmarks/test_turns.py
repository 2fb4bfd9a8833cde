"""Courses in turn: each has a slice of time, and whoever is left runs on."""

from collections.abc import Iterator
from itertools import groupby

import pytest

from benchmarks import turns
from benchmarks.turns import SLICE, run_in_turn


class Clock:
    """A clock that goes on in rounds only."""

    def __init__(self) -> None:
        self.now = 0.0
        self.ran: list[str] = []

    def __call__(self) -> float:
        return self.now

    def course(self, name: str, rounds: int) -> Iterator[None]:
        """Rounds of a third of a slice, each of which notes the name."""
        for _ in range(rounds):
            self.now += SLICE / 3
            self.ran.append(name)
            yield


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(turns, "perf_counter", clock)
    return clock


def test_each_course_runs_for_a_slice_of_time_and_who_is_left_runs_on(clock: Clock) -> None:
    run_in_turn([clock.course("a", 12), clock.course("b", 30)], lambda _: None)
    slices = [(name, len([*rounds])) for name, rounds in groupby(clock.ran)]
    assert [name for name, _ in slices[:6]] == ["a", "b"] * 3
    assert {rounds for _, rounds in slices[:4]} <= {3, 4}  # thirds do not add up to a whole
    assert (clock.ran.count("a"), clock.ran.count("b")) == (12, 30)


def test_a_course_without_rounds_is_over_at_once(clock: Clock) -> None:
    run_in_turn([clock.course("a", 0), clock.course("b", 2)], lambda _: None)
    assert clock.ran == ["b", "b"]


def test_who_goes_on_is_announced() -> None:
    told: list[object] = []

    def course(name: str) -> Iterator[None]:
        told.append(name)
        yield

    run_in_turn([course("first"), course("second")], told.append)
    assert told == [0, "first", 1, "second"]
