"""Records get one logical time each, and the journaled one if there is one."""

import pyarrow as pa
import pytest

from connectors.batches import Range
from connectors.decode import OFFSET, RejectedRecord
from connectors.errors import OffsetGap
from connectors.progress.assign import Assigned, Piece, Progress
from connectors.progress.journal import Entry


def where(first: int, end: int, partition: int = 0, table: str = "t") -> Range:
    return Range(table, table, partition, first, end)


def piece(first: int, end: int, partition: int = 0, table: str = "t") -> Piece:
    """Two updates per record."""
    offsets = [n for n in range(first, end) for _ in range(2)]
    return Piece(where(first, end, partition, table), pa.table({OFFSET: offsets}), ())


def contents(assigned: list[Assigned]) -> list[tuple[int, bool, list[tuple[int, int, int]]]]:
    """Per time: recorded?, and (partition, first, end) of its pieces; offsets are checked."""
    for part in (part for one in assigned for part in one.pieces):
        expected = [n for n in range(part.range.first, part.range.end) for _ in range(2)]
        assert part.updates[OFFSET].to_pylist() == expected
    return [
        (
            a.time,
            a.moment is not None,
            [(p.range.partition, p.range.first, p.range.end) for p in a.pieces],
        )
        for a in assigned
    ]


def test_each_batch_gets_the_next_time() -> None:
    progress = Progress([], 7)
    assert contents(progress.assign([piece(0, 3)])) == [(8, False, [(0, 0, 3)])]
    assert contents(progress.assign([piece(3, 4)])) == [(9, False, [(0, 3, 4)])]


def test_a_batch_without_records_takes_no_time() -> None:
    progress = Progress([], 0)
    assert progress.assign([]) == []
    assert contents(progress.assign([piece(0, 1)])) == [(1, False, [(0, 0, 1)])]


def test_a_batch_that_comes_twice_is_taken_once() -> None:
    progress = Progress([], 0)
    progress.assign([piece(0, 3), piece(0, 2, partition=1)])
    assert progress.assign([piece(0, 3), piece(0, 2, partition=1)]) == []


def test_what_overlaps_is_cut_off() -> None:
    progress = Progress([], 0)
    progress.assign([piece(0, 3)])
    assert contents(progress.assign([piece(1, 5)])) == [(2, False, [(0, 3, 5)])]


def test_rejected_records_are_cut_with_the_updates() -> None:
    progress = Progress([], 0)
    progress.assign([piece(0, 3)])
    rejected = tuple(RejectedRecord(n, "not-json", "", b"") for n in (2, 4))
    overlapping = Piece(where(1, 5), piece(1, 5).updates, rejected)
    (assigned,) = progress.assign([overlapping])
    assert [r.offset for r in assigned.pieces[0].rejected] == [4]


def test_missing_records_are_not_passed_over() -> None:
    progress = Progress([], 0)
    progress.assign([piece(0, 3)])
    with pytest.raises(OffsetGap, match="next offset is 3, the batch begins at 4"):
        progress.assign([piece(4, 5)])


def test_journaled_times_come_back_with_their_records() -> None:
    entries = [Entry(2, (where(0, 3),), 0), Entry(5, (where(3, 4), where(0, 2, 1)), 0)]
    progress = Progress(entries, 5)
    assigned = progress.assign([piece(0, 6), piece(0, 3, partition=1)])
    assert contents(assigned) == [
        (2, True, [(0, 0, 3)]),
        (5, True, [(0, 3, 4), (1, 0, 2)]),
        (6, False, [(0, 4, 6), (1, 2, 3)]),
    ]
    assert progress.pending == []


def test_a_replay_may_come_in_several_batches() -> None:
    entries = [Entry(time, (where(time - 1, time),), 0) for time in range(1, 6)]
    progress = Progress(entries, 5)
    assert [a.time for a in progress.assign([piece(0, 2)])] == [1, 2]
    assert [a.time for a in progress.assign([piece(2, 5)])] == [3, 4, 5]


def test_a_replay_that_lacks_records_of_a_time_halts() -> None:
    progress = Progress([Entry(1, (where(0, 3), where(0, 2, 1)), 0)], 1)
    with pytest.raises(OffsetGap, match="time 1"):
        progress.assign([piece(0, 3)])


def test_a_replay_begins_at_the_first_journaled_offset() -> None:
    progress = Progress([Entry(1, (where(10, 12),), 0)], 1)
    assert progress.positions == {("t", 0): 10}
    assert contents(progress.assign([piece(10, 12)])) == [(1, True, [(0, 10, 12)])]


def test_a_forgotten_table_begins_anew_and_is_not_replayed() -> None:
    progress = Progress([Entry(1, (where(0, 3),), 0), Entry(2, (where(0, 1, table="u"),), 0)], 2)
    progress.forget("t")
    assert contents(progress.assign([piece(0, 1, table="u")])) == [(2, True, [(0, 0, 1)])]
    assert contents(progress.assign([piece(0, 2)])) == [(3, False, [(0, 0, 2)])]
