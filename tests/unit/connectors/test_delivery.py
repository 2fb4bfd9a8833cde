"""The protocol between journal, quarantine and receiver, with real files and without Spark."""

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import pyarrow as pa
import pytest
import structlog
from structlog.contextvars import merge_contextvars
from structlog.testing import capture_logs

from connectors.errors import PipelineFailed, RegistryUnavailable, ReplayUnderWay, Stalled
from connectors.files.reader import TopicReader, records
from connectors.files.writer import TopicWriter
from connectors.ingest.delivery import Delivery
from connectors.progress.batches import Range, Receiver, TimedBatch
from connectors.progress.journal import Entry, Journal
from connectors.quarantine.store import Quarantine, Rejected, Repair
from connectors.spark.chunks import SCHEMA, encode
from connectors.tables.spec import TableSpec
from tests.unit.connectors.records import insert, record, table

# Where the second record of topic people stands.
BAD = ("people", 0, 1)


class Recorder:
    """A receiver that commits each time and remembers what it got."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.batches: list[TimedBatch] = []

    def receive(self, batch: TimedBatch) -> None:
        """Remember, commit."""
        self.batches.append(batch)
        if not batch.committed:
            self.journal.commit(batch.time, {})

    def ids(self) -> list[tuple[int, bool, list[int | None]]]:
        """Per batch: time, committed?, the ids of table people."""
        return [
            (b.time, b.committed, b.tables["people"].rows["id"].to_pylist()) for b in self.batches
        ]


class Broken:
    """A receiver that fails at its first batch."""

    def receive(self, batch: TimedBatch) -> None:
        """Fail."""
        raise RuntimeError("broken")


class Telling:
    """A receiver that logs."""

    def receive(self, batch: TimedBatch) -> None:
        """Log."""
        structlog.get_logger().info("applying")


class LastBroken:
    """A receiver that fails at the first batch that it has to publish."""

    def receive(self, batch: TimedBatch) -> None:
        """Fail, unless it is a replay."""
        if not batch.committed:
            raise RuntimeError("broken")


@pytest.fixture
def topics(tmp_path: Path) -> Path:
    return tmp_path / "topics"


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal")


@pytest.fixture
def quarantine(tmp_path: Path) -> Quarantine:
    return Quarantine(tmp_path / "quarantine")


def open_delivery(
    journal: Journal, quarantine: Quarantine, receiver: Receiver, *specs: TableSpec
) -> Delivery:
    delivery = Delivery(journal, quarantine, receiver)
    for spec in specs or (table(),):
        delivery.add_table(f"{spec.name}@0", spec)
    delivery.open()
    return delivery


def batch(
    topics: Path,
    ranges: Sequence[tuple[int, int]],
    spec: TableSpec | None = None,
    partition: int = 0,
) -> pa.Table:
    """A micro-batch as Spark brings it, with these ranges of one partition."""
    spec = spec or table()
    reader = TopicReader(topics, spec.topic)
    reader.ends()
    rows = [
        encode(f"{spec.name}@0", spec, records(span, partition))
        for first, end in ranges
        for span in reader.spans(partition, first, end)
    ]
    return pa.Table.from_batches(rows, SCHEMA)


def test_what_is_logged_amid_a_batch_has_its_time_and_offsets(
    topics: Path, journal: Journal, quarantine: Quarantine
) -> None:
    TopicWriter(topics, "people").append([insert(1), insert(2)])
    with capture_logs(processors=[merge_contextvars]) as told:
        open_delivery(journal, quarantine, Telling()).deliver(batch(topics, [(0, 2)]))
    [event] = told
    assert (event["time"], event["offsets"]) == (1, {"people": {"0": (0, 2)}})


def test_a_batch_is_journaled_delivered_and_committed(
    topics: Path, journal: Journal, quarantine: Quarantine
) -> None:
    TopicWriter(topics, "people").append([insert(1), record("d", {"id": 1, "name": "a"})])
    receiver = Recorder(journal)
    open_delivery(journal, quarantine, receiver).deliver(batch(topics, [(0, 2)]))
    (got,) = receiver.batches
    assert got.tables["people"].diffs.tolist() == [1, -1]
    assert got.tables["people"].rows.schema == table().schema
    assert got.tables["people"].ts_ms.tolist() == [1_700_000_000_000] * 2
    assert got.ranges == (Range("people", "people", 0, 0, 2),)
    assert got.offsets.by_topic() == {"people": {0: 2}}
    assert (got.time, got.records, got.rejected, got.committed) == (1, 2, 0, False)
    assert journal.entries() == [Entry(1, got.ranges, got.moment)]
    assert journal.committed_time == 1


def test_chunks_of_one_partition_come_in_order_as_one_range(
    topics: Path, journal: Journal, quarantine: Quarantine
) -> None:
    TopicWriter(topics, "people").append([insert(n) for n in range(6)])
    receiver = Recorder(journal)
    out_of_order = batch(topics, [(4, 6), (0, 2), (2, 4)])
    open_delivery(journal, quarantine, receiver).deliver(out_of_order)
    assert receiver.ids() == [(1, False, [0, 1, 2, 3, 4, 5])]
    assert receiver.batches[0].ranges == (Range("people", "people", 0, 0, 6),)


def test_a_batch_delivered_twice_is_applied_once(
    topics: Path, journal: Journal, quarantine: Quarantine
) -> None:
    TopicWriter(topics, "people").append([insert(n) for n in range(4)])
    receiver = Recorder(journal)
    delivery = open_delivery(journal, quarantine, receiver)
    delivery.deliver(batch(topics, [(0, 2)]))
    delivery.deliver(batch(topics, [(0, 2)]))
    delivery.deliver(batch(topics, [(1, 4)]))
    assert receiver.ids() == [(1, False, [0, 1]), (2, False, [2, 3])]


def test_after_a_restart_the_same_times_come_again_and_then_new_ones(
    topics: Path, journal: Journal, quarantine: Quarantine
) -> None:
    TopicWriter(topics, "people").append([insert(n) for n in range(5)])
    delivery = open_delivery(journal, quarantine, Recorder(journal))
    delivery.deliver(batch(topics, [(0, 1)]))
    delivery.deliver(batch(topics, [(1, 3)]))
    receiver = Recorder(journal)
    open_delivery(journal, quarantine, receiver).deliver(batch(topics, [(0, 5)]))
    assert receiver.ids() == [(1, True, [0]), (2, True, [1, 2]), (3, False, [3, 4])]
    assert [b.offsets.ends("people")[0] for b in receiver.batches] == [1, 3, 5]


def test_a_time_that_was_prepared_but_not_applied_comes_again_uncommitted(
    topics: Path, journal: Journal, quarantine: Quarantine
) -> None:
    TopicWriter(topics, "people").append([insert(n) for n in range(2)])
    with pytest.raises(RuntimeError, match="broken"):
        open_delivery(journal, quarantine, Broken()).deliver(batch(topics, [(0, 1)]))
    receiver = Recorder(journal)
    open_delivery(journal, quarantine, receiver).deliver(batch(topics, [(0, 2)]))
    assert receiver.ids() == [(1, False, [0]), (2, False, [1])]


def test_rejected_records_are_kept_once_across_a_replay(
    topics: Path, journal: Journal, quarantine: Quarantine
) -> None:
    TopicWriter(topics, "people").append([insert(1), b"{bad", insert(2)])
    for _ in range(2):
        receiver = Recorder(journal)
        open_delivery(journal, quarantine, receiver).deliver(batch(topics, [(0, 3)]))
        assert receiver.ids()[0][2] == [1, 2]
        assert receiver.batches[0].rejected == 1
    kept = quarantine.page(10)[0].record
    assert (kept.topic, kept.partition, kept.offset) == ("people", 0, 1)
    assert (kept.reason, kept.value) == ("not-json", b"{bad")


def test_a_stalling_table_stops_before_the_batch_is_journaled(
    topics: Path, journal: Journal, quarantine: Quarantine
) -> None:
    TopicWriter(topics, "people").append([insert(1), b"{bad"])
    receiver = Recorder(journal)
    delivery = open_delivery(journal, quarantine, receiver, table(on_error="stall"))
    delivery.deliver(batch(topics, [(0, 1)]))
    with pytest.raises(Stalled, match="topic 'people', partition 0, offset 1: not-json"):
        delivery.deliver(batch(topics, [(1, 2)]))
    assert journal.last_time == 1
    assert quarantine.page(10) == []
    assert receiver.ids() == [(1, False, [1])]


def test_delivery_goes_on_after_a_stall_once_the_table_quarantines(
    topics: Path, journal: Journal, quarantine: Quarantine
) -> None:
    TopicWriter(topics, "people").append([b"{bad", insert(1)])
    receiver = Recorder(journal)
    delivery = open_delivery(journal, quarantine, receiver, table(on_error="stall"))
    with pytest.raises(Stalled):
        delivery.deliver(batch(topics, [(0, 2)]))
    delivery.add_table("people@0", table(on_error="quarantine"))
    delivery.end_stalls(["people"])
    delivery.deliver(batch(topics, [(0, 2)]))
    assert receiver.ids() == [(1, False, [1])]


def test_records_of_an_unknown_table_are_left_out(
    topics: Path, journal: Journal, quarantine: Quarantine
) -> None:
    TopicWriter(topics, "people").append([insert(1)])
    receiver = Recorder(journal)
    delivery = open_delivery(journal, quarantine, receiver, table("others"))
    delivery.deliver(batch(topics, [(0, 1)]))
    assert receiver.batches == []


def test_a_removed_table_is_forgotten(
    topics: Path, journal: Journal, quarantine: Quarantine
) -> None:
    TopicWriter(topics, "people").append([insert(1)])
    delivery = open_delivery(journal, quarantine, Recorder(journal))
    delivery.deliver(batch(topics, [(0, 1)]))
    with delivery.between_batches():
        delivery.remove_table("people")
    assert journal.positions() == {}
    assert delivery.reached() == {}


def test_nothing_is_delivered_once_closed(
    topics: Path, journal: Journal, quarantine: Quarantine
) -> None:
    TopicWriter(topics, "people").append([insert(1)])
    receiver = Recorder(journal)
    delivery = open_delivery(journal, quarantine, receiver)
    delivery.close()
    delivery.deliver(batch(topics, [(0, 1)]))
    assert receiver.batches == []
    assert journal.last_time == 0


def test_tables_on_one_topic_reflect_the_least_of_their_offsets(
    topics: Path, journal: Journal, quarantine: Quarantine
) -> None:
    TopicWriter(topics, "people").append([insert(n) for n in range(3)])
    other = TableSpec("others", "people", table().schema, ("id",))
    receiver = Recorder(journal)
    delivery = open_delivery(journal, quarantine, receiver, table(), other)
    delivery.deliver(pa.concat_tables([batch(topics, [(0, 3)]), batch(topics, [(0, 2)], other)]))
    assert receiver.batches[0].offsets.by_topic() == {"people": {0: 2}}
    assert set(receiver.batches[0].tables) == {"people", "others"}


def test_a_tick_is_a_time_of_its_own_that_is_not_replayed(
    topics: Path, journal: Journal, quarantine: Quarantine
) -> None:
    TopicWriter(topics, "people").append([insert(1), insert(2)])
    receiver = Recorder(journal)
    delivery = open_delivery(journal, quarantine, receiver)
    delivery.deliver(batch(topics, [(0, 1)]))
    delivery.tick()
    first, tick = receiver.batches
    assert (tick.time, tick.ranges, tick.offsets) == (2, (), first.offsets)
    assert tick.moment >= first.moment
    assert journal.committed_time == 2
    assert journal.committed_moment == tick.moment
    again = Recorder(journal)
    restarted = open_delivery(journal, quarantine, again)
    restarted.tick()
    assert again.batches == [], "not while a replay is under way"
    restarted.deliver(batch(topics, [(0, 2)]))
    assert [(b.time, b.committed) for b in again.batches] == [(1, True), (3, False)]
    assert again.batches[0].moment == first.moment


def test_a_tick_whose_publication_a_crash_cut_short_is_replayed_as_the_time_that_it_was(
    topics: Path, journal: Journal, quarantine: Quarantine
) -> None:
    TopicWriter(topics, "people").append([insert(1)])
    delivery = open_delivery(journal, quarantine, Recorder(journal))
    delivery.deliver(batch(topics, [(0, 1)]))
    journal.prepare(2, (), 7)
    again = Recorder(journal)
    open_delivery(journal, quarantine, again).deliver(batch(topics, [(0, 1)]))
    assert [(b.time, b.committed) for b in again.batches] == [(1, True), (2, False)]
    assert (again.batches[1].moment, again.batches[1].tables) == (7, {})
    assert journal.committed_time == 2


def test_a_new_record_at_fault_does_not_hold_up_the_replay_before_it(
    topics: Path, journal: Journal, quarantine: Quarantine
) -> None:
    TopicWriter(topics, "people").append([insert(1), insert(2), b"{bad"])
    stalling = table(on_error="stall")
    delivery = open_delivery(journal, quarantine, Recorder(journal), stalling)
    delivery.deliver(batch(topics, [(0, 1)], stalling))
    again = Recorder(journal)
    restarted = open_delivery(journal, quarantine, again, stalling)
    with pytest.raises(Stalled, match="offset 2"):
        restarted.deliver(batch(topics, [(0, 3)], stalling))
    assert [(b.time, b.committed) for b in again.batches] == [(1, True), (2, False)]
    assert restarted.positions() == {("people", 0): 2}
    restarted.skip(("people", 0, 2))
    restarted.end_stalls(["people"])
    restarted.deliver(batch(topics, [(1, 3)], stalling))
    assert [(b.time, b.records) for b in again.batches] == [(1, 1), (2, 1), (3, 1)]


def test_a_repaired_record_is_applied_at_a_new_time_and_once(
    topics: Path, journal: Journal, quarantine: Quarantine
) -> None:
    TopicWriter(topics, "people").append([insert(1), b"{bad", insert(3)])
    receiver = Recorder(journal)
    delivery = open_delivery(journal, quarantine, receiver)
    delivery.deliver(batch(topics, [(0, 3)]))
    quarantine.fix(BAD, Repair(None, insert(2)))
    outcome = delivery.correct([BAD], None)
    assert (outcome.time, outcome.refused) == (2, ())
    assert quarantine.get(BAD).time == 2
    again = delivery.correct([BAD], None)
    assert (again.time, [r.error.code for r in again.refused]) == (None, ["record-closed"])
    delivery.deliver(batch(topics, [(0, 3)]))
    assert receiver.ids() == [(1, False, [1, 3]), (2, False, [2])]
    assert receiver.batches[1].corrections == outcome.corrections
    assert receiver.batches[1].offsets == receiver.batches[0].offsets


def test_a_record_that_still_cannot_be_decoded_stays(
    topics: Path, journal: Journal, quarantine: Quarantine
) -> None:
    TopicWriter(topics, "people").append([b"{bad"])
    receiver = Recorder(journal)
    delivery = open_delivery(journal, quarantine, receiver)
    delivery.deliver(batch(topics, [(0, 1)]))
    place = ("people", 0, 0)
    quarantine.fix(place, Repair(None, b"{worse"))
    (refusal,) = delivery.correct([place], None).refused
    assert refusal.error.code == "still-rejected"
    assert "offset 0: not-json" in str(refusal.error)
    assert quarantine.get(place).status == "open"
    assert journal.last_time == 1


@pytest.mark.parametrize("committed", [True, False])
def test_a_correction_comes_again_at_its_time_after_a_restart(
    topics: Path, journal: Journal, quarantine: Quarantine, committed: bool
) -> None:
    TopicWriter(topics, "people").append([insert(1), b"{bad", insert(3)])
    open_delivery(journal, quarantine, Recorder(journal)).deliver(batch(topics, [(0, 2)]))
    quarantine.fix(BAD, Repair(None, insert(2)))
    replaying = open_delivery(journal, quarantine, Recorder(journal) if committed else LastBroken())
    replaying.deliver(batch(topics, [(0, 2)]))
    with nullcontext() if committed else pytest.raises(PipelineFailed, match="broken"):
        replaying.correct([BAD], None)
    receiver = Recorder(journal)
    restarted = open_delivery(journal, quarantine, receiver)
    restarted.deliver(batch(topics, [(0, 3)]))
    assert receiver.ids() == [(1, True, [1]), (2, committed, [2]), (3, False, [3])]
    assert restarted.correct([BAD], None).time is None


def test_corrections_with_nothing_before_them_come_when_delivery_opens(
    topics: Path, journal: Journal, quarantine: Quarantine
) -> None:
    quarantine.add([Rejected(*BAD[:1], "people", *BAD[1:], "not-json", "", insert(2), 0)])
    open_delivery(journal, quarantine, Recorder(journal)).correct([BAD], None)
    receiver = Recorder(journal)
    assert open_delivery(journal, quarantine, receiver).pending == []
    assert receiver.ids() == [(1, True, [2])]


def test_a_replay_waits_for_the_registry_that_a_correction_needs(
    topics: Path, journal: Journal, quarantine: Quarantine
) -> None:
    TopicWriter(topics, "people").append([insert(1), b"{bad"])
    delivery = open_delivery(journal, quarantine, Recorder(journal))
    delivery.deliver(batch(topics, [(0, 2)]))
    quarantine.fix(BAD, Repair(None, insert(2)))
    delivery.correct([BAD], None)
    is_away = True

    def schemas(_: TableSpec) -> None:
        if is_away:
            raise RegistryUnavailable("the registry is down")

    receiver = Recorder(journal)
    restarted = Delivery(journal, quarantine, receiver, schemas)
    restarted.add_table("people@0", table())
    for attempt in (restarted.open, lambda: restarted.deliver(batch(topics, [(0, 2)]))):
        with pytest.raises(RegistryUnavailable):
            attempt()
    assert receiver.batches == []
    is_away = False
    restarted.open()
    restarted.deliver(batch(topics, [(0, 2)]))
    assert receiver.ids() == [(1, True, [1]), (2, True, [2])]


def test_records_of_a_dropped_table_are_not_applied_to_its_successor(
    topics: Path, journal: Journal, quarantine: Quarantine
) -> None:
    TopicWriter(topics, "people").append([insert(1), b"{bad"])
    delivery = open_delivery(journal, quarantine, Recorder(journal))
    delivery.deliver(batch(topics, [(0, 2)]))
    with delivery.between_batches():
        delivery.remove_table("people")
    assert quarantine.get(BAD).status == "orphaned"
    delivery.add_table("people@1", table())
    (refusal,) = delivery.correct([BAD], None).refused
    assert refusal.error.code == "record-closed"


def test_corrections_wait_for_the_end_of_a_replay(
    topics: Path, journal: Journal, quarantine: Quarantine
) -> None:
    TopicWriter(topics, "people").append([insert(1), b"{bad"])
    open_delivery(journal, quarantine, Recorder(journal)).deliver(batch(topics, [(0, 2)]))
    restarted = open_delivery(journal, quarantine, Recorder(journal))
    with pytest.raises(ReplayUnderWay):
        restarted.correct([BAD], None)


def test_a_record_that_is_skipped_is_quarantined_and_the_next_one_stalls(
    topics: Path, journal: Journal, quarantine: Quarantine
) -> None:
    TopicWriter(topics, "people").append([insert(1), b"{bad", insert(2), b"{bad"])
    receiver = Recorder(journal)
    delivery = open_delivery(journal, quarantine, receiver, table(on_error="stall"))
    with pytest.raises(Stalled, match="`ivm quarantine skip people 0 1`"):
        delivery.deliver(batch(topics, [(0, 3)]))
    delivery.skip(BAD)
    delivery.end_stalls(["people"])
    delivery.deliver(batch(topics, [(0, 3)]))
    assert receiver.ids() == [(1, False, [1]), (2, False, [2])]
    assert quarantine.get(BAD).status == "open"
    with pytest.raises(Stalled, match="offset 3"):
        delivery.deliver(batch(topics, [(3, 4)]))


def test_a_truncation_of_several_partitions_stalls_before_it_is_recorded(
    topics: Path, journal: Journal, quarantine: Quarantine
) -> None:
    spec = table()
    TopicWriter(topics, "people", 0).append([insert(1), record("t")])
    TopicWriter(topics, "people", 1).append([insert(2)])
    receiver = Recorder(journal)
    delivery = open_delivery(journal, quarantine, receiver)
    both = [batch(topics, [(0, 2)]), batch(topics, [(0, 1)], spec, 1)]
    with pytest.raises(Stalled, match="partition 0, offset 1: the table was truncated"):
        delivery.deliver(pa.concat_tables(both))
    assert receiver.ids() == [(1, False, [1, 2])]
    assert journal.positions() == {("people", 0): 1, ("people", 1): 1}
