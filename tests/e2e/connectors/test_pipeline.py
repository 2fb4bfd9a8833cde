"""From file topics through Spark to a receiver: everything once and in order, come what may."""

import os
import signal
import threading
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from connectors.errors import DuplicateTable, PipelineFailed, UnknownTable
from connectors.files.writer import TopicWriter
from connectors.ingest import early_replay
from connectors.ingest.delivery import Delivery
from connectors.spark.query import MicroBatches
from tests.e2e.connectors.conftest import PATIENCE, Collector, Service
from tests.kafka.java import await_true
from tests.unit.connectors.records import insert, record, table


def write(service: Service, *values: bytes, topic: str = "people", partition: int = 0) -> None:
    writer = TopicWriter(service.topics, topic, partition)
    writer.append(values)
    writer.close()


def times(collector: Collector) -> list[tuple[int, bool]]:
    return [(batch.time, batch.committed) for batch in collector.batches]


def test_updates_of_all_tables_and_partitions_arrive(service: Service) -> None:
    write(service, insert(1), record("u", {"id": 1, "name": "a"}, {"id": 1, "name": None}))
    write(service, insert(2), partition=3)
    write(service, insert(7), topic="pets")
    service.pipeline.start([table("people"), table("pets")])
    collector = service.collector
    collector.wait(lambda: collector.count("people") == 4 and collector.count("pets") == 1)
    people = collector.batches[0].tables["people"]
    assert people.rows.schema == table().schema
    assert people.rows.to_pylist() == [
        {"id": 1, "name": "a"},
        {"id": 1, "name": "a"},
        {"id": 1, "name": None},
        {"id": 2, "name": "a"},
    ]
    assert people.diffs.tolist() == [1, -1, 1, 1]
    assert collector.batches[-1].offsets.by_topic() == {"people": {0: 2, 3: 1}, "pets": {0: 1}}


def test_a_large_topic_arrives_in_order_in_bounded_batches(service: Service) -> None:
    write(service, *map(insert, range(25_000)))
    service.pipeline.start([table()])
    service.collector.wait(lambda: service.collector.count("people") == 25_000)
    assert service.collector.ids("people") == list(range(25_000))
    assert [batch.records for batch in service.collector.batches] == [10_000, 10_000, 5_000]
    assert [time for time, _ in times(service.collector)] == [1, 2, 3]


def test_records_appended_later_follow(service: Service) -> None:
    write(service, insert(1))
    service.pipeline.start([table()])
    collector = service.collector
    collector.wait(lambda: collector.ids("people") == [1])
    write(service, insert(2))
    collector.wait(lambda: collector.ids("people") == [1, 2])


def test_a_tick_is_a_time_between_those_of_records(service: Service) -> None:
    service.pipeline.tick()  # not before the pipeline runs
    write(service, insert(1))
    service.pipeline.start([table()])
    service.collector.wait(lambda: service.collector.count("people") == 1)
    service.pipeline.wait_replayed(PATIENCE)
    service.pipeline.tick()
    write(service, insert(2))
    service.collector.wait(lambda: service.collector.count("people") == 2)
    ranges = [batch.ranges != () for batch in service.collector.batches]
    moments = [batch.moment for batch in service.collector.batches]
    assert ranges == [True, False, True]
    assert moments == sorted(moments)


def test_bad_records_are_quarantined_and_nothing_else_is_lost(service: Service) -> None:
    write(service, insert(1), b"{bad", insert(2), record("q", after={}), insert(3))
    service.pipeline.start([table()])
    service.collector.wait(lambda: service.collector.count("people") == 3)
    kept = [found.record for found in service.quarantine.page(10)]
    assert [(r.topic, r.partition, r.offset, r.reason, r.value) for r in kept] == [
        ("people", 0, 1, "not-json", b"{bad"),
        ("people", 0, 3, "unknown-op", record("q", after={})),
    ]
    assert service.collector.batches[0].rejected == 2


def test_a_table_added_while_running_is_read_from_its_beginning(service: Service) -> None:
    write(service, insert(1))
    write(service, insert(5), insert(6), topic="pets")
    service.pipeline.start([table()])
    collector = service.collector
    collector.wait(lambda: collector.count("people") == 1)
    service.pipeline.add_table(table("pets"))
    with pytest.raises(DuplicateTable):
        service.pipeline.add_table(table("pets"))
    collector.wait(lambda: collector.ids("pets") == [5, 6])


def test_a_removed_table_is_read_no_more_and_begins_anew_when_added_again(
    service: Service,
) -> None:
    write(service, insert(1), insert(2))
    write(service, insert(9), topic="pets")
    service.pipeline.start([table(), table("pets")])
    collector = service.collector
    collector.wait(lambda: collector.count("people") == 2 and collector.count("pets") == 1)
    service.pipeline.remove_table("people")
    with pytest.raises(UnknownTable):
        service.pipeline.remove_table("people")
    write(service, insert(3))
    write(service, insert(10), topic="pets")
    collector.wait(lambda: collector.ids("pets") == [9, 10])
    assert collector.ids("people") == [1, 2]
    service.pipeline.add_table(table())
    collector.wait(lambda: collector.ids("people") == [1, 2, 1, 2, 3])


@pytest.mark.parametrize("little", [0, early_replay.LITTLE])
def test_a_restart_replays_the_journaled_times_and_goes_on(
    service: Service, monkeypatch: pytest.MonkeyPatch, little: int
) -> None:
    monkeypatch.setattr(early_replay, "LITTLE", little)
    write(service, *map(insert, range(12_000)))
    service.pipeline.start([table()])
    service.collector.wait(lambda: service.collector.count("people") == 12_000)
    before = service.collector
    service.close()
    write(service, insert(12_000))
    service.open()
    service.pipeline.start([table()])
    assert service.pipeline.wait_replayed(PATIENCE)
    after = service.collector
    after.wait(lambda: after.count("people") == 12_001)
    assert times(after) == [(1, True), (2, True), (3, False)]
    assert after.ids("people") == list(range(12_001))
    assert [b.ranges for b in after.batches[:2]] == [b.ranges for b in before.batches]


def test_few_journaled_times_are_replayed_before_the_first_query(service: Service) -> None:
    write(service, *map(insert, range(12_000)))
    write(service, insert(7), b"{bad", topic="pets")
    service.pipeline.start([table(), table("pets")])
    before = service.collector
    before.wait(lambda: before.count("people") == 12_000 and before.count("pets") == 1)
    service.close()
    service.open()
    service.pipeline.start([table(), table("pets")])
    after = service.collector
    assert [b.ranges for b in after.batches] == [b.ranges for b in before.batches]
    assert (after.ids("people"), after.ids("pets")) == (list(range(12_000)), [7])
    assert all(batch.committed for batch in after.batches)
    assert len(service.quarantine.page(10)) == 1


def test_a_time_whose_receiver_failed_comes_again_after_a_restart(service: Service) -> None:
    class Failing(Collector):
        """Fails at the second batch, before it commits."""

        def receive(self, batch: object) -> None:
            if self.batches:
                raise RuntimeError("the disk is full")
            super().receive(batch)  # type: ignore[arg-type]

    write(service, *map(insert, range(15_000)))
    service.pipeline._receiver = Failing(service.journal)
    service.pipeline.start([table()])
    with pytest.raises(PipelineFailed, match="the disk is full"):
        wait_failed(service)
    service.close()
    service.open()
    service.pipeline.start([table()])
    collector = service.collector
    collector.wait(lambda: collector.count("people") == 15_000)
    assert times(collector) == [(1, True), (2, False)]


def wait_failed(service: Service) -> None:
    """Wait for the pipeline's end and raise what it says."""
    service.pipeline._keeper.join()
    raise PipelineFailed(service.pipeline.status().error or "it has not failed")


def test_records_that_spark_brings_again_are_not_applied_again(
    service: Service, spark: SparkSession
) -> None:
    write(service, insert(1), insert(2))
    service.pipeline.start([table()])
    service.collector.wait(lambda: service.collector.count("people") == 2)
    control = service.root / "control.json"
    service.pipeline.stop()
    delivery = Delivery(service.journal, service.quarantine, service.collector)
    delivery.add_table("people@0", table())
    delivery.open()
    for _ in range(2):
        delivered = threading.Event()

        def deliver(batch: pa.Table, delivered: threading.Event = delivered) -> None:
            delivery.deliver(batch)
            delivered.set()

        query = MicroBatches(spark, control, 10_000, deliver)
        assert delivered.wait(PATIENCE)
        query.stop()
        query.wait()
    assert service.collector.ids("people") == [1, 2, 1, 2]
    assert times(service.collector) == [(1, False), (1, True)]


def test_a_stall_names_the_record_and_can_be_resolved(service: Service) -> None:
    write(service, insert(1))
    service.pipeline.start([table(on_error="stall")])
    collector = service.collector
    collector.wait(lambda: collector.count("people") == 1)
    write(service, b"{bad", insert(2))
    await_true("a stall", lambda: service.pipeline.stalled)
    assert "topic 'people', partition 0, offset 1: not-json" in service.pipeline.stalled["people"]
    assert service.pipeline.status().state == "running"
    assert service.journal.last_time == 1
    service.pipeline.set_on_error("people", "quarantine")
    collector.wait(lambda: collector.ids("people") == [1, 2])
    assert [q.record.offset for q in service.quarantine.page(10)] == [1]


def test_a_topic_that_lost_records_halts_the_pipeline(service: Service) -> None:
    write(service, insert(1), insert(2))
    service.pipeline.start([table()])
    service.collector.wait(lambda: service.collector.count("people") == 2)
    service.close()
    TopicWriter(service.topics, "people").truncate(1)
    service.open()
    service.pipeline.start([table()])
    with pytest.raises(PipelineFailed, match="offsets 1 to 1 are not there"):
        wait_failed(service)


def test_a_process_of_sparks_that_dies_is_replaced(service: Service) -> None:
    write(service, insert(1))
    service.pipeline.start([table()])
    collector = service.collector
    collector.wait(lambda: collector.ids("people") == [1])
    planners = [pid for pid, command in processes() if b"python_streaming_source" in command]
    assert planners
    for pid in planners:
        os.kill(pid, signal.SIGKILL)
    write(service, insert(2))
    collector.wait(lambda: collector.ids("people") == [1, 2])
    assert service.pipeline.status().state == "running"


def processes() -> list[tuple[int, bytes]]:
    """The descendants of this process, with their command lines."""
    parents: dict[int, int] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(status.parent.name)] = int(
                status.read_text().rpartition(") ")[2].split()[1]
            )
    found = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    commands = []
    for pid in found:
        with suppress(OSError):
            commands.append((pid, Path(f"/proc/{pid}/cmdline").read_bytes()))
    return commands


def test_status_tells_how_far_the_pipeline_is(service: Service) -> None:
    write(service, insert(1), insert(2))
    service.pipeline.start([table()])
    service.collector.wait(lambda: service.collector.count("people") == 2)
    assert service.pipeline.wait_replayed(PATIENCE)
    service.pipeline.remove_table("people")
    status = service.pipeline.status()
    assert (status.state, status.error, status.time, status.records) == ("running", None, 1, 2)
    assert status.records_per_second > 0
    assert status.lag == {}
