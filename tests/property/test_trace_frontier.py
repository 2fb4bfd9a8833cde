"""Antichains as frontiers, and the theorems of compaction (K-Pg, appendix A)."""

from functools import reduce
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ivm.trace.frontier import Antichain

LIMIT = 3  # coordinates are below
Time = tuple[int, ...]
Case = tuple[int, list[Time]]


def times_of(n: int) -> list[Time]:
    return list(product(range(LIMIT), repeat=n))


def cases(least: int = 0) -> st.SearchStrategy[Case]:
    """A number of coordinates, and times with so many."""
    return st.integers(1, 3).flatmap(
        lambda n: st.tuples(
            st.just(n), st.lists(st.sampled_from(times_of(n)), min_size=least, max_size=4)
        )
    )


def before(s: Time, t: Time) -> bool:
    return all(map(int.__le__, s, t))


def reached(frontier: list[Time], n: int) -> list[Time]:
    """The times that a frontier stands for."""
    return [t for t in times_of(n) if any(before(f, t) for f in frontier)]


@given(cases())
def test_a_frontier_stands_for_the_times_at_or_after_an_element(case: Case) -> None:
    n, elements = case
    frontier = Antichain(n, elements)
    assert [t for t in times_of(n) if frontier.less_equal(t)] == reached(elements, n)


@given(cases())
def test_no_element_is_at_or_after_another(case: Case) -> None:
    n, elements = case
    kept = list(Antichain(n, elements))
    assert all(s == t or not before(s, t) for s in kept for t in kept)


@given(cases(), st.randoms())
def test_the_order_of_insertion_does_not_matter(case: Case, random: Random) -> None:
    n, elements = case
    shuffled = elements[:]
    random.shuffle(shuffled)
    assert Antichain(n, elements) == Antichain(n, shuffled)


@given(cases(), st.data())
def test_inserting_tells_whether_the_frontier_changed(case: Case, data: st.DataObject) -> None:
    n, elements = case
    time = data.draw(st.sampled_from(times_of(n)))
    frontier = Antichain(n, elements)
    assert frontier.insert(time) == (Antichain(n, elements) != frontier)


@given(cases(), st.data())
def test_meet_and_join_are_union_and_intersection(case: Case, data: st.DataObject) -> None:
    n, elements = case
    others = data.draw(st.lists(st.sampled_from(times_of(n)), max_size=4))
    a, b = Antichain(n, elements), Antichain(n, others)
    in_a, in_b = reached(elements, n), reached(others, n)
    assert reached(list(a.meet(b)), n) == [t for t in times_of(n) if t in in_a or t in in_b]
    assert reached(list(a.join(b)), n) == [t for t in times_of(n) if t in in_a and t in in_b]


def profile(time: Time, frontier: list[Time], n: int) -> list[bool]:
    """What can be told of `time` as of a frontier; the limit stands for all later coordinates."""
    later = product(range(LIMIT + 1), repeat=n)
    return [before(time, t) for t in later if any(before(f, t) for f in frontier)]


@given(cases(least=1))
def test_an_advanced_time_is_indistinguishable(case: Case) -> None:
    n, elements = case
    frontier = Antichain(n, elements)
    for time in times_of(n):
        advanced = frontier.advance(time)
        assert advanced is not None
        assert profile(time, elements, n) == profile(advanced, elements, n)


@given(cases(least=1))
def test_indistinguishable_times_advance_to_the_same_time(case: Case) -> None:
    n, elements = case
    frontier = Antichain(n, elements)
    representatives = {
        (tuple(profile(time, elements, n)), frontier.advance(time)) for time in times_of(n)
    }
    assert len(representatives) == len({seen for seen, _ in representatives})


@given(cases(least=1))
def test_advancing_is_the_meet_over_the_elements_of_the_joins(case: Case) -> None:
    n, elements = case
    for time in times_of(n):
        joins = [tuple(map(max, time, f)) for f in elements]
        meet = reduce(lambda s, t: tuple(map(min, s, t)), joins)
        assert Antichain(n, elements).advance(time) == meet


@given(cases(least=1))
def test_advancing_twice_is_advancing_once(case: Case) -> None:
    n, elements = case
    frontier = Antichain(n, elements)
    for time in times_of(n):
        once = frontier.advance(time)
        assert once is not None
        assert frontier.advance(once) == once


def test_as_of_the_empty_frontier_no_time_is_told_from_another() -> None:
    assert Antichain(2).advance((1, 2)) is None


@pytest.mark.parametrize("words", [0, 9])
def test_times_have_one_to_eight_coordinates(words: int) -> None:
    with pytest.raises(ValueError, match="1 to 8 coordinates"):
        Antichain(words)


def test_a_time_of_another_width_is_refused() -> None:
    with pytest.raises(ValueError, match="has not 2 coordinates"):
        Antichain(2, [(1,)])
