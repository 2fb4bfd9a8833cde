"""A table that stalls stands still alone: others go on, and it catches up once it is mended."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from connectors.errors import RecordsLost, Stalled, TransactionIncomplete
from connectors.files.reader import TopicReader, records
from connectors.files.writer import TopicWriter
from connectors.ingest.delivery import Delivery
from connectors.ingest.settings import Isolation
from connectors.progress import resolution
from connectors.progress.batches import TimedBatch
from connectors.progress.journal import Journal
from connectors.quarantine.store import Quarantine
from connectors.spark.chunks import SCHEMA, encode
from connectors.tables.spec import TableSpec
from tests.unit.connectors import transacting
from tests.unit.connectors.records import insert, record, table

SPECS = (table("people", "stall"), table("pets", "stall"))
POISON = b"{bad"


class World:
    """Two tables over topics of files, and a delivery that reads what it is told."""

    def __init__(
        self, root: Path, isolation: Isolation = "table", specs: tuple[TableSpec, ...] = SPECS
    ) -> None:
        self.root = root
        self.isolation = isolation
        self.specs = specs
        self.open()

    def open(self) -> None:
        """Begin as a new process does."""
        self.journal = Journal(self.root / "journal")
        self.quarantine = Quarantine(self.root / "quarantine")
        self.batches: list[TimedBatch] = []
        self.delivery = Delivery(self.journal, self.quarantine, self, isolation=self.isolation)
        for spec in self.specs:
            self.delivery.add_table(spec.name, spec)
        self.delivery.open()

    def restart(self) -> None:
        """End, at any moment, and begin again."""
        self.journal.close()
        self.quarantine.close()
        self.open()

    def receive(self, batch: TimedBatch) -> None:
        self.batches.append(batch)
        if not batch.committed:
            self.journal.commit(batch.time, {})

    def write(self, topic: str, *values: bytes, partition: int = 0) -> None:
        writer = TopicWriter(self.root / "topics", topic, partition)
        writer.append(values)
        writer.close()

    def read(self, **most: int) -> None:
        """Deliver what these tables have beyond their positions, at most so many records of each.

        Without any, all that all of them have.
        """
        rows = []
        for spec in self.specs:
            if most and spec.name not in most:
                continue
            reader = TopicReader(self.root / "topics", spec.topic)
            for partition, end in reader.ends().items():
                first = self.delivery.positions().get((spec.name, partition), 0)
                end = min(end, first + most.get(spec.name, end))
                spans = reader.spans(partition, first, end)
                rows += [encode(spec.name, spec, records(span, partition)) for span in spans]
        if rows:
            self.delivery.deliver(pa.Table.from_batches(rows, SCHEMA))

    def stall(self) -> str:
        """Deliver all that there is, of which something stalls; why it does."""
        with pytest.raises(Stalled) as raised:
            self.read()
        return str(raised.value)

    def mend(self, name: str) -> None:
        """Let a table put bad records aside, and go on."""
        spec = table(name, "quarantine")
        self.specs = tuple(spec if known.name == name else known for known in self.specs)
        self.delivery.add_table(name, spec)
        self.delivery.end_stalls([name])

    def ids(self, name: str) -> list[int]:
        found = [b.tables[name].rows["id"].to_pylist() for b in self.batches if name in b.tables]
        return [number for part in found for number in part if number is not None]

    def times(self) -> list[tuple[int, bool, int]]:
        """Each time that came, whether it was committed, and its records."""
        return [(b.time, b.committed, b.records) for b in self.batches]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.journal.close()
    made.quarantine.close()


def test_others_go_on_in_the_batch_that_stalls_and_after_it(world: World) -> None:
    world.write("people", insert(1), POISON, insert(2))
    world.write("pets", insert(7))
    assert "table 'people', topic 'people', partition 0, offset 1: not-json" in world.stall()
    assert (world.ids("people"), world.ids("pets")) == ([1], [7])
    world.write("people", insert(3))
    world.write("pets", insert(8))
    world.read()
    assert (world.ids("people"), world.ids("pets")) == ([1], [7, 8])
    assert world.batches[-1].offsets.by_source() == {"people": {0: 1}, "pets": {0: 2}}
    assert set(world.delivery.stalls) == {"people"}


def test_a_table_that_is_mended_catches_up_from_where_it_stood_and_once(world: World) -> None:
    world.write("people", insert(1), POISON, insert(2))
    world.stall()
    world.write("people", insert(3))
    world.write("pets", insert(7))
    world.read()
    world.mend("people")
    world.read()
    assert world.ids("people") == [1, 2, 3]
    assert [found.record.offset for found in world.quarantine.page(9)] == [1]
    assert world.delivery.stalls == {}


def test_a_skipped_record_lets_its_table_go_on_to_the_next_that_stalls(world: World) -> None:
    world.write("people", POISON, insert(1), POISON)
    world.stall()
    world.delivery.skip(("people", 0, 0))
    world.delivery.end_stalls(["people"])
    assert "offset 2" in world.stall()
    assert world.ids("people") == [1]


def test_each_partition_stands_before_its_own_bad_record(world: World) -> None:
    world.write("people", insert(1), POISON)
    world.write("people", insert(2), insert(3), POISON, partition=1)
    world.stall()
    assert world.delivery.positions() == {("people", 0): 1, ("people", 1): 2}
    world.mend("people")
    world.read()
    assert sorted(world.ids("people")) == [1, 2, 3]
    assert world.delivery.positions() == {("people", 0): 2, ("people", 1): 3}


def test_two_tables_stall_each_for_its_own_reason(world: World) -> None:
    for name in ("people", "pets"):
        world.write(name, insert(1), POISON)
    world.stall()
    assert {n: stall.place for n, stall in world.delivery.stalls.items()} == {
        "people": ("people", 0, 1),
        "pets": ("pets", 0, 1),
    }
    world.mend("pets")
    assert set(world.delivery.stalls) == {"people"}


def test_tables_of_one_topic_stall_apart(tmp_path: Path) -> None:
    strict, loose = table("strict", "stall"), table("loose")
    specs = [TableSpec(s.name, "t", s.schema, s.key, on_error=s.on_error) for s in (strict, loose)]
    world = World(tmp_path, specs=tuple(specs))
    world.write("t", insert(1), POISON, insert(2))
    world.stall()
    assert (world.ids("strict"), world.ids("loose")) == ([1], [1, 2])


def test_a_truncation_that_stalls_leaves_the_other_table_alone(world: World) -> None:
    world.write("people", insert(1), record("t"))
    world.write("people", insert(2), partition=1)
    world.write("pets", insert(7))
    assert "the table was truncated" in world.stall()
    assert (world.ids("people"), world.ids("pets")) == ([1, 2], [7])


def test_where_all_wait_nothing_of_the_batch_is_taken(tmp_path: Path) -> None:
    world = World(tmp_path, "all")
    world.write("people", POISON)
    world.write("pets", insert(7))
    world.stall()
    assert world.batches == []
    assert world.delivery.stalls == {}
    assert not world.delivery.stall(RecordsLost("gone", table="people"), "people")


def test_a_restart_comes_back_with_the_same_times_and_the_same_stall(world: World) -> None:
    world.write("people", insert(1), POISON, insert(2))
    world.write("pets", insert(7))
    world.stall()
    world.write("pets", insert(8))
    world.read()
    before = [(b.time, b.ranges, b.moment) for b in world.batches]
    world.restart()
    world.stall()
    assert [(b.time, b.ranges, b.moment) for b in world.batches] == before
    assert set(world.delivery.stalls) == {"people"}
    world.write("pets", insert(9))
    world.read()
    assert world.times()[-1] == (3, False, 1)
    world.mend("people")
    world.read()
    assert (world.ids("people"), world.ids("pets")) == ([1, 2], [7, 8, 9])


def test_a_new_bad_record_that_comes_amid_a_replay_holds_nothing_journaled_up(
    world: World,
) -> None:
    world.write("people", insert(1), insert(2))
    world.write("pets", insert(7), insert(8))
    world.read(people=1)
    world.read(people=1, pets=1)
    world.read(pets=1)
    world.write("people", POISON, insert(3))
    world.restart()
    with pytest.raises(Stalled):
        world.read(people=4)  # more than was journaled, while times of pets are still to come
    assert world.times() == [(1, True, 1)]
    world.read(pets=2)
    assert world.times() == [(1, True, 1), (2, True, 2), (3, True, 1)]
    world.read()
    assert world.times()[3:] == []
    world.mend("people")
    world.read()
    assert (world.ids("people"), world.ids("pets")) == ([1, 2, 3], [7, 8])


def test_a_table_whose_journaled_records_are_still_to_come_cannot_stand_still(
    world: World,
) -> None:
    world.write("people", insert(1))
    world.write("pets", insert(7))
    world.read()
    world.restart()
    lost = RecordsLost("gone", table="people")
    assert not world.delivery.stall(lost, "people")
    world.read()
    assert world.delivery.stall(lost, "people")


def test_a_table_that_is_removed_takes_its_stall_along(world: World) -> None:
    world.write("people", POISON)
    world.stall()
    with world.delivery.between_batches():
        world.delivery.remove_table("people")
    assert world.delivery.stalls == {}


# --- transactions ---


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[transacting.Service]:
    """Orders and items, which share transactions, and visits, which are in none."""
    specs = transacting.table("orders"), transacting.table("items")
    visits = transacting.table("visits", "batch")
    service = transacting.Service(tmp_path, *specs, visits)
    yield service
    service.journal.close()


def poisoned(shop: transacting.Service) -> list[tuple[int, str, int, int]]:
    """The changes that come of a whole transaction before one with a bad record, and of visits."""
    strict = transacting.table("orders", on_error="stall")
    shop.delivery.add_table("orders", strict)
    shop.write("orders", ("a", 1, 0))
    shop.write("items", ("a", 10, 0), ("b", 11, 0))
    shop.append("shop.public.orders", 0, ["no envelope"])  # the one of transaction b
    shop.write("orders", ("b", 2, 0))
    shop.write("visits", (None, 5, 0))
    shop.end("a", orders=1, items=1)
    shop.end("b", orders=2, items=1)
    before = len(shop.batches)
    with pytest.raises(Stalled, match="'orders'"):
        shop.read()
    return [change for batch in shop.batches[before:] for change in transacting.changes(batch)]


def test_tables_of_one_transaction_stall_together_and_before_it(shop: transacting.Service) -> None:
    changes = [(name, key) for _, name, key, _ in poisoned(shop)]
    assert sorted(changes) == [("items", 10), ("orders", 1), ("visits", 5)]
    assert {"orders", "items"} < set(shop.delivery.stalls)
    assert "visits" not in shop.delivery.stalls
    shop.read_to = dict(shop.delivery.positions())
    shop.write("items", ("c", 12, 0))
    shop.write("visits", (None, 6, 0))
    assert [(name, key) for _, name, key, _ in shop.read()] == [("visits", 6)]


def test_a_transaction_that_stalled_comes_whole_once_it_is_mended(
    shop: transacting.Service,
) -> None:
    poisoned(shop)
    shop.delivery.add_table("orders", transacting.table("orders"))
    shop.retry("orders")
    found = shop.read()
    assert [(name, key) for _, name, key, _ in found] == [("items", 11), ("orders", 2)]
    assert len({time for time, *_ in found}) == 1


@pytest.mark.parametrize("limit", ["HELD_RECORDS", "HELD_SECONDS"])
def test_a_transaction_that_is_waited_for_in_vain_stalls_its_tables_alone(
    shop: transacting.Service, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    shop.write("orders", ("a", 1, 0), ("a", 2, 0))
    if limit == "HELD_SECONDS":
        assert shop.read() == []
    monkeypatch.setattr(resolution, limit, 0)
    shop.write("visits", (None, 5, 0))
    with pytest.raises(TransactionIncomplete):
        shop.read()
    assert [c[1:3] for c in transacting.changes(shop.batches[-1])] == [("visits", 5)]
    assert "visits" not in shop.delivery.stalls
    monkeypatch.undo()
    shop.end("a", orders=2)
    shop.retry("items")  # any of them
    assert [change[1:3] for change in shop.read()] == [("orders", 1), ("orders", 2)]


def other_topic(tables: Callable[[str], TableSpec]) -> TableSpec:
    """A table whose transactions have their boundaries in another topic."""
    spec = tables("loans")
    return TableSpec(
        spec.name,
        spec.topic,
        spec.schema,
        spec.key,
        resolution="transaction",
        transaction_topic="bank.transactions",
        on_error="quarantine",
    )


def test_each_topic_of_transactions_is_waited_for_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    specs = transacting.table("orders"), other_topic(transacting.table)
    service = transacting.Service(tmp_path, *specs)
    service.write("orders", ("a", 1, 0))
    service.read()
    monkeypatch.setattr(resolution, "HELD_SECONDS", 0)
    service.write("loans", (None, 5, 0))
    with pytest.raises(TransactionIncomplete, match="'a' has records"):
        service.read()
    assert "loans" not in service.delivery.stalls
    service.journal.close()
