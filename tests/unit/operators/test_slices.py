"""Slices of what threads share: who takes which part."""

from hypothesis import given
from hypothesis import strategies as st

from ivm.threads.work_stealing import parts_taken


def test_a_thread_takes_the_parts_of_its_own_slice_in_order() -> None:
    assert parts_taken(2, 3, [1, 1, 1]) == [3, 4, 5]


def test_one_that_is_done_takes_the_last_parts_of_another() -> None:
    assert parts_taken(2, 3, [1, 0, 0, 0, 0]) == [3, 0, 1, 2, 5]


def test_what_others_took_is_not_taken_again() -> None:
    assert parts_taken(2, 2, [1, 0, 0, 0, 1, 0]) == [2, 0, 1, 3, None, None]


def test_a_slice_that_nobody_has_begun_is_left_alone() -> None:
    assert parts_taken(2, 2, [0, 0, 0, 1]) == [0, 1, None, 2]


@given(
    slices=st.integers(1, 5),
    parts=st.integers(1, 8),
    takers=st.lists(st.integers(0, 4), max_size=40),
)
def test_each_part_is_taken_once(slices: int, parts: int, takers: list[int]) -> None:
    in_turn = [taker % slices for taker in takers]
    until_all_are_done = [*range(slices)] * (parts + 1)
    taken = parts_taken(slices, parts, in_turn + until_all_are_done)
    assert sorted(part for part in taken if part is not None) == [*range(slices * parts)]
