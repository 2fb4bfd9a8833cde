"""However a replay is cut into batches, each time comes back with the records that it had."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from connectors.decode import OFFSET
from connectors.progress.assign import Assigned, Piece, Progress
from connectors.progress.batches import Range
from connectors.progress.journal import Entry

# The offsets that hold a record, ascending, by (table, partition).
Topics = dict[tuple[str, int], list[int]]

TOPICS = st.dictionaries(
    st.tuples(st.sampled_from("tu"), st.integers(0, 1)),
    st.lists(st.integers(0, 30), min_size=1, max_size=20, unique=True).map(sorted),
    min_size=1,
)


def pieces(topics: Topics, key: tuple[str, int], cuts: Sequence[int]) -> list[Piece]:
    """The records of a partition, cut after these many records."""
    offsets = topics[key]
    bounds = sorted({0, len(offsets), *(cut % (len(offsets) + 1) for cut in cuts)})
    found = []
    for begin, end in pairwise(bounds):
        part = offsets[begin:end]
        where = Range(key[0], key[0], key[1], part[0], part[-1] + 1)
        found.append(Piece(where, pa.table({OFFSET: part}), (), sparse=True))
    return found


def batches(data: st.DataObject, topics: Topics) -> list[list[Piece]]:
    """All records of `topics` as some micro-batches, each partition in order."""
    number = data.draw(st.integers(1, 6))
    found: list[list[Piece]] = [[] for _ in range(number)]
    for key in topics:
        parts = pieces(topics, key, data.draw(st.lists(st.integers(0, 40), max_size=5)))
        places = sorted(data.draw(st.integers(0, number - 1)) for _ in parts)
        for place, part in zip(places, parts, strict=True):
            found[place].append(part)
    return found


def run(progress: Progress, batches: Sequence[Sequence[Piece]]) -> list[Assigned]:
    return [assigned for batch in batches for assigned in progress.assign(batch)]


def journal(times: Sequence[Assigned]) -> list[Entry]:
    """What the journal would hold of these times."""
    return [Entry(one.time, tuple(p.range for p in one.pieces), one.time) for one in times]


def contents(times: Sequence[Assigned]) -> list[tuple[int, list[tuple[str, int, Any]]]]:
    return [
        (
            one.time,
            [
                (p.range.table, p.range.partition, offset)
                for p in one.pieces
                for offset in p.updates[OFFSET].to_pylist()
            ],
        )
        for one in times
    ]


@given(TOPICS, st.data())
def test_a_replay_gives_the_same_times_and_records(topics: Topics, data: st.DataObject) -> None:
    first = run(Progress([], 0), batches(data, topics))
    entries = journal(first)
    replayed = run(Progress(entries, len(entries)), batches(data, topics))
    assert contents(replayed) == contents(first)
    assert [one.moment for one in replayed] == [entry.moment for entry in entries]


@given(TOPICS, st.data())
def test_a_crash_amid_the_topics_loses_and_doubles_nothing(
    topics: Topics, data: st.DataObject
) -> None:
    before = batches(data, topics)
    crash = data.draw(st.integers(0, len(before)))
    entries = journal(run(Progress([], 0), before[:crash]))
    times = run(Progress(entries, len(entries)), batches(data, topics))
    assert contents(times[: len(entries)]) == contents(run(Progress([], 0), before[:crash]))
    records = [record for _, part in contents(times) for record in part]
    assert sorted(records) == sorted((t, p, o) for (t, p), found in topics.items() for o in found)
