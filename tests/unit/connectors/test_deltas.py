"""Deltas on file topics: one line per change, a frontier after them, cut to what was committed."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from api.feed import Feed
from connectors.errors import TopicTruncated
from connectors.files.reader import TopicReader
from connectors.files.writer import TopicWriter
from connectors.offsets import Offsets
from connectors.progress.journal import Journal
from connectors.sinks.deltas import DeltaSink
from connectors.sinks.sink import Output, Reached


@dataclass(frozen=True)
class Drained:
    rows: pa.RecordBatch
    times: NDArray[np.uint64]
    diffs: NDArray[np.int64]
    errors: pa.RecordBatch
    error_times: NDArray[np.uint64]
    error_diffs: NDArray[np.int64]


def drained(rows: list[tuple[int, int, int]], errors: list[tuple[str, int, int]] = []) -> Drained:  # noqa: B006
    """Rows as (id, time, diff), errors as (message, time, diff)."""
    return Drained(
        pa.RecordBatch.from_pydict({"id": pa.array([row[0] for row in rows], pa.int64())}),
        np.array([row[1] for row in rows], np.uint64),
        np.array([row[2] for row in rows], np.int64),
        pa.RecordBatch.from_pydict({"error": pa.array([e[0] for e in errors], pa.string())}),
        np.array([e[1] for e in errors], np.uint64),
        np.array([e[2] for e in errors], np.int64),
    )


def published(root: Path, topic: str = "deltas.v") -> list[Any]:
    return [orjson.loads(line) for line in TopicReader(root, topic).read(0, 0, 1_000)]


def output(name: str) -> Output:
    return Output(name, pa.schema([("id", pa.int64())]), ("id",), True, "plan")


def write(sink: DeltaSink, view: str, changes: Drained, time: int) -> None:
    sink.write(view, changes, Reached(time, 0, Offsets.of_source("s", "t", {0: 9})))


def commit(sink: DeltaSink, journal: Journal, time: int) -> None:
    reached = Reached(time, 0, Offsets())
    journal.prepare(time, (), 0)
    sink.prepare(reached)
    sink.commit(reached)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal")


def test_times_rise_also_where_a_frontier_is_for_several(tmp_path: Path, journal: Journal) -> None:
    sink = DeltaSink(tmp_path, journal)
    sink.open(output("v"))
    write(sink, "v", drained([(1, 5, 1), (1, 6, -1), (2, 4, 1)], [("overflow", 4, 1)]), 6)
    assert [line.get("time") for line in published(tmp_path)] == [4, 4, 5, 6, None]
    for since in range(3, 7):
        feed = Feed(tmp_path, "deltas.v", 1 << 20)
        feed.seek(since, 5)
        found = [line for event in feed.events(5) for line in event.deltas]
        assert len(found) == sum(time > since for time in (4, 4, 5, 6))


def test_each_change_is_a_line_and_a_frontier_follows(tmp_path: Path, journal: Journal) -> None:
    sink = DeltaSink(tmp_path, journal)
    sink.open(output("v"))
    write(sink, "v", drained([(7, 4, 2), (8, 5, -1)], [("division by zero", 5, 1)]), 5)
    assert published(tmp_path) == [
        {"op": "+", "diff": 2, "time": 4, "row": {"id": 7}},
        {"op": "-", "diff": -1, "time": 5, "row": {"id": 8}},
        {"op": "+", "diff": 1, "time": 5, "error": "division by zero"},
        {"frontier": 5, "offsets": {"t": {"0": 9}}, "sources": {"s": {"0": 9}}},
    ]


def test_a_time_without_changes_moves_the_frontier(tmp_path: Path, journal: Journal) -> None:
    sink = DeltaSink(tmp_path, journal)
    sink.open(output("v"))
    write(sink, "v", drained([]), 3)
    assert published(tmp_path) == [
        {"frontier": 3, "offsets": {"t": {"0": 9}}, "sources": {"s": {"0": 9}}}
    ]


def test_a_time_at_which_no_input_moved_tells_an_idle_view_nothing(
    tmp_path: Path, journal: Journal
) -> None:
    sink = DeltaSink(tmp_path, journal)
    sink.open(output("v"))
    for time in range(3, 6):
        write(sink, "v", drained([]), time)
    assert [line["frontier"] for line in published(tmp_path)] == [3]


def test_a_view_is_told_of_the_sources_that_it_reads(tmp_path: Path, journal: Journal) -> None:
    def reached(time: int, read: int) -> Reached:
        offsets = Offsets.of_source("read", "t", {0: read})
        return Reached(time, 0, offsets.join(Offsets.of_source("other", "u", {0: time})))

    sink = DeltaSink(tmp_path, journal)
    sink.open(replace(output("v"), sources=frozenset({"read"})))
    for time, read in ((1, 5), (2, 5), (3, 6), (4, 6)):
        sink.write("v", drained([]), reached(time, read))
    assert [line["frontier"] for line in published(tmp_path)] == [1, 3]


def moved(time: int) -> Reached:
    """A time at which the input moved."""
    return Reached(time, 0, Offsets.of_source("s", "t", {0: time}))


def test_the_times_of_an_interval_have_one_frontier_of_an_idle_view(
    tmp_path: Path, journal: Journal
) -> None:
    sink = DeltaSink(tmp_path, journal, progress_seconds=1_000)
    sink.open(output("v"))
    for time in range(1, 5):
        journal.prepare(time, (), 0)
        sink.write("v", drained([(time, time, 1)] if time == 3 else []), moved(time))
        sink.prepare(moved(time))
        sink.commit(moved(time))
    assert [line.get("frontier") for line in published(tmp_path)] == [1, None, 3]
    assert not sink.tend(moved(4)), "the interval is not over"


def test_a_frontier_that_waited_is_told_once_it_is_due_and_committed(
    tmp_path: Path, journal: Journal
) -> None:
    sink = DeltaSink(tmp_path, journal, progress_seconds=1_000)
    sink.open(output("v"))
    write(sink, "v", drained([(1, 1, 1)]), 1)
    commit(sink, journal, 1)
    again = DeltaSink(tmp_path, journal, progress_seconds=0.01)
    again.restore(output("v"))
    commit(again, journal, 2)
    assert not again.tend(moved(1)), "a time before the committed one is no news"
    assert again.tend(moved(2))
    assert [line.get("frontier") for line in published(tmp_path)] == [None, 1, 2]
    assert journal.published == again.published == {"v": 3}
    assert not again.tend(moved(2)), "it was told"


def test_a_view_that_is_restored_is_not_told_again_what_its_topic_says(
    tmp_path: Path, journal: Journal
) -> None:
    sink = DeltaSink(tmp_path, journal)
    sink.open(output("v"))
    write(sink, "v", drained([(1, 1, 1)]), 1)
    commit(sink, journal, 1)
    again = DeltaSink(tmp_path, journal)
    again.restore(output("v"))
    assert not again.tend(Reached(1, 0, Offsets.of_source("s", "t", {0: 9})))


def test_a_commit_tells_the_journal_the_ends_of_what_was_written_since(
    tmp_path: Path, journal: Journal
) -> None:
    sink = DeltaSink(tmp_path, journal)
    sink.open(output("v"))
    sink.open(output("w"))
    write(sink, "v", drained([(1, 1, 1)]), 1)
    commit(sink, journal, 1)
    assert journal.published == sink.published == {"v": 2}
    write(sink, "w", drained([]), 2)
    commit(sink, journal, 2)
    assert journal.published == {"v": 2, "w": 1}
    assert (sink.has("v", 2), sink.has("v", 3)) == (True, False)


def test_what_was_not_committed_is_cut_off_on_opening(tmp_path: Path, journal: Journal) -> None:
    sink = DeltaSink(tmp_path, journal)
    sink.open(output("v"))
    write(sink, "v", drained([(1, 1, 1)]), 1)
    commit(sink, journal, 1)
    write(sink, "v", drained([(2, 2, 1)]), 2)
    again = DeltaSink(tmp_path, journal)
    again.restore(output("v"))
    write(again, "v", drained([(3, 2, 1)]), 2)
    assert [line["row"]["id"] for line in published(tmp_path) if "row" in line] == [1, 3]


def test_a_topic_with_less_than_was_committed_is_refused(tmp_path: Path, journal: Journal) -> None:
    journal.commit(0, {"v": 1})
    with pytest.raises(TopicTruncated):
        DeltaSink(tmp_path, journal).restore(output("v"))


def test_dropping_a_view_deletes_its_topic(tmp_path: Path, journal: Journal) -> None:
    sink = DeltaSink(tmp_path, journal, prefix="out-")
    sink.open(output("v"))
    write(sink, "v", drained([(1, 1, 1)]), 1)
    sink.drop("v")
    commit(sink, journal, 1)
    assert not (tmp_path / "out-v").exists()
    assert journal.published == {}


def test_what_is_not_durable_does_not_count_and_is_tried_again(
    tmp_path: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = DeltaSink(tmp_path, journal)
    sink.open(output("v"))
    journal.prepare(1, (), 0)
    is_full = True
    sync = TopicWriter.sync

    def fail(writer: TopicWriter) -> None:
        if is_full:
            raise OSError("no room")
        sync(writer)

    monkeypatch.setattr(TopicWriter, "sync", fail)
    sink.write("v", drained([(1, 1, 1)]), moved(1))
    sink.prepare(moved(1))
    with pytest.raises(OSError, match="no room"):
        sink.commit(moved(1))
    assert (journal.committed_time, dict(journal.published)) == (0, {})
    is_full = False
    sink.prepare(moved(1))
    sink.commit(moved(1))
    assert (journal.committed_time, dict(journal.published)) == (1, {"v": 2})
    sink.close()
