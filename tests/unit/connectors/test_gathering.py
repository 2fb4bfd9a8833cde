"""A micro-batch is passed on once all of its tasks have given their part, in the tasks' order."""

import threading

import pyarrow as pa

from connectors.spark.chunks import SCHEMA
from connectors.spark.endpoint import WHOLE, Part, parts_of
from connectors.spark.gathering import Gathering


def chunk(first: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([{"key": "t@0", "first": first}], SCHEMA)


def firsts(batches: list[pa.Table]) -> list[list[int]]:
    return [batch["first"].to_numpy().tolist() for batch in batches]


def test_parts_come_in_any_order_and_are_passed_on_in_that_of_tasks() -> None:
    got: list[pa.Table] = []
    gathering = Gathering(got.append)
    one, two, three = parts_of("kafka", 0, 3)
    gathering.take(three, [chunk(4)])
    gathering.take(one, [chunk(0), chunk(1)])
    assert got == []
    gathering.take(two, [])
    assert firsts(got) == [[0, 1, 4]]


def test_a_part_that_comes_again_is_left_out() -> None:
    got: list[pa.Table] = []
    gathering = Gathering(got.append)
    one, two = parts_of("kafka", 7, 2)
    for part in (one, one, two, one, two):
        gathering.take(part, [chunk(part.task)])
    assert firsts(got) == [[0, 1]]


def test_sources_are_apart() -> None:
    got: list[pa.Table] = []
    gathering = Gathering(got.append)
    gathering.take(Part("a", 0, 0, 2), [chunk(0)])
    gathering.take(Part("b", 0, 1, 2), [chunk(1)])
    assert got == []
    gathering.take(Part("b", 0, 0, 2), [chunk(2)])
    gathering.take(Part("a", 0, 1, 2), [chunk(3)])
    assert firsts(got) == [[2, 1], [0, 3]]


def test_what_one_task_gives_is_whole_and_nothing_is_passed_on_too() -> None:
    got: list[pa.Table] = []
    gathering = Gathering(got.append)
    gathering.take(WHOLE, [chunk(0)])
    gathering.take(WHOLE, [chunk(1)])
    gathering.take(WHOLE, [])
    assert firsts(got) == [[0], [1], []]


def test_only_the_last_task_waits_for_room() -> None:
    go_on = threading.Event()
    gathering = Gathering(lambda _: assert_true(go_on.wait(10)))
    one, two = parts_of("kafka", 0, 2)
    gathering.take(one, [chunk(0)])
    last = threading.Thread(target=gathering.take, args=(two, [chunk(1)]))
    last.start()
    gathering.take(Part("files", 0, 0, 2), [chunk(2)])
    assert last.is_alive()
    go_on.set()
    last.join(10)


def assert_true(done: bool) -> None:
    assert done
