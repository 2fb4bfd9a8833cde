"""The lexicographic coordinate of prioritised loops."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ivm.trace.times import pack, unpack

halves = st.integers(0, 2**32 - 1)
pairs = st.tuples(halves, halves)


@given(pairs)
def test_unpacking_gives_what_was_packed(pair: tuple[int, int]) -> None:
    assert unpack(pack(*pair)) == pair


@given(pairs, pairs)
def test_coordinates_are_ordered_as_their_pairs(a: tuple[int, int], b: tuple[int, int]) -> None:
    assert (pack(*a) < pack(*b)) == (a < b)


def test_the_next_word_is_the_next_round() -> None:
    assert unpack(pack(3, 4) + 1) == (3, 5)


@pytest.mark.parametrize("pair", [(-1, 0), (0, -1), (2**32, 0), (0, 2**32)])
def test_a_half_beyond_32_bits_is_refused(pair: tuple[int, int]) -> None:
    with pytest.raises(OverflowError):
        pack(*pair)
