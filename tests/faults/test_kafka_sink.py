"""Faults between the sink and its broker: every delta stays published once.

Named after the rows of the fault matrix.
"""

import random
import shutil
import threading
import time as clock
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from connectors.errors import SinkDiverged, SinkFenced
from connectors.health import PartFault
from connectors.offsets import Offsets
from connectors.sinks.kafka import reading
from connectors.sinks.sink import Output, Reached
from tests.faults.publishing import (
    History,
    Publishing,
    assert_exactly_once,
    drained,
    folded,
    messages,
    output,
    progress,
)
from tests.kafka.broker import Broker
from tests.kafka.client import Kafka, Record
from tests.kafka.java import NoJars
from tests.kafka.proxy import END_TXN, Fate, Proxy, Request


class World:
    """Two views of one service, over the lives of its instances."""

    def __init__(self, directory: Path, kafka: Kafka, **target: Any) -> None:
        self.directory = directory / "data"
        self.directory.mkdir()
        self.kafka = kafka
        self.service = f"s{uuid.uuid4().hex[:8]}"
        self.outputs: list[Output] = [output(name, self.service, **target) for name in ("a", "b")]
        self.histories = {"a": History(1), "b": History(2)}

    def started(self, transaction_seconds: float = 20, directory: Path | None = None) -> Publishing:
        """An instance that is where the last one was."""
        publishing = Publishing(
            directory or self.directory,
            self.kafka.address,
            self.outputs,
            self.service,
            transaction_seconds,
        )
        if publishing.is_new:
            publishing.open()
        else:
            publishing.restore(self.histories)
        return publishing

    def assert_exactly_once(self) -> None:
        """What readers find is what there was."""
        assert_exactly_once(self.kafka, self.service, self.outputs, self.histories)


@pytest.fixture
def world(kafka: Kafka, tmp_path: Path) -> World:
    """On the broker of the session."""
    return World(tmp_path, kafka)


@pytest.fixture
def proxied(tmp_path: Path) -> Iterator[tuple[World, Proxy, Broker]]:
    """On a broker that is reached through a proxy."""
    proxy = Proxy()
    try:
        broker = Broker(tmp_path / "broker", settings=proxy.advertised())
        with proxy.running(broker.address):
            broker.start()
            try:
                yield World(tmp_path, Kafka(proxy.address)), proxy, broker
            finally:
                broker.stop()
    except NoJars as reason:
        pytest.skip(str(reason))


def test_what_is_published_is_the_view_at_every_progress_record(world: World) -> None:
    publishing = world.started()
    for _ in range(5):
        publishing.deliver(world.histories)
    publishing.close()
    world.assert_exactly_once()


def test_progress_that_is_seldom_full_is_gone_on_with_at_any_record(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("connectors.sinks.kafka.progress.FULL_EVERY", 4)
    for batches in range(1, 6):
        publishing = world.started()
        for _ in range(batches):
            publishing.deliver(world.histories)
        publishing.close()
    records = progress(world.kafka, world.service)
    assert 0 < sum(record.changes is None for record in records) < len(records)
    world.assert_exactly_once()


def test_a_restart_tells_no_frontier_twice(world: World) -> None:
    first = world.started()
    first.deliver(world.histories)
    first.close()
    topics = [each.target.topic for each in world.outputs if each.target is not None]
    told = [messages(world.kafka, topic) for topic in topics]
    again = world.started()
    again.sink.tend(again.reached(again.journal.committed_time))
    assert [messages(world.kafka, topic) for topic in topics] == told
    again.close()
    world.assert_exactly_once()


def test_row_6_a_second_instance_fences_the_first(world: World, tmp_path: Path) -> None:
    first = world.started()
    first.deliver(world.histories)
    shutil.copytree(world.directory, tmp_path / "copy")
    second = world.started(directory=tmp_path / "copy")
    with pytest.raises(SinkFenced, match="another instance"):
        first.deliver(world.histories)
    first.close()
    second.deliver(world.histories)
    second.close()
    world.assert_exactly_once()


def test_row_6_an_instance_that_lost_its_producer_does_not_fence_a_newer_one(
    world: World, tmp_path: Path
) -> None:
    first = world.started()
    first.deliver(world.histories)
    shutil.copytree(world.directory, tmp_path / "copy")
    second = world.started(directory=tmp_path / "copy")
    for publisher in cast(Any, first.sink)._publishers.values():
        publisher.close()  # as after a fault, whereupon a new producer is made
    with pytest.raises(SinkFenced, match="another instance"):
        first.deliver(world.histories)
    first.close()
    second.deliver(world.histories)
    second.close()
    world.assert_exactly_once()


def test_row_8_a_lost_commit_acknowledgement(proxied: tuple[World, Proxy, Broker]) -> None:
    world, proxy, _ = proxied
    publishing = world.started()
    for _ in range(3):
        came = proxy.next(END_TXN, "lose answer")
        publishing.deliver(world.histories)
        assert came.is_set()
    publishing.close()
    world.assert_exactly_once()


def test_row_8_a_commit_whose_acknowledgement_was_lost_before_a_crash(
    proxied: tuple[World, Proxy, Broker],
) -> None:
    world, proxy, _ = proxied
    publishing = world.started()
    proxy.next(END_TXN, "lose answer")
    publishing.deliver(world.histories)
    publishing.journal.prepare(2, (), 0)
    publishing.abandon()
    world.started().close()
    world.assert_exactly_once()


def test_row_9_a_delayed_commit_does_not_hit_the_next_transaction(
    proxied: tuple[World, Proxy, Broker],
) -> None:
    world, proxy, broker = proxied
    publishing = world.started()
    proxy.next(END_TXN, "hold")
    publishing.deliver(world.histories)
    [late] = proxy.held
    codes: list[int] = []

    def between(request: Request) -> Fate:
        if request.kind == END_TXN and not codes:  # everything of the next one is produced
            codes.append(late.release(broker.address))
        return "pass"

    proxy.fate = between
    publishing.deliver(world.histories)
    publishing.close()
    [code] = codes
    assert code != 0, "the late commit is refused"
    world.assert_exactly_once()


def test_row_10_a_transaction_that_expired_is_written_again(
    proxied: tuple[World, Proxy, Broker],
) -> None:
    world, proxy, _ = proxied
    publishing = world.started(transaction_seconds=2)
    slow = threading.Event()

    def late(request: Request) -> Fate:
        if request.kind != END_TXN or slow.is_set():
            return "pass"
        slow.set()
        clock.sleep(5)  # the transaction's time is the thing under test
        return "hold"

    proxy.fate = late
    publishing.deliver(world.histories)
    assert slow.is_set()
    publishing.deliver(world.histories)
    publishing.close()
    world.assert_exactly_once()


def test_row_11_an_open_transaction_on_the_progress_topic_is_named_and_waited_for(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_READ_SECONDS", 2.0)
    publishing = world.started()
    publishing.deliver(world.histories)
    publishing.close()
    topic = f"{world.service}.progress"
    stranger = world.kafka.producer({"transactional.id": f"{world.service}.stranger"})
    stranger.init_transactions()
    stranger.begin_transaction()
    stranger.produce(topic, b"not ours", b"a key of others")
    stranger.flush()
    waiting = Publishing(world.directory, world.kafka.address, world.outputs, world.service, 20)
    starting = threading.Thread(target=waiting.restore, args=(world.histories,))
    starting.start()
    fault = _awaited(waiting.sink.faults, within=30)
    assert f"kafka-transactions.sh abort --topic {topic} --partition 0" in fault.detail
    stranger.abort_transaction()
    starting.join()
    waiting.deliver(world.histories)
    waiting.close()
    world.assert_exactly_once()


def test_row_13_replays_agree_over_15_crashes(world: World) -> None:
    chance = random.Random(13)
    for _ in range(15):
        publishing = world.started()
        assert all(publishing.sink.failed(name) is None for name in ("a", "b"))
        for _ in range(chance.randrange(3)):
            publishing.deliver(world.histories)
        time = publishing.journal.last_time + 1
        chance.choice((_die_prepared, _die_written, _die_committed))(publishing, world, time)
        publishing.abandon()
    publishing = world.started()
    publishing.deliver(world.histories)
    publishing.close()
    world.assert_exactly_once()


def _die_prepared(publishing: Publishing, world: World, time: int) -> None:
    publishing.prepare(time)


def _die_written(publishing: Publishing, world: World, time: int) -> None:
    publishing.prepare(time)
    publishing.write(time, world.histories)


def _die_committed(publishing: Publishing, world: World, time: int) -> None:
    reached = publishing.prepare(time)
    publishing.write(time, world.histories)
    publishing.sink.commit(reached)


def test_row_13_a_replay_with_other_rows_stops_that_view(world: World) -> None:
    publishing = world.started()
    publishing.deliver(world.histories)
    publishing.close()
    others = {**world.histories, "a": History(3)}
    again = Publishing(world.directory, world.kafka.address, world.outputs, world.service)
    again.restore(others)
    again.deliver({**others, "b": world.histories["b"]})
    assert (again.sink.failed("a") or "").startswith("sink-diverged")
    assert again.sink.failed("b") is None
    again.close()
    assert {m.time for m in messages(world.kafka, f"{world.service}.a")} == {0, 1}
    assert {m.time for m in messages(world.kafka, f"{world.service}.b")} == {0, 1, 2}


def test_row_13_a_replay_of_other_ranges_halts(world: World) -> None:
    publishing = world.started()
    publishing.deliver(world.histories)
    publishing.close()
    again = Publishing(world.directory, world.kafka.address, world.outputs, world.service)
    for each in world.outputs:
        again.sink.restore(each)
    reached = publishing.reached(1)
    other = Reached(1, 0, reached.offsets, publishing.reached(7).ranges)
    with pytest.raises(SinkDiverged, match="other input records"):
        again.sink.commit(other)
    again.close()


def test_row_13_an_older_journal_halts(world: World, tmp_path: Path) -> None:
    publishing = world.started()
    publishing.deliver(world.histories)
    shutil.copytree(world.directory, tmp_path / "old")
    for _ in range(3):
        publishing.deliver(world.histories)
    publishing.close()
    with pytest.raises(SinkDiverged, match="replaced by an older one"):
        world.started(directory=tmp_path / "old")


def test_row_15_a_broker_that_is_away_is_named_and_waited_for(
    broker: Broker, tmp_path: Path
) -> None:
    world = World(tmp_path, broker)
    publishing = world.started()
    broker.kill()
    delivering = threading.Thread(target=publishing.deliver, args=(world.histories,))
    delivering.start()
    fault = _awaited(publishing.sink.faults, within=10)
    assert fault.setting == "connections.main.bootstrap_servers"
    assert fault.part == "connection main"
    broker.start()
    delivering.join()
    assert publishing.sink.faults() == []
    publishing.close()
    world.assert_exactly_once()


def test_row_15_a_service_that_stops_does_not_wait_for_its_broker(
    broker: Broker, tmp_path: Path
) -> None:
    world = World(tmp_path, broker)
    publishing = world.started()
    publishing.deliver(world.histories)
    broker.kill()
    failed: list[Exception] = []

    def deliver() -> None:
        try:
            publishing.deliver(world.histories)
        except Exception as error:
            failed.append(error)

    delivering = threading.Thread(target=deliver)
    delivering.start()
    _awaited(publishing.sink.faults, within=10)
    started = clock.monotonic()
    publishing.sink.interrupt()
    delivering.join()
    publishing.close()
    assert clock.monotonic() - started < 10
    assert "stopping" in str(failed[0])
    broker.start()
    world.started().close()
    world.assert_exactly_once()


def _awaited(ask: Callable[[], Sequence[PartFault]], within: float) -> PartFault:
    deadline = clock.monotonic() + within
    while clock.monotonic() < deadline:
        if found := ask():
            return found[0]
        clock.sleep(0.05)
    raise TimeoutError


@pytest.mark.parametrize("tamper", ["foreign", "changed", "copied"])
def test_row_22_a_progress_topic_that_was_tampered_with_halts(world: World, tamper: str) -> None:
    publishing = world.started()
    for _ in range(3):
        publishing.deliver(world.histories)
    publishing.close()
    topic = f"{world.service}.progress"
    records = [record.encode() for record in progress(world.kafka, world.service)]
    value = {
        "foreign": b'{"hello": "world"}',
        "changed": records[-1].replace(b'"time":3', b'"time":4'),
        "copied": records[1],
    }[tamper]
    world.kafka.produce(topic, [Record(value, key=b"main")])
    with pytest.raises(SinkDiverged, match=f"topic '{topic}', partition 0, offset"):
        world.started()


def test_row_22_a_progress_topic_made_anew_halts(world: World) -> None:
    publishing = world.started()
    publishing.deliver(world.histories)
    publishing.close()
    world.kafka.delete_topic(f"{world.service}.progress")
    with pytest.raises(SinkDiverged, match=r"ends with time 0.*committed 1"):
        world.started()


def test_row_22_the_progress_of_another_service_halts_and_fences_nobody(
    world: World, tmp_path: Path
) -> None:
    publishing = world.started()
    (tmp_path / "other").mkdir()
    with pytest.raises(SinkDiverged, match="IVM_SERVICE"):
        world.started(directory=tmp_path / "other")
    publishing.deliver(world.histories)
    publishing.close()
    world.assert_exactly_once()


def test_row_32_an_oversized_record_stops_its_view_alone(world: World) -> None:
    publishing = world.started()
    publishing.deliver(world.histories)
    large = drained(2, [((7, "x" * 2_000_000), 1)])
    reached = publishing.prepare(2)
    publishing.sink.write("a", large, reached)
    publishing.sink.write("b", world.histories["b"].at(2), reached)
    publishing.sink.commit(reached)
    publishing.journal.commit(2, {})
    reason = publishing.sink.failed("a") or ""
    assert reason.startswith("record-too-large: view 'a': the record with key {\"id\":7} has")
    assert publishing.sink.failed("b") is None
    publishing.close()
    again = world.started()
    assert again.sink.failed("a") == reason
    again.deliver(world.histories)
    again.close()
    assert {m.time for m in messages(world.kafka, f"{world.service}.a")} == {0, 1}
    assert {m.time for m in messages(world.kafka, f"{world.service}.b")} == {0, 1, 2, 3}


def test_row_32_a_topic_that_takes_less_than_it_did(world: World) -> None:
    publishing = world.started()
    publishing.deliver(world.histories)
    world.kafka.configure_topic(f"{world.service}.a", {"max.message.bytes": "5000"})
    publishing.journal.prepare(2, (), 0)
    reached = Reached(2, 0, Offsets())
    text = "".join(random.Random(32).choices("abcdefghijklmnopqrstuvwxyz", k=20_000))
    publishing.sink.write("a", drained(2, [((7, text), 1)]), reached)
    publishing.sink.write("b", world.histories["b"].at(2), reached)
    publishing.sink.commit(reached)
    assert (publishing.sink.failed("a") or "").startswith("record-too-large")
    assert publishing.sink.failed("b") is None
    publishing.close()


def test_a_key_that_has_several_rows_stops_its_view_alone(world: World) -> None:
    world.outputs[0] = output("a", world.service, envelope="upsert")
    publishing = world.started()
    reached = publishing.prepare(1)
    publishing.sink.write("a", drained(1, [((7, "x"), 1), ((7, "y"), 1)]), reached)
    publishing.sink.write("b", world.histories["b"].at(1), reached)
    publishing.sink.commit(reached)
    assert (publishing.sink.failed("a") or "").startswith('key-not-unique: key {"id":7}')
    assert publishing.sink.failed("b") is None
    publishing.close()


def test_a_snapshot_that_is_too_large_for_a_transaction_comes_in_several(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("connectors.sinks.kafka.view.STAGE_BYTES", 500)
    publishing = Publishing(world.directory, world.kafka.address, world.outputs[:1], world.service)
    publishing.sink.open(world.outputs[0])
    rows = [(i, f"name {i}") for i in range(100)]
    publishing.sink.write("a", drained(0, [(row, 1) for row in rows]), Reached(0, 0, Offsets()))
    publishing.sink.commit(Reached(0, 0, Offsets()))
    publishing.close()
    found = messages(world.kafka, f"{world.service}.a")
    assert [m.sequence for m in found] == list(range(102))
    assert folded(found) == Counter(rows)
    assert ["row" in m.value for m in found] == [True] * 100 + [False] * 2
    assert len(progress(world.kafka, world.service)) > 3


def test_row_33_a_delta_topic_made_anew_stops_its_view(world: World) -> None:
    publishing = world.started()
    publishing.deliver(world.histories)
    publishing.close()
    world.kafka.delete_topic(f"{world.service}.a")
    again = world.started()
    assert (again.sink.failed("a") or "").startswith("topic-recreated")
    assert again.sink.failed("b") is None
    again.close()


def test_many_small_records_fit_a_topic_with_a_low_limit(world: World) -> None:
    world.outputs = [
        output(name, world.service, config={"max.message.bytes": "2000"}) for name in ("a", "b")
    ]
    publishing = world.started()
    for _ in range(3):
        publishing.deliver(world.histories)
    publishing.close()
    world.assert_exactly_once()
