"""Transactions are visible as wholes, in their order, however they are read and restarted."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import hypothesis.strategies as st
from hypothesis import given, settings

from tests.unit.connectors.transacting import Service, again, table


@dataclass(frozen=True)
class Transaction:
    """How many records each of (table, partition) has, and whether it is a snapshot's read."""

    orders: tuple[int, int]
    items: tuple[int, int]
    is_read: bool


counts = st.tuples(st.integers(0, 2), st.integers(0, 2))
transactions = st.lists(
    st.builds(Transaction, counts, counts, st.sampled_from([False] * 5 + [True])), max_size=8
)
# Which topic is written on to next, by how many records; then a batch of some records is read.
moves = st.lists(st.tuples(st.integers(0, 4), st.integers(1, 3), st.integers(0, 4)), max_size=25)


@contextmanager
def directory() -> Iterator[Path]:
    with TemporaryDirectory() as name:
        yield Path(name)


Record = tuple[str | None, int, int]


def queues(some: list[Transaction]) -> tuple[dict[tuple[str, int], list[Record]], list[int]]:
    """What each partition is to hold, in its order, and which transactions have an END."""
    queues: dict[tuple[str, int], list[Record]] = {
        (name, partition): [] for name in ("orders", "items") for partition in (0, 1)
    }
    for number, one in enumerate(some):
        for name, held in (("orders", one.orders), ("items", one.items)):
            for partition, count in enumerate(held):
                name_of = None if one.is_read else f"t{number}"
                queues[name, partition] += [
                    (name_of, 100 * number + 10 * partition + i, number) for i in range(count)
                ]
    return queues, [number for number, one in enumerate(some) if not one.is_read]


@settings(max_examples=25, deadline=None)
@given(transactions, moves, st.data())
def test_each_time_has_one_whole_transaction(
    some: list[Transaction], steps: list[tuple[int, int, int]], data: st.DataObject
) -> None:
    with directory() as root:
        service = Service(root, table("orders"), table("items"))
        waiting, ends = queues(some)
        seen: dict[tuple[str, int], tuple[int, int]] = {}

        def note(changes: list[tuple[int, str, int, int]]) -> None:
            for time, name, key, number in changes:
                assert seen.setdefault((name, key), (time, number)) == (time, number)

        def write(where: int, count: int) -> None:
            if where == 4:
                for number in ends[:count]:
                    one = some[number]
                    service.end(f"t{number}", orders=sum(one.orders), items=sum(one.items))
                del ends[:count]
                return
            key = list(waiting)[where]
            if waiting[key][:count]:
                service.write(key[0], *waiting[key][:count], partition=key[1])
            del waiting[key][:count]

        for where, count, limit in steps:
            write(where, count)
            if limit:
                note(service.read(limit))
            if data.draw(st.booleans()):
                service = again(service)
        for where in range(5):
            write(where, 1000)
        for _ in range(3):
            note(service.read())
        service = again(service)
        note(service.read())
        judge(some, seen)


def judge(some: list[Transaction], seen: dict[tuple[str, int], tuple[int, int]]) -> None:
    """Raise AssertionError unless all is there, transactions at one time each, in their order."""
    assert len(seen) == sum(sum(one.orders) + sum(one.items) for one in some)
    times: dict[int, set[int]] = {}
    for time, number in seen.values():
        if not some[number].is_read:
            times.setdefault(number, set()).add(time)
    assert all(len(found) == 1 for found in times.values())
    in_order = [min(times[number]) for number in sorted(times)]
    assert in_order == sorted(set(in_order))
