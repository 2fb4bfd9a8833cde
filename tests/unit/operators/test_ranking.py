"""Rankings: a group's values in order, after any additions and removals."""

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ivm.operators.aggregates.order_statistics import positioned, ranked
from ivm.operators.aggregates.ordering import Ordering
from ivm.rows.format import ordered_format
from ivm.rows.interner import Interner, word_of
from ivm.rows.shims import order_prefix_of

WORD = 2**64 - 1
INT = [pa.field("v", pa.int64(), nullable=False)]
TEXT = [pa.field("v", pa.string(), nullable=False)]


def integers() -> Ordering:
    return Ordering(ordered_format(INT, [False], [False]), [False], Interner())


@given(
    st.lists(st.tuples(st.integers(0, 700), st.sampled_from([-2, -1, 1, 1, 3])), max_size=900),
    st.sets(st.integers(0, 700)),
    st.integers(0, 20),
)
def test_the_first_copies_are_those_of_the_sorted_values(
    changes: list[tuple[int, int]], filled: set[int], wanted: int
) -> None:
    counts = Counter(dict.fromkeys(filled, 1))
    for value, diff in changes:
        counts[value] += diff
    expected: list[tuple[tuple[int, ...], int]] = []
    for value, count in sorted(counts.items()):
        if count > 0 and sum(n for _, n in expected) < wanted:
            expected.append(((value,), count))
    every = [((v,), 1) for v in sorted(filled)] + [((v,), diff) for v, diff in changes]
    assert ranked(integers(), len(filled), every, wanted) == expected


@given(
    st.lists(st.tuples(st.integers(0, 700), st.sampled_from([-2, -1, 1, 1, 3])), max_size=900),
    st.sets(st.integers(0, 700)),
)
def test_every_copy_has_its_position_among_the_sorted_values(
    changes: list[tuple[int, int]], filled: set[int]
) -> None:
    counts = Counter(dict.fromkeys(filled, 1))
    for value, diff in changes:
        counts[value] += diff
    expected = [(value,) for value, count in sorted(counts.items()) for _ in range(count)]
    every = [((v,), 1) for v in sorted(filled)] + [((v,), diff) for v, diff in changes]
    assert positioned(integers(), len(filled), every) == expected


@pytest.mark.parametrize("step", [1, -1], ids=["ascending", "descending"])
def test_leaves_split_and_go_wherever_values_come_and_leave(step: int) -> None:
    values = list(range(1000))[::step]
    changes = [((v,), 1) for v in values] + [((v,), -1) for v in values[:990]]
    left = [((v,), 1) for v in sorted(values[990:])]
    assert ranked(integers(), 0, changes, 2000) == left


@pytest.mark.parametrize("descending", [False, True])
@given(st.sets(st.binary(max_size=9) | st.binary(max_size=4).map(b"common beginning".__add__)))
def test_strings_are_in_the_order_of_their_contents(descending: bool, contents: set[bytes]) -> None:
    interner = Interner()
    form = ordered_format(TEXT, [descending], [False], prefixed=True)
    flip = WORD if descending else 0
    words = {c: word_of(interner, c) for c in contents}
    rows = {c: (order_prefix_of(interner, w) ^ flip, w ^ flip) for c, w in words.items()}
    expected = [(rows[c], 1) for c in sorted(contents, reverse=descending)]
    ordering = Ordering(form, [True], interner)
    for filled in (0, len(contents)):
        given = [(rows[c], 1) for c in contents]
        assert ranked(ordering, filled, given, len(contents)) == expected
