"""Retention of delta topics: closed segments go, or become a snapshot; the fold stays."""

import os
import random
import time as clock
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from api.errors import ChangesGone
from api.feed import Feed
from connectors.files.layout import bases, partition_directory
from connectors.files.reader import TopicReader
from connectors.files.retention import KEPT, Cleanup, Retention, Storage, beyond
from connectors.files.writer import TopicWriter
from connectors.progress.journal import Journal
from connectors.sinks import compaction
from connectors.sinks.deltas import DeltaSink
from tests.unit.connectors.test_deltas import drained, moved, output

TIMES = 60
KEYS = 5


class Published:
    """A view of a row for each of five keys, each time with another one of them changed."""

    def __init__(self, root: Path, cleanup: Cleanup = "compact", size: int = 0) -> None:
        self.root = root
        self._storage = Storage(Retention(None, size), cleanup, segment_bytes=300)
        self.journal = Journal(root / "journal")
        self.sink = self._sink()
        self.sink.open(output("v"))
        self.states: dict[int, Counter[int]] = {}
        self._rows: dict[int, int] = {}

    def _sink(self) -> DeltaSink:
        return DeltaSink(self.root, self.journal, storage=self._storage)

    def publish(self, times: int) -> None:
        for _ in range(times):
            time = self.journal.last_time + 1
            key = random.Random(time).randrange(KEYS)
            changes = [(self._rows[key], time, -1)] if key in self._rows else []
            self._rows[key] = 1_000 * key + time
            self.journal.prepare(time, (), 0)
            self.sink.write("v", drained([*changes, (self._rows[key], time, 1)]), moved(time))
            self.sink.prepare(moved(time))
            self.sink.commit(moved(time))
            self.states[time] = Counter(self._rows.values())

    def restart(self) -> None:
        self.sink.close()
        self.sink = self._sink()
        self.sink.restore(output("v"))

    @property
    def directory(self) -> Path:
        return partition_directory(self.root, "deltas.v", 0)

    @property
    def end(self) -> int:
        return self.sink.published["v"]

    def lines(self) -> list[Any]:
        reader = TopicReader(self.root, "deltas.v")
        first = min(bases(self.directory))
        return [orjson.loads(line) for line in reader.read(0, first, self.end - first)]

    def assert_folds(self) -> None:
        """The rows at every frontier that is there are those of its time."""
        rows: Counter[int] = Counter()
        frontiers = 0
        for line in self.lines():
            if "row" in line:
                rows[line["row"]["id"]] += line["diff"]
            else:
                assert +rows == self.states[line["frontier"]]
                frontiers += 1
        assert frontiers

    def feed(self, since: int) -> list[int]:
        feed = Feed(self.root, "deltas.v", 1 << 20)
        feed.seek(since, self.end)
        return [event.time for event in feed.events(self.end)]


@pytest.fixture
def view(tmp_path: Path) -> Iterator[Published]:
    made = Published(tmp_path)
    made.publish(TIMES)
    yield made
    made.sink.close()


def test_what_is_kept_is_a_suffix_within_the_bytes(tmp_path: Path) -> None:
    writer = TopicWriter(tmp_path, "t", segment_bytes=10)
    for _ in range(6):
        writer.append([b"123456789"] * 2)  # 20 bytes, and a segment each
    found = beyond(writer.directory, Retention(size=50), writer.end)
    assert [segment.base for segment in found] == [0, 2, 4, 6]
    assert [s.base for s in beyond(writer.directory, Retention(size=50), 5)] == [0, 2]
    assert beyond(writer.directory, Retention(), writer.end) == []


def test_what_is_kept_is_young_enough(tmp_path: Path) -> None:
    writer = TopicWriter(tmp_path, "t", segment_bytes=1)
    for _ in range(4):
        writer.append([b"1"])
    for base in (0, 1):
        old = clock.time() - 100
        os.utime(writer.directory / f"{base:020d}.jsonl", (old, old))
    assert [s.base for s in beyond(writer.directory, Retention(50), writer.end)] == [0, 1]


def test_a_segment_ends_after_its_time(tmp_path: Path) -> None:
    writer = TopicWriter(tmp_path, "t", segment_seconds=0)
    for _ in range(3):
        writer.append([b"1"])
    assert bases(writer.directory) == [0, 1, 2]


def test_without_retention_all_is_kept(tmp_path: Path) -> None:
    sink = DeltaSink(tmp_path, Journal(tmp_path / "journal"), storage=KEPT)
    sink.open(output("v"))
    sink.clean()
    assert bases(tmp_path / "deltas.v" / "0") == [0]


def test_a_compacted_topic_folds_to_the_same_rows_and_is_as_small_as_the_view(
    view: Published,
) -> None:
    end = view.end
    view.sink.clean()
    view.assert_folds()
    assert view.end == end, "what is there keeps its offsets"
    assert len(view.lines()) < 20
    snapshot = [line for line in view.lines() if line.get("snapshot")]
    assert [s["offsets"] for s in snapshot] == [{"t": {"0": snapshot[0]["frontier"]}}]


def test_compaction_again_and_again_stays_as_small(view: Published) -> None:
    for _ in range(10):
        view.publish(TIMES)
        view.sink.clean()
        view.assert_folds()
        assert len(view.lines()) < 20
    assert sum(1 for line in view.lines() if line.get("snapshot")) == 1


def test_a_deleted_prefix_leaves_the_later_offsets(tmp_path: Path) -> None:
    view = Published(tmp_path, "delete", size=1_000)
    view.publish(TIMES)
    end = view.end
    last = view.lines()[-5:]
    view.sink.clean()
    assert view.end == end
    assert view.lines()[-5:] == last
    assert sum(path.stat().st_size for path in view.directory.iterdir()) <= 1_000
    view.restart()
    view.publish(1)
    assert view.end > end


def test_a_topic_that_lacks_its_beginning_is_not_taken_for_whole(tmp_path: Path) -> None:
    deleting = Published(tmp_path, "delete", size=1_000)
    deleting.publish(TIMES)
    deleting.sink.clean()
    deleting._storage = Storage(Retention(size=0), "compact", 300)
    deleting.restart()
    deleting.sink.clean()
    assert not any(line.get("snapshot") for line in deleting.lines())


@pytest.mark.parametrize("cleanup", ["compact", "delete"])
def test_a_feed_that_lacks_nothing_goes_on_and_another_is_told(
    tmp_path: Path, cleanup: Cleanup
) -> None:
    view = Published(tmp_path, cleanup)
    view.publish(TIMES)
    view.sink.clean()
    line = view.lines()[0]
    first = line.get("time", line.get("frontier"))
    assert view.feed(first) == list(range(first + 1, TIMES + 1))
    assert view.feed(TIMES) == []
    with pytest.raises(ChangesGone, match=f"after time {first - 1} are not kept"):
        view.feed(first - 1)


@pytest.mark.parametrize("read", [100, 168])
def test_a_feed_that_was_overtaken_by_compaction_gets_no_snapshot_for_changes(
    view: Published, read: int
) -> None:
    feed = Feed(view.root, "deltas.v", 1)  # a line in an event
    feed.seek(0, view.end)
    events = feed.events(view.end)
    for _ in range(read):  # of 168, it stands where the snapshot will be
        next(events)
    view.sink.clean()
    with pytest.raises(ChangesGone):
        list(events)


def test_a_feed_that_keeps_pace_does_not_notice(view: Published) -> None:
    feed = Feed(view.root, "deltas.v", 1 << 20)
    feed.seek(0, view.end)
    assert len(list(feed.events(view.end))) == TIMES
    view.sink.clean()
    view.publish(3)
    assert [event.time for event in feed.events(view.end)] == [TIMES + 1, TIMES + 2, TIMES + 3]


@pytest.mark.parametrize("deleted", range(4))
def test_a_crash_amid_compaction_leaves_one_whole_topic(view: Published, deleted: int) -> None:
    segments = beyond(view.directory, Retention(size=0), view.end)
    assert compaction.write_snapshot(segments) is not None
    for segment in segments[:deleted]:
        segment.path.unlink()
    (view.directory / "half.new").write_bytes(b"{")
    view.restart()
    view.assert_folds()
    assert {path.suffix for path in view.directory.iterdir()} == {".jsonl"}


def test_a_full_disk_leaves_the_topic_as_it_is(
    view: Published, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = view.lines()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("connectors.sinks.compaction.stage_lines", full)
        view.sink.clean()
    assert view.lines() == before
    view.sink.clean()
    view.assert_folds()
    assert len(view.lines()) < 20


def test_a_view_that_is_dropped_is_cleaned_no_more(view: Published) -> None:
    view.sink.drop("v")
    view.sink.clean()
    assert not (view.root / "deltas.v").exists()
