"""A connector that restarts sends a suffix again: each record counts once, however it is cut."""

import json

import hypothesis.strategies as st
import numpy as np
from hypothesis import given
from numpy.typing import NDArray

from connectors.ingest.dedup import Duplicates

# Steps between the positions of records; those of one statement share one.
steps = st.lists(st.sampled_from([(0, 0), (0, 1), (0, 5), (1, -3)]), min_size=1, max_size=30)


def positions(moves: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Positions that never go back, though their second number may."""
    commit, lsn, found = 1, 100, []
    for first, second in moves:
        commit, lsn = commit + first, lsn + second
        found.append((commit, lsn))
    return found


def fresh(duplicates: Duplicates, order: list[tuple[int, int]], cuts: list[int]) -> list[bool]:
    """What is fresh of a partition's records, delivered in these pieces, with a restart between."""
    flags: list[bool] = []
    for begin, end in zip([0, *cuts], [*cuts, len(order)], strict=True):
        piece: NDArray[np.uint64] = np.array(order[begin:end], np.uint64).reshape(-1, 2)
        flags += duplicates.fresh("t", 0, piece).tolist()
        state = json.loads(json.dumps(duplicates.to_json("t")))
        duplicates = Duplicates()
        duplicates.restore("t", state)
    return flags


@given(steps, st.data())
def test_what_a_restart_sends_again_is_dropped_wherever_batches_end(
    moves: list[tuple[int, int]], data: st.DataObject
) -> None:
    order = positions(moves)
    crash = data.draw(st.integers(0, len(order)))
    # It begins again with a position, before the last one: a later one cannot be told from new.
    starts = [i for i in range(crash) if order[i] < order[crash - 1]]
    starts = [i for i in starts if i == 0 or order[i - 1] != order[i]]
    begin = data.draw(st.sampled_from(starts)) if starts else crash
    sent = order[:crash] + order[begin:]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(sent)), max_size=4)))
    expected = [True] * crash + [False] * (crash - begin) + [True] * (len(order) - crash)
    assert fresh(Duplicates(), sent, cuts) == expected


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=30), st.data())
def test_where_batches_end_decides_nothing(
    order: list[tuple[int, int]], data: st.DataObject
) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(order)), max_size=5)))
    assert fresh(Duplicates(), order, cuts) == fresh(Duplicates(), order, [])


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=30))
def test_a_record_is_dropped_only_where_all_that_followed_it_was_seen(
    order: list[tuple[int, int]],
) -> None:
    kept: list[tuple[int, int]] = []
    for position, is_fresh in zip(order, fresh(Duplicates(), order, []), strict=True):
        if is_fresh:
            kept = kept if not kept or position >= kept[-1] or position == (0, 0) else []
            kept += [position] if position != (0, 0) else []
        else:
            assert position in kept


def test_tables_and_partitions_are_kept_apart_and_a_dropped_table_is_forgotten() -> None:
    duplicates = Duplicates()
    first: NDArray[np.uint64] = np.array([[1, 1], [2, 2]], np.uint64)
    duplicates.fresh("t", 0, first)
    assert duplicates.fresh("t", 1, first).all()
    assert duplicates.fresh("u", 0, first).all()
    assert not duplicates.fresh("t", 0, first[:1]).any()
    duplicates.forget("t")
    assert duplicates.fresh("t", 0, first).all()


def test_a_log_that_was_numbered_anew_loses_nothing() -> None:
    duplicates = Duplicates()
    old: NDArray[np.uint64] = np.array([[50, 1], [60, 1]], np.uint64)
    new: NDArray[np.uint64] = np.array([[7, 1], [8, 1], [50, 1], [60, 1]], np.uint64)
    duplicates.fresh("t", 0, old)
    assert duplicates.fresh("t", 0, new).all()
