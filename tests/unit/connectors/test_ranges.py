"""Ranges of Kafka topics are cut into even tasks, which cover each offset once."""

from connectors.kafka.fetch import OffsetRange
from connectors.spark.planner import SMALL_BATCH
from connectors.spark.ranges import from_json, shares, to_json


def covered(tasks: list[list[OffsetRange]]) -> list[tuple[str, int, int]]:
    return sorted(
        (r.topic, r.partition, offset)
        for task in tasks
        for r in task
        for offset in range(r.first, r.end)
    )


def test_what_is_little_is_one_task() -> None:
    ranges = [OffsetRange("a", 0, 5, 10), OffsetRange("b", 1, 0, SMALL_BATCH - 5)]
    assert shares(ranges, 4) == [ranges]


def test_shares_are_even_and_cover_each_offset_once() -> None:
    ranges = [OffsetRange("a", 0, 7, 2 * SMALL_BATCH), OffsetRange("a", 1, 0, 100)]
    ranges.append(OffsetRange("b", 0, 3, 5_000))
    tasks = shares(ranges, 3)
    sizes = [sum(r.end - r.first for r in task) for task in tasks]
    assert len(tasks) == 3
    assert max(sizes) - min(sizes) <= 3
    assert covered(tasks) == covered([ranges])


def test_a_task_has_each_partition_once() -> None:
    tasks = shares([OffsetRange("a", p, 0, SMALL_BATCH) for p in range(5)], 2)
    for task in tasks:
        places = [(r.topic, r.partition) for r in task]
        assert len(places) == len(set(places))


def test_nothing_is_no_task() -> None:
    assert shares([], 2) == []


def test_positions_survive_sparks_form() -> None:
    ends = {("a", 0): 5, ("a", 10): 7, ("b", 0): 0}
    assert from_json(to_json(ends)) == ends
