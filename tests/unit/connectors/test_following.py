"""Kafka's topics are followed by one task while little comes, and shared by all when much does."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson
import pytest

from connectors.connections import Connection
from connectors.kafka.clusters import Feed
from connectors.kafka.fetch import OffsetRange
from connectors.spark.endpoint import Address, parts_of
from connectors.spark.kafka_source import Following, KafkaReader
from connectors.spark.planner import SMALL_BATCH
from connectors.spark.ranges import Ends, from_json, shares, to_json

FEED = Feed(Connection(name="main", bootstrap_servers="nowhere:9"), {"t": {}}, {"t": {0: 5, 1: 7}})


class Topic:
    """The ranges of a topic whose ends are what a test says, in place of a cluster's."""

    def __init__(self, ends: Ends) -> None:
        self.ends = ends

    def begins(self, start: Ends, partitions: Iterable[tuple[str, int]]) -> Ends:
        return {**dict.fromkeys(partitions, 0), **start}

    def latest(self, start: Ends, limit: int) -> Ends:
        return {**start, **self.ends}

    def tasks(self, start: Ends, end: Ends, parallelism: int) -> list[list[OffsetRange]]:
        begins = self.begins(start, end)
        found = [OffsetRange(t, p, begins[t, p], at) for (t, p), at in end.items()]
        return shares([r for r in found if r.first < r.end], parallelism)


def reader(note: Path | None, ends: Ends) -> KafkaReader:
    made = KafkaReader(FEED, 400_000, 2, Address("grpc://nowhere:9", "secret"), note)
    plan: Any = Topic(ends)
    made._ranges = plan
    return made


START = to_json({("t", 0): 5, ("t", 1): 7})


def test_little_is_followed_from_all_partitions_those_too_that_are_new(tmp_path: Path) -> None:
    end = {("t", 0): 9, ("t", 1): 7, ("t", 2): 4}
    [task] = reader(tmp_path / "note", end).partitions(START, to_json(end))
    assert isinstance(task, Following)
    assert task.value == {("t", 0): 5, ("t", 1): 7, ("t", 2): 0}


def test_much_is_a_batch_that_all_tasks_share(tmp_path: Path) -> None:
    end = {("t", 0): 5 + 2 * SMALL_BATCH, ("t", 1): 7}
    tasks = reader(tmp_path / "note", end).partitions(START, to_json(end))
    assert [task.value[1] for task in tasks] == parts_of("main", 0, 2)


def test_where_nothing_may_be_followed_little_is_a_batch() -> None:
    end = {("t", 0): 9, ("t", 1): 7}
    made = reader(None, end)
    for number in range(2):
        [task] = made.partitions(START, to_json(end))
        assert task.value == ([OffsetRange("t", 0, 5, 9)], ("main", number, 0, 1))


@pytest.mark.parametrize("noted", [{("t", 0): 8}, {("t", 0): 8, ("t", 1): 3}])
def test_what_was_followed_is_not_planned_again(tmp_path: Path, noted: Ends) -> None:
    note = tmp_path / "note"
    note.write_bytes(orjson.dumps(to_json(noted)))
    end = {("t", 0): 9 + 2 * SMALL_BATCH, ("t", 1): 9}
    made = reader(note, end)
    assert from_json(made.latestOffset(START, made.getDefaultReadLimit())) == end
    tasks = made.partitions(START, to_json(end))
    firsts = {r.partition: r.first for r in reversed([r for t in tasks for r in t.value[0]])}
    assert firsts == {0: 8, 1: 7}


def test_a_task_that_came_further_than_was_planned_tells_so(tmp_path: Path) -> None:
    note = tmp_path / "note"
    note.write_bytes(orjson.dumps(to_json({("t", 0): 8, ("t", 1): 7})))
    made = reader(note, {("t", 0): 8, ("t", 1): 7})
    end = made.latestOffset(START, made.getDefaultReadLimit())
    assert from_json(end) == {("t", 0): 8, ("t", 1): 7}
    assert made.latestOffset(end, made.getDefaultReadLimit()) == end
