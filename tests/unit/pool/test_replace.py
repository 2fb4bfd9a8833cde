"""Dataflows that take the names of others at one time: readers, memory, and what reads them."""

import threading
from typing import Literal

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.nodes import Arrange, Get, Join, Negate, Node, Reduce, Union
from ivm.errors import UnknownCollection
from ivm.pool import Pool

INT = pa.int64()
SALES = pa.schema([pa.field("item", INT, nullable=False), pa.field("price", INT, nullable=False)])
sales = Get("sales", SALES)


def reduced(function: Literal["min", "max"]) -> Node:
    return Reduce(sales, (0,), (Aggregate(function, 1, "price", INT, False),))


MOST, LEAST = reduced("max"), reduced("min")
BOTH = pa.schema([*MOST.schema, pa.field("other", INT, nullable=False)])


def joined(name: str) -> Node:
    """The rows of a dataflow, each with the prices of its item."""
    best = Get(name, MOST.schema)
    return Join(Arrange(best, (0,)), Arrange(sales, (0,)), (("item", 0), ("price", 1), ("one", 2)))


@pytest.fixture(params=[1, 2], ids=["one worker", "two workers"])
def pool(request: pytest.FixtureRequest) -> Pool:
    made = Pool(request.param)
    made.create_input("sales", SALES, ["item", "price"])
    made.install("best", MOST, ["item"])
    made.install("over", joined("best"), ["item"])
    sell(made, (1, 5), (1, 7), (2, 3), (2, 9))
    return made


def sell(pool: Pool, *rows: tuple[int, int], diff: int = 1) -> None:
    items, prices = zip(*rows, strict=True)
    batch = pa.record_batch([pa.array(items, INT), pa.array(prices, INT)], schema=SALES)
    pool.feed("sales", batch, np.full(len(rows), diff, np.int64), pool.frontier)
    pool.advance(pool.frontier + 1)


def prepare(pool: Pool) -> None:
    pool.install("best (next)", LEAST, ["item"])
    pool.install("over (next)", joined("best (next)"), ["item"])


def replace(pool: Pool) -> None:
    pool.replace({"best (next)": "best", "over (next)": "over"}, pool.frontier + 1)


def rows(pool: Pool, name: str) -> list[tuple[int, ...]]:
    found = pool.scan(name).rows
    return sorted(zip(*(column.to_pylist() for column in found.columns), strict=True))


def test_the_names_find_the_new_dataflows_as_of_the_time(pool: Pool) -> None:
    prepare(pool)
    time = pool.frontier
    replace(pool)
    assert (rows(pool, "best"), pool.scan("best").time) == ([(1, 5), (2, 3)], time)
    assert rows(pool, "over") == [(1, 5, 5), (1, 5, 7), (2, 3, 3), (2, 3, 9)]
    assert pool.names == {"sales", "best", "over"}


def test_what_comes_afterwards_reaches_all_that_read_them(pool: Pool) -> None:
    prepare(pool)
    replace(pool)
    pool.install("later", joined("best"), ["item"])
    pool.drain("over")
    sell(pool, (2, 1))
    assert rows(pool, "best") == [(1, 5), (2, 1)]
    assert rows(pool, "over") == rows(pool, "later")
    assert set(pool.drain("over").diffs.tolist()) == {-1, 1}


def test_a_replacement_leaves_what_an_installation_makes(pool: Pool) -> None:
    prepare(pool)
    replace(pool)
    fresh = Pool(1)
    fresh.create_input("sales", SALES, ["item", "price"])
    fresh.install("best", LEAST, ["item"])
    fresh.install("over", joined("best"), ["item"])
    names = [(info.name, info.users) for info in pool.arrangements()]
    assert sorted(names) == sorted((info.name, info.users) for info in fresh.arrangements())
    assert pool.explain(joined("best"), ["item"]) == fresh.explain(joined("best"), ["item"])


def test_everything_can_be_dropped_afterwards(pool: Pool) -> None:
    prepare(pool)
    replace(pool)
    for name in ("over", "best"):
        pool.drop(name)
    assert [info.name for info in pool.arrangements()] == ["sales[item, price]"]


def test_replacements_may_follow_one_another(pool: Pool) -> None:
    for _ in range(3):
        prepare(pool)
        replace(pool)
    assert rows(pool, "best") == [(1, 5), (2, 3)]


def test_what_reads_a_former_dataflow_goes_on_with_it(pool: Pool) -> None:
    pool.install("query", Union((Get("best", MOST.schema), Negate(sales))), ["item"])
    prepare(pool)
    replace(pool)
    sell(pool, (2, 11))
    assert (2, 11) not in rows(pool, "best")
    found = pool.scan("query")
    pairs = zip(found.rows["item"].to_pylist(), found.rows["price"].to_pylist(), strict=True)
    counts = dict(zip(pairs, found.counts.tolist(), strict=True))
    assert counts == {(1, 5): -1, (2, 3): -1, (2, 9): -1}
    pool.install("later", joined("best"), ["item"])
    pool.drop("query")
    sell(pool, (2, 1))
    assert rows(pool, "later") == rows(pool, "over")


def test_the_difference_is_kept_up_to_date_by_what_changes(pool: Pool) -> None:
    prepare(pool)
    schema = MOST.schema
    node = Union((Get("best (next)", schema), Negate(Get("best", schema))))
    pool.install("difference", node, ["item", "price"])
    pool.drain("difference")
    sell(pool, (3, 4))
    assert pool.drain("difference").rows.num_rows == 0
    sell(pool, (3, 6))
    found = pool.drain("difference")
    assert list(zip(found.rows["price"].to_pylist(), found.diffs.tolist(), strict=True)) == [
        (6, -1),
        (4, 1),
    ]
    counts = dict(
        zip(
            pool.scan("difference").rows["price"].to_pylist(),
            pool.scan("difference").counts.tolist(),
            strict=True,
        )
    )
    assert counts == {5: 1, 7: -1, 3: 1, 9: -1, 4: 1, 6: -1}


def test_a_name_that_is_free_is_taken(pool: Pool) -> None:
    pool.replace({"best": "finest"}, pool.frontier + 1)
    assert pool.names == {"sales", "finest", "over"}
    sell(pool, (2, 11))
    assert rows(pool, "finest") == [(1, 7), (2, 11)]
    assert (2, 11, 11) in rows(pool, "over")
    pool.install("more", joined("finest"), ["item"])
    assert "finest[item]" in [info.name for info in pool.arrangements()]


def test_an_unknown_dataflow_changes_nothing(pool: Pool) -> None:
    frontier = pool.frontier
    with pytest.raises(UnknownCollection):
        pool.replace({"nothing": "best"}, frontier + 1)
    assert pool.frontier == frontier
    assert rows(pool, "best") == [(1, 7), (2, 9)]


def test_no_reader_sees_one_without_the_other(pool: Pool) -> None:
    prepare(pool)
    time = pool.frontier
    seen: set[tuple[int, bool]] = set()
    stopped = threading.Event()

    def read() -> None:
        while not stopped.is_set():
            found = pool.peek("best", {"item": 1})
            seen.add((found.time or 0, found.rows["price"].to_pylist() == [5]))

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    while not seen:
        pass
    replace(pool)
    while len(seen) < 2:
        pass
    stopped.set()
    for reader in readers:
        reader.join()
    assert seen == {(time - 1, False), (time, True)}
