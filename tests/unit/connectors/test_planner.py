"""Micro-batches are bounded and fair, stop at journaled cuts, and cover every record once."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from connectors.errors import TopicTruncated
from connectors.files.writer import TopicWriter
from connectors.spark.control import Control, Cut, Position
from connectors.spark.planner import SMALL_BATCH, Planner, Work, share
from connectors.tables.spec import TableSpec
from tests.unit.connectors.records import table

START = Position(0, {})


def planner(
    root: Path, *names: str, start: Position = START, cuts: tuple[Cut, ...] = ()
) -> Planner:
    tables: Mapping[str, TableSpec] = {f"{name}@0": table(name) for name in names}
    Control(root / "topics", tables, start, cuts).save(root / "control.json")
    return Planner(root / "control.json")


def write(root: Path, topic: str, count: int, partition: int = 0) -> None:
    TopicWriter(root / "topics", topic, partition).append([b"null"] * count)


def covered(work: list[list[Work]]) -> dict[tuple[str, int], list[int]]:
    found: dict[tuple[str, int], list[int]] = {}
    for item in sorted((i for task in work for i in task), key=lambda i: i.span.first):
        offsets = range(item.span.first, item.span.first + item.span.count)
        found.setdefault((item.key, item.partition), []).extend(offsets)
    return found


def test_control_survives_its_file(tmp_path: Path) -> None:
    control = Control(
        tmp_path,
        {"t@2": table("t")},
        Position(3, {"t@2": {0: 4, 10: 5}}),
        (Cut(4, 7, (("t@2", 0, 9),)),),
    )
    control.save(tmp_path / "c")
    assert Control.load(tmp_path / "c") == control


def test_all_that_is_there_is_read_if_it_fits(tmp_path: Path) -> None:
    write(tmp_path, "a", 5)
    write(tmp_path, "a", 3, partition=1)
    write(tmp_path, "b", 2)
    found = planner(tmp_path, "a", "b")
    end = found.latest(START, 100)
    assert end.ends == {"a@0": {0: 5, 1: 3}, "b@0": {0: 2}}
    assert covered(found.tasks(START, end, 2)) == {
        ("a@0", 0): [0, 1, 2, 3, 4],
        ("a@0", 1): [0, 1, 2],
        ("b@0", 0): [0, 1],
    }


def test_batches_are_bounded_and_together_cover_everything_once(tmp_path: Path) -> None:
    write(tmp_path, "a", 50)
    write(tmp_path, "b", 7)
    found = planner(tmp_path, "a", "b")
    position, seen = START, 0
    read: dict[tuple[str, int], list[int]] = {}
    while (end := found.latest(position, 10)) != position:
        batch = covered(found.tasks(position, end, 2))
        assert sum(map(len, batch.values())) <= 10
        for key, offsets in batch.items():
            read.setdefault(key, []).extend(offsets)
        position, seen = end, seen + 1
    assert read == {("a@0", 0): list(range(50)), ("b@0", 0): list(range(7))}
    assert seen == 6


def test_nothing_new_leaves_the_position_as_it_is(tmp_path: Path) -> None:
    write(tmp_path, "a", 5)
    found = planner(tmp_path, "a")
    end = found.latest(START, 100)
    assert found.latest(end, 100) == end
    assert found.tasks(end, end, 2) == []


def test_a_table_added_to_the_file_is_read_from_its_beginning(tmp_path: Path) -> None:
    write(tmp_path, "a", 2)
    write(tmp_path, "b", 3)
    found = planner(tmp_path, "a")
    first = found.latest(START, 100)
    planner(tmp_path, "a", "b")
    second = found.latest(first, 100)
    assert covered(found.tasks(first, second, 2)) == {("b@0", 0): [0, 1, 2]}


def test_a_table_that_left_the_file_is_no_longer_read(tmp_path: Path) -> None:
    write(tmp_path, "a", 2)
    write(tmp_path, "b", 3)
    found = planner(tmp_path, "a", "b")
    end = found.latest(START, 100)
    planner(tmp_path, "a")
    assert covered(found.tasks(START, end, 2)) == {("a@0", 0): [0, 1]}
    assert set(found.latest(end, 100).ends) == {"a@0"}


def test_journaled_cuts_are_passed_whole_before_anything_new(tmp_path: Path) -> None:
    write(tmp_path, "a", 100)
    cuts = (
        Cut(1, 5, (("a@0", 0, 5),)),
        Cut(4, 20, (("a@0", 0, 25),)),
        Cut(5, 3, (("a@0", 0, 28),)),
        Cut(6, 3, (("a@0", 0, 31),)),
    )
    found = planner(tmp_path, "a", cuts=cuts)
    positions = [found.start()]
    for _ in range(4):
        positions.append(found.latest(positions[-1], 10))
    assert [(p.time, p.ends["a@0"][0]) for p in positions[1:]] == [
        (1, 5),
        (4, 25),
        (6, 31),
        (6, 41),
    ]


def test_reading_starts_where_it_is_told(tmp_path: Path) -> None:
    write(tmp_path, "a", 10)
    start = Position(0, {"a@0": {0: 8}})
    found = planner(tmp_path, "a", start=start)
    end = found.latest(found.start(), 100)
    assert covered(found.tasks(start, end, 2)) == {("a@0", 0): [8, 9]}


def test_a_topic_that_is_shorter_than_what_was_read_halts(tmp_path: Path) -> None:
    write(tmp_path, "a", 3)
    found = planner(tmp_path, "a")
    with pytest.raises(TopicTruncated, match="'a', partition 0"):
        found.latest(Position(0, {"a@0": {0: 4}}), 100)


def test_a_partition_that_was_read_and_is_gone_halts(tmp_path: Path) -> None:
    write(tmp_path, "a", 3)
    start = Position(0, {"a@0": {0: 3, 1: 2}})
    found = planner(tmp_path, "a", start=start)
    with pytest.raises(TopicTruncated, match="'a', partition 1: it is gone"):
        found.latest(start, 10)


def test_a_small_batch_is_one_task_and_a_large_one_is_divided_evenly(tmp_path: Path) -> None:
    write(tmp_path, "a", SMALL_BATCH)
    found = planner(tmp_path, "a")
    assert len(found.tasks(START, found.latest(START, 10**9), 2)) == 1
    write(tmp_path, "b", 20 * SMALL_BATCH)
    found = planner(tmp_path, "a", "b")
    loads = [
        sum(item.span.count for item in task)
        for task in found.tasks(START, found.latest(START, 10**9), 2)
    ]
    assert len(loads) == 2
    assert max(loads) < 1.5 * min(loads)


@pytest.mark.parametrize(
    ("available", "limit", "shares"),
    [
        ([5, 5], 100, [5, 5]),
        ([100, 100], 10, [5, 5]),
        ([1, 100], 10, [1, 9]),
        ([100, 2, 100], 12, [5, 2, 5]),
        ([0, 100], 10, [0, 10]),
        ([100, 100, 100], 2, [0, 1, 1]),
    ],
)
def test_the_limit_is_shared_evenly_and_used_up(
    available: list[int], limit: int, shares: list[int]
) -> None:
    given = {("t", n): count for n, count in enumerate(available)}
    assert sorted(share(given, limit).values()) == sorted(shares)
