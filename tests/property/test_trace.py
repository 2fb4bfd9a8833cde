"""Traces by recomputation: sealing, merging, compacting and holding never change a collection."""

import random
from collections import Counter
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ivm.trace import shims
from ivm.trace.frontier import Antichain
from ivm.trace.handle import Handle
from ivm.trace.spine import Trace
from tests.unit.trace.updates import Update, array, collection, seal, unpacked, updates

WIDTHS = [(1, 1, 1), (0, 2, 1), (2, 0, 1), (1, 1, 2), (1, 0, 2), (1, 2, 3)]
LAST = 5  # root times are below
every_width = pytest.mark.parametrize("widths", WIDTHS)
thoroughly = settings(max_examples=60, deadline=None, derandomize=True)
Widths = tuple[int, int, int]


def times_from(root: int, time_words: int) -> list[tuple[int, ...]]:
    return list(product(range(root, LAST + 1), *[range(3)] * (time_words - 1)))


def steps(widths: Widths) -> st.SearchStrategy[list[list[Update]]]:
    """A batch for each root time up to the last; those of a step may lie later."""
    key, val, time = widths
    return st.tuples(
        *[updates(key + val, time, st.integers(root, LAST)) for root in range(LAST)]
    ).map(list)


@every_width
@thoroughly
@given(data=st.data())
def test_consolidation_keeps_every_collection_and_leaves_nothing_twice(
    widths: Widths, data: st.DataObject
) -> None:
    key, val, time = widths
    given = data.draw(updates(key + val, time, st.integers(0, LAST), size=60))
    after = unpacked(shims.consolidated(array(given, key + val + time + 1), key + val), key + val)
    rows = [(row, at) for row, at, _ in after]
    assert rows == sorted(set(rows))
    assert all(diff for _, _, diff in after)
    for at in times_from(0, time):
        assert collection(after, at) == collection(given, at)


@every_width
@pytest.mark.parametrize("seed", range(8))
def test_ascending_runs_are_merged_as_if_they_were_sorted(widths: Widths, seed: int) -> None:
    key, val, time = widths
    chance = random.Random(seed)

    def some(count: int) -> list[Update]:
        return [
            (
                tuple(chance.randrange(4) for _ in range(key + val)),
                tuple(chance.randrange(4) for _ in range(time)),
                chance.choice([1, -1, 2]),
            )
            for _ in range(count)
        ]

    given = [*added_up(some(100)), *added_up(some(60)), *some(chance.choice([0, 20]))]
    after = shims.consolidated(array(given, key + val + time + 1), key + val)
    assert unpacked(after, key + val) == added_up(given)


def test_what_follows_a_run_may_cancel() -> None:
    run: list[Update] = [((n,), (0,), 1) for n in range(30)]
    after = shims.consolidated(array([*run, ((7,), (1,), 1), ((7,), (1,), -1)], 3), 1)
    assert unpacked(after, 1) == run


def added_up(updates: list[Update]) -> list[Update]:
    """In ascending order, each row and time once."""
    sums: Counter[tuple[tuple[int, ...], tuple[int, ...]]] = Counter()
    for row, at, diff in updates:
        sums[row, at] += diff
    return [(row, at, diff) for (row, at), diff in sorted(sums.items()) if diff]


@every_width
@thoroughly
@given(data=st.data())
def test_compaction_is_invisible_at_or_beyond_since(widths: Widths, data: st.DataObject) -> None:
    key, val, time = widths
    trace = Trace(key, val, time, ())
    so_far: list[Update] = []
    for root, batch in enumerate(data.draw(steps(widths))):
        seal(trace, batch, since=root)
        so_far += batch
        for at in times_from(root, time):
            assert shims.as_of(trace, at) == collection(so_far, at)


@every_width
@thoroughly
@given(data=st.data())
def test_a_hold_keeps_all_times_from_it_on(widths: Widths, data: st.DataObject) -> None:
    key, val, time = widths
    trace = Trace(key, val, time, ())
    frontier = data.draw(st.lists(st.sampled_from(times_from(0, time)), min_size=1, max_size=2))
    handle = Handle(trace, Antichain(time, frontier))
    so_far: list[Update] = []
    for root, batch in enumerate(data.draw(steps(widths))):
        seal(trace, batch, since=root)
        so_far += batch
    shims.absorb(trace, LAST)
    for at in times_from(0, time):
        if handle.since.less_equal(at):
            assert shims.as_of(trace, at) == collection(so_far, at)


@every_width
@thoroughly
@given(data=st.data())
def test_layers_are_consolidated_and_sorted(widths: Widths, data: st.DataObject) -> None:
    key, val, time = widths
    trace = Trace(key, val, time, ())
    for root, batch in enumerate(data.draw(steps(widths))):
        seal(trace, batch, since=root)
        for layer in shims.layers(trace):
            rows = [(row, at) for row, at, _ in unpacked(layer, key + val)]
            assert rows == sorted(set(rows))
            assert layer[:, -1].all()
