"""Readers on other threads, beside steps and installations."""

import itertools
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.expressions import Call, Literal
from ivm.dataflow.nodes import Arrange, Get, Join, Map, Union, columns
from ivm.errors import NotIndexed
from ivm.pool import Pool
from ivm.results import Snapshot

INT = pa.int64()
SCHEMA = pa.schema([pa.field("id", INT, nullable=False), pa.field("amount", INT)])
sales = Get("sales", SCHEMA)


@pytest.fixture
def pool() -> Iterator[Pool]:
    """Eight rows; threads take turns as often as they can."""
    pool, interval = Pool(), sys.getswitchinterval()
    pool.create_input("sales", SCHEMA, ["id"])
    _feed(pool, list(range(8)))
    sys.setswitchinterval(1e-6)
    yield pool
    sys.setswitchinterval(interval)


def _feed(pool: Pool, amounts: list[int], diff: int = 1) -> None:
    rows = [{"id": amount, "amount": amount} for amount in amounts]
    batch = pa.RecordBatch.from_pylist(rows, schema=SCHEMA)
    pool.feed("sales", batch, np.full(len(rows), diff, np.int64), pool.frontier)
    pool.advance(pool.frontier + 1)


def _beside(
    read: Callable[[], Snapshot], write: Callable[[], None], pause: float = 0
) -> list[Snapshot]:
    """What `read` returned, each `pause` seconds while `write` ran; it must not raise."""
    done, seen, failures = threading.Event(), [], []

    def reading() -> None:
        try:
            while not done.wait(pause):
                seen.append(read())
        except Exception as failure:
            failures.append(failure)

    thread = threading.Thread(target=reading)
    thread.start()
    try:
        write()
    finally:
        done.set()
        thread.join()
    assert not failures, failures
    return seen


def test_errors_can_be_counted_while_a_step_adds_others(pool: Pool) -> None:
    _, amount = columns(sales)
    inverses = [Call("divide", (Literal(i, INT), amount), INT, True) for i in range(1, 50)]
    maps = tuple(Map(sales, (("inverse", inverse),)) for inverse in inverses)
    pool.install("inverses", Union(maps), [])

    def write() -> None:
        for _ in range(300):
            _feed(pool, [0], diff=-1)
            _feed(pool, [0])

    seen = _beside(lambda: pool.scan("inverses"), write)
    assert all(found.errors in range(50) for found in seen)


def test_a_look_up_never_meets_an_arrangement_that_is_still_being_made(pool: Pool) -> None:
    pairs = Join(Arrange(sales, (1,)), Arrange(sales, (1,)), (("a", 1), ("b", 2)))

    def look_up() -> Snapshot:
        by_id = pool.peek("sales", {"id": 3})
        try:
            return pool.peek("sales", {"amount": 3})
        except NotIndexed:
            return by_id

    def write() -> None:
        for _ in range(1000):
            pool.install("pairs", pairs, ["a"])
            pool.drop("pairs")

    seen = _beside(look_up, write)
    assert {(found.time, found.rows.num_rows) for found in seen} == {(0, 1)}


def test_a_look_up_by_a_string_finds_it_while_unused_strings_are_released(pool: Pool) -> None:
    fields: list[pa.Field[Any]] = [pa.field("name", pa.string(), nullable=False)]
    schema = pa.schema(fields)
    names = [f"a name of more than seven bytes {i}" for i in range(100_000)]
    pool.create_input("names", schema, ["name"])
    batch = pa.RecordBatch.from_arrays([pa.array(names)], schema=schema)
    pool.feed("names", batch, np.ones(len(names), np.int64), 1)
    pool.advance(2)
    wanted = itertools.cycle(names[::7])

    def write() -> None:
        for time in range(2, 200):
            pool._core.strings.limit = 0
            pool.advance(time + 1)

    seen = _beside(lambda: pool.peek("names", {"name": next(wanted)}), write, pause=3e-4)
    assert {found.rows.num_rows for found in seen} == {1}


def test_a_held_time_reads_the_same_while_steps_compact_what_they_may(pool: Pool) -> None:
    def write() -> None:
        for _ in range(400):
            _feed(pool, [1, 2], diff=-1)
            _feed(pool, [1, 2])

    with pool.hold("sales") as hold:
        _feed(pool, [3], diff=-1)
        seen = _beside(lambda: pool.scan("sales", as_of=hold.time), write)
    assert {(found.time, *found.rows["id"].to_pylist()) for found in seen} == {(0, *range(8))}
