"""Records get one logical time each, and the journaled one if there is one."""

import pyarrow as pa
import pytest

from connectors.decode import OFFSET
from connectors.errors import OffsetGap
from connectors.ingest.counts import counted
from connectors.progress.assign import Assigned, Piece, Progress
from connectors.progress.batches import Counts, Range
from connectors.progress.journal import Entry
from connectors.records import RejectedRecord


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


def test_a_time_waits_until_all_that_it_covers_has_come() -> None:
    entries = [Entry(1, (where(0, 3), where(0, 2, 1)), 0), Entry(2, (where(3, 4),), 0)]
    progress = Progress(entries, 2)
    assert progress.assign([piece(0, 5)]) == []
    assert [entry.time for entry in progress.pending] == [1, 2]
    assert progress.assign([piece(0, 1, partition=1)]) == []
    assert contents(progress.assign([piece(1, 2, partition=1)])) == [
        (1, True, [(0, 0, 3), (1, 0, 1), (1, 1, 2)]),
        (2, True, [(0, 3, 4)]),
        (3, False, [(0, 4, 5)]),
    ]


def test_what_waits_of_a_forgotten_table_never_comes() -> None:
    progress = Progress([Entry(1, (where(0, 2), where(0, 1, table="u")), 0)], 1)
    assert progress.assign([piece(0, 2)]) == []
    progress.forget("t")
    assert contents(progress.assign([piece(0, 1, table="u")])) == [(1, True, [(0, 0, 1)])]


def sparse(first: int, offsets: list[int], table: str = "k") -> Piece:
    """One update per record; the records before `first` were markers, or are gone."""
    end = offsets[-1] + 1
    return Piece(where(first, end, table=table), pa.table({OFFSET: offsets}), (), sparse=True)


def test_offsets_without_a_record_are_normal_in_a_sparse_topic() -> None:
    progress = Progress([], 0, {("k", 0): 5})
    (first,) = progress.assign([sparse(7, [7, 9])])
    (second,) = progress.assign([sparse(12, [12])])
    assert [p.range for p in (*first.pieces, *second.pieces)] == [
        where(5, 10, table="k"),
        where(10, 13, table="k"),
    ]


def test_a_time_of_a_sparse_topic_is_covered_by_later_offsets() -> None:
    progress = Progress([Entry(1, (where(0, 6, table="k"),), 0)], 1)
    (first, second) = progress.assign([sparse(2, [2, 3]), sparse(8, [8])])
    assert (first.time, [p.range for p in first.pieces]) == (
        1,
        [where(0, 4, table="k"), where(4, 6, table="k")],
    )
    assert (second.time, [p.range for p in second.pieces]) == (2, [where(6, 9, table="k")])


def test_a_replay_begins_at_the_first_journaled_offset() -> None:
    progress = Progress([Entry(1, (where(10, 12),), 0)], 1)
    assert progress.positions == {("t", 0): 10}
    assert contents(progress.assign([piece(10, 12)])) == [(1, True, [(0, 10, 12)])]


def test_a_forgotten_table_begins_anew_and_is_not_replayed() -> None:
    progress = Progress([Entry(1, (where(0, 3),), 0), Entry(2, (where(0, 1, table="u"),), 0)], 2)
    progress.forget("t")
    replayed = contents(progress.assign([piece(0, 1, table="u")]))
    assert replayed == [(1, True, []), (2, True, [(0, 0, 1)])]
    assert contents(progress.assign([piece(0, 2)])) == [(3, False, [(0, 0, 2)])]


def test_records_that_are_no_change_are_cut_and_counted_with_the_updates() -> None:
    progress = Progress([Entry(1, (where(0, 3),), 0)], 1)
    passed = pa.table({OFFSET: [1, 4, 5], "tombstone": [True, False, True]})
    updates = pa.table({OFFSET: [0, 2, 2]})
    first, rest = progress.assign([Piece(where(0, 6), updates, (), passed=passed)])
    assert counted(first.pieces) == {"t": Counts(changes=2, tombstones=1)}
    assert counted(rest.pieces) == {"t": Counts(ignored=1, tombstones=1)}
