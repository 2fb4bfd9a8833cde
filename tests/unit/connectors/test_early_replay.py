"""The early replay reads whole times of the journal, and nothing beyond them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from connectors.errors import UnknownConnection
from connectors.files.writer import TopicWriter
from connectors.ingest.early_replay import AT_ONCE, EarlyReplay
from connectors.kafka.clusters import Feed
from connectors.progress.batches import Correction, Range
from connectors.progress.journal import Entry
from connectors.spark.chunks import chunks
from tests.unit.connectors.records import insert, table

TABLES = {"people@0": table(), "pets@3": table("pets")}


@pytest.fixture
def replay(tmp_path: Path) -> EarlyReplay:
    """Of the topics `people`, of two partitions, and `pets`."""
    for name, partition in (("people", 0), ("people", 1), ("pets", 0)):
        TopicWriter(tmp_path, name, partition).append([*map(insert, range(10))])
    return EarlyReplay(tmp_path, TABLES, list, None)


def entry(time: int, *ranges: tuple[str, int, int, int]) -> Entry:
    """A time with these ranges: topic, partition, first, end."""
    return Entry(time, tuple(Range(name, name, *where) for name, *where in ranges), time)


def ids(found: pa.Table | None) -> list[tuple[str, int, list[Any]]]:
    """The ids of each chunk, with its key and partition."""
    assert found is not None
    return [(c.key, c.partition, c.updates["id"].to_pylist()) for c in chunks(found)]


def test_the_ranges_of_several_times_are_read_together(replay: EarlyReplay) -> None:
    times = [
        entry(5, ("people", 0, 2, 4), ("pets", 0, 0, 1)),
        entry(6, ("people", 0, 4, 5), ("people", 1, 7, 9)),
    ]
    assert ids(replay.chunks(times)) == [
        ("people@0", 0, [2, 3, 4]),
        ("people@0", 1, [7, 8]),
        ("pets@3", 0, [0]),
    ]


def test_a_time_is_read_whole_however_large_and_later_ones_wait(tmp_path: Path) -> None:
    TopicWriter(tmp_path, "people").append([insert(1)] * (AT_ONCE + 20))
    replay = EarlyReplay(tmp_path, TABLES, list, None)
    first = entry(1, ("people", 0, 0, AT_ONCE + 10))
    second = entry(2, ("people", 0, AT_ONCE + 10, AT_ONCE + 20))
    found = ids(replay.chunks([first, second]))
    assert sum(len(part) for _, _, part in found) == AT_ONCE + 10


def test_corrections_need_no_topic(replay: EarlyReplay) -> None:
    correction = Correction("people", "people", 0, 3, "digest")
    assert ids(replay.chunks([Entry(1, (), 1, (correction,))])) == []


def test_topics_that_lack_records_are_left_alone(replay: EarlyReplay, tmp_path: Path) -> None:
    TopicWriter(tmp_path, "people").truncate(3)
    assert replay.chunks([entry(1, ("people", 0, 2, 4))]) is None


def test_topics_that_cannot_be_found_are_left_alone(tmp_path: Path) -> None:
    def feeds() -> Sequence[Feed]:
        raise UnknownConnection("the settings have no connection 'main'")

    replay = EarlyReplay(tmp_path, TABLES, feeds, None)
    assert replay.chunks([entry(1, ("people", 0, 0, 0))]) is None
    replay.close()


def test_what_is_read_no_more_is_left_alone(replay: EarlyReplay) -> None:
    assert ids(replay.chunks([entry(1, ("gone", 0, 2, 4))])) == []
